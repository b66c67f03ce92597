package source

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/show/pattern"
)

// earlySizes is PF030.
func earlySizes(u *uses) (all []found) {
	for _, c := range u.calls[fnGOMAXPROCS] {
		call := c.Node().(*ast.CallExpr)
		if u.origin(call).kind != current {
			continue
		}
		v := u.packageVariable(c)
		if v == "" {
			continue
		}
		all = append(all, findingAt(call,
			v+" reads runtime.GOMAXPROCS(0) before main runs, and does not follow later changes by main or of the limit",
			"call runtime.GOMAXPROCS(0) where the value is used: it is then the current value, "+choice(u.language())))
	}
	return all
}

// packageVariable names the variable that is initialised, or set by an init, with a value.
func (u *uses) packageVariable(c inspector.Cursor) string {
	f := u.function(c)
	if f != nil && (f.Name.Name != "init" || f.Recv != nil) {
		return ""
	}
	name := ""
	for e := range around(c) {
		switch n := e.Node().(type) {
		case *ast.FuncLit:
			return "" // it runs when it is called
		case *ast.ValueSpec:
			if f == nil {
				name = cmp.Or(name, n.Names[0].Name)
			}
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				if o := u.object(target); o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
					name = cmp.Or(name, o.Name())
				}
			}
		}
	}
	return name
}

// constructing are names of functions that run once, and make what stays.
var constructing = pattern.Of(`^(?:main$|init$|[Nn]ew|[Ii]nit|[Ss]tart|[Oo]pen|[Ss]etup|[Dd]efault)`)

// keptSizes is PF037: what is made once as large as GOMAXPROCS was, in a module that changes
// it at run time. Real cases: elastic/apm-server#1841 and #9393.
func keptSizes(u *uses) (all []found) {
	for _, c := range u.calls[fnGOMAXPROCS] {
		call, in := c.Node().(*ast.CallExpr), u.function(c)
		if u.origin(call).kind != current || in == nil || !constructing().MatchString(in.Name.Name) || u.packageVariable(c) != "" {
			continue
		}
		what := u.sized(c, mostSteps)
		if what == "" {
			continue
		}
		f := findingAt(call,
			fmt.Sprintf("%s by runtime.GOMAXPROCS(0) once, in %s, and the module changes GOMAXPROCS at run time: then it is too small or too large", what, in.Name.Name),
			"read the value where it is used, or resize when it changes (OnChange of maxprocs.Watch); GOMAXPROCS stays as it is")
		f.Changing = true
		all = append(all, f)
	}
	return all
}

// changes reports whether a package changes GOMAXPROCS at run time: golangci-lint shows no more than it.
func changes(p *types.Package) bool {
	return slices.ContainsFunc(p.Imports(), func(p *types.Package) bool { return changesByImport(p.Path()) })
}

func changesByImport(p string) bool {
	return slices.Contains([]string{pkgMaxprocs + "/live", pkgMaxprocs + "/auto"}, p)
}
