package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/procfit/procfit/internal/toolchain"
)

// Compile builds the test binary as out, from dir, and returns how to run it:
// its command and the directory of its package, which go test runs it in. env is
// complete; nil is procfit's own.
func (g *GoTest) Compile(ctx context.Context, dir, out string, env []string) (command []string, runDir string, err error) {
	if dir, err = filepath.Abs(filepath.Join(dir, g.Chdir)); err != nil {
		return nil, "", err
	}
	if filepath.IsAbs(g.Chdir) {
		dir = g.Chdir
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, "", err
	}
	tool := toolchain.Go{Path: g.Go, Dir: dir, Env: env}
	pkg, err := g.find(ctx, tool)
	if err != nil {
		return nil, "", err
	}
	args := append([]string{"test", "-c", "-o=" + out}, g.BuildFlags...)
	if _, err := tool.Run(ctx, append(args, pkg.ImportPath)...); err != nil {
		return nil, "", fmt.Errorf("compile the benchmarks of %s: %w", pkg.ImportPath, err)
	}
	command = append([]string{out}, g.TestFlags...)
	if g.profiles && !slices.ContainsFunc(g.TestFlags, func(f string) bool { return strings.HasPrefix(f, "-test.outputdir=") }) {
		command = append(command, "-test.outputdir="+dir) // as go test does
	}
	return append(command, g.Args...), pkg.Dir, nil
}

type goPackage struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
}

// find asks go for the package's directory.
func (g *GoTest) find(ctx context.Context, tool toolchain.Go) (goPackage, error) {
	args := []string{"list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles"}
	for _, f := range g.BuildFlags {
		// Of the build flags, those that choose files; list takes no -vet and
		// the like.
		if name, _, _ := cutFlag(f); slices.Contains([]string{"tags", "mod", "modfile", "overlay", "race", "msan", "asan", "compiler"}, name) {
			args = append(args, f)
		}
	}
	name := g.Package
	if name == "" {
		name = "."
	}
	output, err := tool.Run(ctx, append(args, "--", name)...)
	if err != nil {
		return goPackage{}, fmt.Errorf("find package %s: %w", name, err)
	}
	var pkg, second goPackage
	list := json.NewDecoder(bytes.NewReader(output))
	if err := list.Decode(&pkg); err != nil {
		return goPackage{}, fmt.Errorf("find package %s: go list: %w", name, err)
	}
	if !errors.Is(list.Decode(&second), io.EOF) {
		return goPackage{}, fmt.Errorf("%s names several packages, %s and %s among them: a sweep measures one", name, pkg.ImportPath, second.ImportPath)
	}
	if len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) == 0 {
		return goPackage{}, fmt.Errorf("package %s has no test files, so no benchmarks", pkg.ImportPath)
	}
	return pkg, nil
}

// BenchResult is what one benchmark measured.
type BenchResult struct {
	Name   string             // without Benchmark and the GOMAXPROCS suffix: Parse/small
	Lines  int                // of output, more than one with -count
	Values map[string]float64 // mean over the lines, by unit as printed: ns/op, B/op, MB/s
}

// ParseBench finds the benchmark lines in a test binary's output, in the order
// of first appearance. procs is the GOMAXPROCS that it ran with, or 0 where that
// is not known: the suffix -N is then taken off if every line has the same one.
// (A benchmark's own name may end in -N; at GOMAXPROCS=1 there is no suffix.)
func ParseBench(output []byte, procs int) ([]BenchResult, error) {
	type sum struct{ total, n float64 }
	var order []string
	lines, sums := map[string]int{}, map[string]map[string]sum{}
	reader := benchfmt.NewReader(bytes.NewReader(output), "output")
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // what a program prints between its results may look like one
		}
		name := r.Name.String()
		if lines[name]++; lines[name] == 1 {
			order = append(order, name)
			sums[name] = map[string]sum{}
		}
		for _, v := range r.Values {
			if v.OrigUnit != "" { // the reader converts to base units
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			s := sums[name][v.Unit]
			sums[name][v.Unit] = sum{s.total + v.Value, s.n + 1}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("benchmark output: %w", err)
	}
	suffix := procsSuffix(order, procs)
	var results []BenchResult
	for _, name := range order {
		values := map[string]float64{}
		for unit, s := range sums[name] {
			values[unit] = s.total / s.n
		}
		results = append(results, BenchResult{Name: strings.TrimSuffix(name, suffix), Lines: lines[name], Values: values})
	}
	return results, nil
}

// procsSuffix is what testing appended to each name.
func procsSuffix(names []string, procs int) string {
	switch {
	case procs == 1 || len(names) == 0:
		return ""
	case procs > 1:
		return fmt.Sprintf("-%d", procs)
	}
	dash := strings.LastIndexByte(names[0], '-')
	if dash < 0 || dash+1 == len(names[0]) || strings.Trim(names[0][dash+1:], "0123456789") != "" {
		return ""
	}
	for _, name := range names {
		if !strings.HasSuffix(name, names[0][dash:]) {
			return ""
		}
	}
	return names[0][dash:]
}
