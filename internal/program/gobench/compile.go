package gobench

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

	"github.com/procfit/procfit/internal/program/toolchain"
)

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

type goPackage struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
}

// find asks go for the package's directory.
func (g *Command) find(ctx context.Context, tool toolchain.Go) (goPackage, error) {
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
