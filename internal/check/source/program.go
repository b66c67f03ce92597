package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
)

// exporters report GOMAXPROCS in their usual setting.
var exporters = []string{
	"runtime/metrics",
	"github.com/prometheus/client_golang/prometheus",
	"github.com/VictoriaMetrics/metrics",
	"go.opentelemetry.io/contrib/instrumentation/runtime",
	pkgMaxprocs + "/metrics",
}

func exports(p string) bool { return slices.Contains(exporters, p) || setsWhenImported(p) }

// judgeSilent is PF035. What else a program depends on may report its value.
func (t *tree) judgeSilent(silent []string, listed []listing, to check.Sink) {
	for _, p := range listed {
		if !slices.Contains(silent, p.Dir) || len(p.Item.Files) == 0 || p.Exports {
			continue
		}
		i := slices.IndexFunc(t.folders[p.Dir], func(s scanned) bool { return s.pkg == "main" && s.main > 0 && builtHere(s.file) })
		if i >= 0 {
			to.Finding(check.NewFinding("PF035", rule.Place{Path: t.folders[p.Dir][i].path, Line: t.folders[p.Dir][i].main, Column: 1},
				"it listens on a port, but never reports its GOMAXPROCS: nothing in its module reads it, and no package that it imports is known to export it",
				"log runtime.GOMAXPROCS(0) at the start, or export it; the value stays the same"))
		}
	}
}

// One that could not be loaded may export it.
func anyExports(p *packages.Package) bool {
	found := false
	packages.Visit([]*packages.Package{p}, func(p *packages.Package) bool {
		found = found || exports(p.PkgPath) || len(p.Errors) > 0
		return !found
	}, nil)
	return found
}

// silent: it listens, and none of the module's packages in it reports GOMAXPROCS.
func (t *tree) silent(program string) bool {
	if t.module == nil {
		return false
	}
	listens := false
	for files := range t.parts(program) {
		if len(files) == 0 {
			return false // a part of it cannot be read
		}
		for _, s := range files {
			if s.asks || slices.ContainsFunc(s.imports, exports) {
				return false
			}
			listens = listens || s.listens
		}
	}
	return listens
}

// parts are the files of each package of a program; none of one that cannot be read.
func (t *tree) parts(program string) iter.Seq[[]scanned] {
	return func(yield func([]scanned) bool) {
		seen := map[string]bool{}
		for next := []string{program}; len(next) > 0; {
			dir := next[0]
			next = next[1:]
			if seen[dir] {
				continue
			}
			seen[dir] = true
			files := t.whole(dir)
			if !yield(files) {
				return
			}
			for _, s := range files {
				for _, p := range s.imports {
					if rel, ok := strings.CutPrefix(p, t.module.path+"/"); ok && t.module.path != "" {
						next = append(next, filepath.Join(t.root, filepath.FromSlash(rel)))
					}
				}
			}
		}
	}
}

// Sets is how the source of the program that a manifest starts sets GOMAXPROCS: of the programs of a go.mod
// the one that the manifest calls by its name, else any. It may be called when all files are read.
func (k *Checker) Sets(goMod string, u check.Use) (first check.MaySet) {
	t := k.trees()[filepath.Dir(real(goMod))]
	if t == nil || t.module == nil {
		return check.MaySet{}
	}
	programs := t.programs
	called := slices.DeleteFunc(slices.Clone(programs), func(dir string) bool {
		return !slices.ContainsFunc(check.NamesOf(t.importPath(dir)), u.IsCalled)
	})
	if len(called) > 0 {
		programs = called
	}
	first = t.setIn(programs)
	first.Always = first.Follows
	for i, dir := range programs {
		first.Always = first.Always && t.setIn([]string{dir}).Follows
		debug := debugOf(t.whole(dir))
		first.Differ = first.Differ || i > 0 && debug != first.Debug
		first.Debug = debug
	}
	if first.Differ {
		first.Debug = ""
	}
	first.Without = t.without(called)
	return first
}

// without reports whether no package of these programs imports automaxprocs, for any system.
func (t *tree) without(programs []string) bool {
	for _, dir := range programs {
		for files := range t.parts(dir) {
			if len(files) == 0 || slices.ContainsFunc(files, func(s scanned) bool { return slices.ContainsFunc(s.imports, isAutomaxprocs) }) {
				return false
			}
		}
	}
	return len(programs) > 0
}

// setIn prefers a call that sets the value whatever the environment says, and then what may not follow the limit.
func (t *tree) setIn(programs []string) (guarded check.MaySet) {
	for _, dir := range programs {
		for files := range t.parts(dir) {
			for _, s := range files {
				switch {
				case s.sets.Words == "" || !builtHere(s.file):
				case !s.sets.Guarded:
					return s.sets
				case guarded.Words == "", guarded.Follows && !s.sets.Follows:
					guarded = s.sets
				}
			}
		}
	}
	return guarded
}

// setIn prefers a call of runtime.GOMAXPROCS that sets it whatever the environment says.
func setIn(set *token.FileSet, file *ast.File) (first check.MaySet) {
	runtime := importNames(file)["runtime"]
	for _, d := range file.Decls {
		var in check.MaySet
		ast.Inspect(d, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			switch nameOf(call.Fun) {
			case "Getenv", "LookupEnv":
				name, ok := call.Args[0].(*ast.BasicLit)
				in.Guarded = in.Guarded || ok && name.Value == strconv.Quote(variable)
			case "GOMAXPROCS":
				if in.Words == "" && isCall(call, runtime, "GOMAXPROCS") && !asks(call.Args[0]) {
					at := placeOf(set, call.Pos())
					in.Words = fmt.Sprintf("%s:%d calls runtime.GOMAXPROCS%s", at.Path, at.Line, literalArgument(call.Args[0]))
				}
			}
			return true
		})
		if in.Words != "" && (first.Words == "" || first.Guarded && !in.Guarded) {
			first = in
		}
	}
	return first
}

func literalArgument(n ast.Expr) string {
	if lit, ok := n.(*ast.BasicLit); ok && len(lit.Value) <= mostDigits {
		return "(" + lit.Value + ")"
	}
	return ""
}
