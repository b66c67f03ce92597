package source

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
)

// exporters are packages that tell GOMAXPROCS to whoever imports them, in their usual
// setting.
var exporters = []string{
	"runtime/metrics",
	"github.com/prometheus/client_golang/prometheus",
	"github.com/VictoriaMetrics/metrics",
	"go.opentelemetry.io/contrib/instrumentation/runtime",
}

func exports(p string) bool { return slices.Contains(exporters, p) || setsWhenImported(p) }

// judgeTold is PF035: first by what the module's own files import, which is known; for
// what is then left, the go command lists all that they depend on.
func (t *tree) judgeTold(ctx context.Context, programs []string, to check.Sink) {
	var silent []string
	for _, dir := range programs {
		if t.silent(dir) {
			silent = append(silent, dir)
		}
	}
	if len(silent) == 0 {
		return
	}
	loaded, err := packages.Load(&packages.Config{
		Context: ctx, Dir: t.root, Env: t.environ,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps,
	}, t.patterns(silent)...)
	if err != nil {
		return // what cannot be loaded is told of where it matters
	}
	for _, p := range loaded {
		if len(p.GoFiles) == 0 || anyExports(p) {
			continue
		}
		dir := filepath.Dir(real(p.GoFiles[0]))
		if at, ok := t.mainFunction(dir); ok {
			to.Finding(check.NewFinding("PF035", at,
				"it listens, and reports its GOMAXPROCS nowhere: nothing in its module asks for it, and no package that it imports is known to export it",
				"log runtime.GOMAXPROCS(0) at the start, or export it; the value stays what it is"))
		}
	}
}

// anyExports looks at all that a package depends on. One that could not be loaded may
// export it.
func anyExports(p *packages.Package) bool {
	found := false
	packages.Visit([]*packages.Package{p}, func(p *packages.Package) bool {
		if exports(p.PkgPath) || len(p.Errors) > 0 {
			found = true
		}
		return !found
	}, nil)
	return found
}

// silent tells that a program listens, and that none of the module's packages that it
// is made of tells its GOMAXPROCS.
func (t *tree) silent(program string) bool {
	listens := false
	seen := map[string]bool{}
	next := []string{program}
	for len(next) > 0 {
		dir := next[0]
		next = next[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		files, ok := t.folders[dir]
		if !ok {
			return false // a part of it was not read
		}
		for _, s := range files {
			if s.sets || slices.ContainsFunc(s.imports, exports) {
				return false
			}
			listens = listens || s.listens
			for _, p := range s.imports {
				if rel, ok := strings.CutPrefix(p, t.module.path+"/"); ok && t.module.path != "" {
					next = append(next, filepath.Join(t.root, filepath.FromSlash(rel)))
				}
			}
		}
	}
	return listens
}

// patterns name folders to the go command.
func (t *tree) patterns(dirs []string) []string {
	var all []string
	for _, d := range dirs {
		if rel, err := filepath.Rel(t.root, d); err == nil {
			all = append(all, "./"+filepath.ToSlash(rel))
		}
	}
	return all
}

// mainFunction is where the main function of a folder stands.
func (t *tree) mainFunction(dir string) (rule.Place, bool) {
	for _, s := range t.folders[dir] {
		if s.pkg != "main" || !builtHere(s.file) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, s.file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "main" && f.Recv == nil {
				at := set.Position(f.Pos())
				return rule.Place{Path: s.path, Line: at.Line, Column: at.Column}, true
			}
		}
	}
	return rule.Place{}, false
}
