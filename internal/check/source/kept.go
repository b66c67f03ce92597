package source

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
)

// constructing are names of functions that run once, and make what stays.
var constructing = pattern.Of(`^(?:main$|init$|[Nn]ew|[Ii]nit|[Ss]tart|[Oo]pen|[Ss]etup|[Dd]efault)`)

// keptSizes is PF037: what is made once as large as GOMAXPROCS was, in a module that changes
// it at run time. Real cases: elastic/apm-server#1841 and #9393.
func keptSizes(u *uses) []found {
	var all []found
	for _, c := range u.calls[fnGOMAXPROCS] {
		call, in := c.Node().(*ast.CallExpr), u.function(c)
		if u.origin(call).kind != current || in == nil || !constructing().MatchString(in.Name.Name) || u.packageVariable(c) != "" {
			continue
		}
		what := u.sized(c, mostSteps)
		if what == "" {
			continue
		}
		all = append(all, found{pos: call.Pos(), end: call.End(), changing: true, Finding: rule.Finding{
			Message: fmt.Sprintf("%s by runtime.GOMAXPROCS(0) once, in %s, and the module changes GOMAXPROCS at run time: then it is too small or too large", what, in.Name.Name),
			Fix:     "read the value where it is used, or resize when it changes (OnChange of maxprocs.Watch); GOMAXPROCS stays as it is",
		}})
	}
	return all
}

// changes reports whether a file of the module changes GOMAXPROCS while the program runs.
func (t *tree) changes() bool {
	for _, files := range t.folders {
		if slices.ContainsFunc(files, func(s scanned) bool { return s.changes }) {
			return true
		}
	}
	return false
}

// changesHere is the same of one package, which is all that go vet shows.
func (u *uses) changesHere() bool {
	return slices.ContainsFunc(u.pass.Pkg.Imports(), func(p *types.Package) bool { return changesByImport(p.Path()) })
}

// changesByImport reports whether a package is imported to change GOMAXPROCS at run time.
func changesByImport(p string) bool {
	return slices.Contains([]string{pkgMaxprocs + "/live", pkgMaxprocs + "/auto"}, p)
}
