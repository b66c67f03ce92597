package source

import (
	"iter"
	"path/filepath"
	"slices"
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
