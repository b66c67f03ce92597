// Package gobench is Go's benchmarks: what a `go test -bench` command is made of,
// how its test binary is compiled once to be run many times, and what the lines
// say that it prints.
//
// Limits: one package a command; flags that would change what is measured are
// refused, -cpu above all, since it sets GOMAXPROCS.
package gobench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/show/pattern"
)

// Command is a `go test -bench` command, taken apart so that the test binary can
// be compiled once and then run many times.
type Command struct {
	Go         string   // the go command
	Chdir      string   // of -C
	Package    string   // as the user wrote it; empty: that of the directory
	BuildFlags []string // for go test -c
	TestFlags  []string // for the binary: -test.bench=…
	Args       []string // for the binary, after -args
	profiles   bool     // some flag writes a file
}

// goCommand matches go itself and the wrappers of golang.org/dl.
var goCommand = pattern.Of(`^go(\d+\.\d+(\.\d+|rc\d+|beta\d+)?)?(\.exe)?$`)

// Flags of go test by what becomes of them. A flag not named here belongs to the
// test itself and must follow -args, because nothing reports whether it takes a
// value.
var (
	buildSwitches = strings.Fields("a asan cover linkshared modcacherw msan race trimpath buildvcs")
	buildValues   = strings.Fields("asmflags buildmode compiler covermode coverpkg gccgoflags gcflags installsuffix ldflags mod modfile overlay p pgo pkgdir tags toolexec vet")
	testSwitches  = strings.Fields("benchmem failfast fullpath short v")
	testValues    = strings.Fields("bench benchtime blockprofile blockprofilerate count coverprofile cpuprofile list memprofile memprofilerate " +
		"mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout trace")
	profileFlags = strings.Fields("blockprofile coverprofile cpuprofile memprofile mutexprofile trace")
	refused      = map[string]string{
		"cpu":  "it sets GOMAXPROCS, which is what the sweep varies: use --procs",
		"json": "the benchmark's own output is read",
		"c":    "the test binary is compiled and run for you",
		"o":    "the test binary is compiled and run for you",
		"exec": "the test binary is run directly",
		"i":    "it is no longer a flag of go test",
		"n":    "nothing would run", "x": "nothing is built in a trial", "work": "nothing is built in a trial",
		"fuzz": "fuzzing is not a benchmark", "fuzztime": "fuzzing is not a benchmark", "fuzzminimizetime": "fuzzing is not a benchmark",
	}
)

// Parse takes a command apart. It returns nil for one that is no go test
// with -bench, and an error for one that is but cannot be swept.
func Parse(command []string) (*Command, error) {
	if len(command) < 2 || command[1] != "test" || !goCommand().MatchString(filepath.Base(command[0])) {
		return nil, nil
	}
	g, args := &Command{Go: command[0]}, command[2:]
	if i := slices.IndexFunc(args, func(a string) bool { return a == "-args" || a == "--args" }); i >= 0 {
		args, g.Args = args[:i], args[i+1:]
	}
	if !slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := cutFlag(a)
		return name == "bench"
	}) {
		return nil, nil
	}
	for len(args) > 0 {
		n, err := g.take(args)
		if err != nil {
			return nil, fmt.Errorf("go test: %w", err)
		}
		args = args[n:]
	}
	if !slices.ContainsFunc(g.TestFlags, func(f string) bool { return strings.HasPrefix(f, "-test.run=") }) {
		g.TestFlags = append(g.TestFlags, "-test.run=^$") // benchmarks only, as trials measure the whole run
	}
	return g, nil
}

// cutFlag splits -name, --name, -name=value and -test.name; a name of "" means
// no flag.
func cutFlag(arg string) (name, value string, hasValue bool) {
	name, ok := strings.CutPrefix(arg, "-")
	if !ok || name == "" {
		return "", "", false
	}
	name, value, hasValue = strings.Cut(strings.TrimPrefix(name, "-"), "=")
	return strings.TrimPrefix(name, "test."), value, hasValue
}

// take uses up one flag with its value, or a package.
func (g *Command) take(args []string) (used int, err error) {
	name, value, hasValue := cutFlag(args[0])
	if name == "" {
		if g.Package != "" {
			return 0, fmt.Errorf("it names two packages, %s and %s: a sweep measures one", g.Package, args[0])
		}
		if strings.Contains(args[0], "...") {
			return 0, fmt.Errorf("%s matches several packages: a sweep measures one", args[0])
		}
		g.Package = args[0]
		return 1, nil
	}
	if why, ok := refused[name]; ok {
		return 0, fmt.Errorf("remove -%s: %s", name, why)
	}
	isSwitch := slices.Contains(buildSwitches, name) || slices.Contains(testSwitches, name)
	isValue := name == "C" || slices.Contains(buildValues, name) || slices.Contains(testValues, name)
	used = 1
	switch {
	case isSwitch && !hasValue:
		value = "true"
	case isSwitch || isValue && hasValue:
	case isValue && len(args) < 2:
		return 0, fmt.Errorf("-%s lacks its value", name)
	case isValue:
		value, used = args[1], 2
	default:
		return 0, fmt.Errorf("-%s is not a flag of go test: give the test's own flags after -args", name)
	}
	switch {
	case name == "C":
		g.Chdir = value
	case slices.Contains(buildSwitches, name) || slices.Contains(buildValues, name):
		g.BuildFlags = append(g.BuildFlags, "-"+name+"="+value)
	default:
		g.TestFlags = append(g.TestFlags, "-test."+name+"="+value)
		g.profiles = g.profiles || slices.Contains(profileFlags, name)
		if name == "coverprofile" { // which go test takes as -cover too
			g.BuildFlags = append(g.BuildFlags, "-cover=true")
		}
	}
	return used, nil
}

// Compile builds the test binary as out, from dir, and returns how to run it:
// its command and the directory of its package, which go test runs it in. env is
// complete; nil is procfit's own.
func (g *Command) Compile(ctx context.Context, dir, out string, env []string) (command []string, runDir string, err error) {
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

// Profiled is a test binary's command that writes a CPU profile and one of its allocations
// to these files, in place of those that the user has named.
func Profiled(command []string, cpu, memory string) []string {
	own := slices.IndexFunc(command[1:], func(word string) bool { return !strings.HasPrefix(word, "-test.") }) + 1
	if own == 0 {
		own = len(command)
	}
	out := []string{command[0], "-test.cpuprofile=" + cpu, "-test.memprofile=" + memory}
	for _, word := range command[1:own] {
		if !strings.HasPrefix(word, "-test.cpuprofile=") && !strings.HasPrefix(word, "-test.memprofile=") {
			out = append(out, word)
		}
	}
	return append(out, command[own:]...)
}

type goPackage struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
}

func (g *Command) find(ctx context.Context, tool toolchain.Go) (goPackage, error) {
	args := []string{"list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles"}
	for _, f := range g.BuildFlags {
		// Of the build flags, those that choose files; list takes no -vet and
		// the like.
		if name, _, _ := cutFlag(f); slices.Contains([]string{"tags", "mod", "modfile", "overlay", "race", "msan", "asan", "compiler"}, name) {
			args = append(args, f)
		}
	}
	name := cmp.Or(g.Package, ".")
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

// Result is what one benchmark measured.
type Result struct {
	Name   string             // without Benchmark and the GOMAXPROCS suffix: Parse/small
	Values map[string]float64 // mean over its lines, by unit as printed: ns/op, B/op, MB/s
}

// ParseOutput finds the benchmark results in a test binary's output, in the order
// of first appearance. procs is the GOMAXPROCS that it ran with, or 0 where that
// is not known: the suffix -N is then taken off if every line has the same one.
// (A benchmark's own name may end in -N; at GOMAXPROCS=1 there is no suffix.)
// lost names the benchmarks that have started and whose results are not there.
func ParseOutput(output []byte, procs int) (results []Result, lost []string, err error) {
	type sum struct{ total, n float64 }
	var order []string
	sums := map[string]map[string]sum{}
	whole, lost := join(output)
	reader := benchfmt.NewReader(bytes.NewReader(whole), "output")
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // what a program prints between its results may look like one
		}
		name := r.Name.String()
		if sums[name] == nil {
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
		return nil, nil, fmt.Errorf("benchmark output: %w", err)
	}
	suffix := procsSuffix(slices.Concat(order, lost), procs)
	for _, name := range order {
		values := map[string]float64{}
		for unit, s := range sums[name] {
			// A benchmark may report 0/0, which no figure can be made of.
			if mean := s.total / s.n; !math.IsNaN(mean) && !math.IsInf(mean, 0) {
				values[unit] = mean
			}
		}
		if len(values) > 0 {
			results = append(results, Result{Name: strings.TrimSuffix(name, suffix), Values: values})
		}
	}
	for i := range lost {
		lost[i] = strings.TrimSuffix(lost[i], suffix)
	}
	return results, lost, nil
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
