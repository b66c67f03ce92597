package source

import (
	"cmp"
	"go/ast"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/program/rule"
)

// earlySizes is PF030.
func earlySizes(u *uses) []found {
	var all []found
	for _, c := range u.calls[fnGOMAXPROCS] {
		call := c.Node().(*ast.CallExpr)
		if u.origin(call).kind != current {
			continue
		}
		v := u.packageVariable(c)
		if v == "" {
			continue
		}
		all = append(all, found{pos: call.Pos(), end: call.End(), Finding: rule.Finding{
			Message: v + " reads runtime.GOMAXPROCS(0) before main runs, and does not follow later changes by main or of the limit",
			Fix:     "call runtime.GOMAXPROCS(0) where the value is used: it is then the current value, " + choice(u.language()),
		}})
	}
	return all
}

// packageVariable names the variable of the package that a value is for, when it is
// initialised or set by an init.
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

// automaxprocs is PF031.
func automaxprocs(u *uses) []found {
	language := u.language()
	if !follows(language) {
		return nil // it does what the runtime does not
	}
	var all []found
	for c := range u.root.Preorder((*ast.ImportSpec)(nil)) {
		spec := c.Node().(*ast.ImportSpec)
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || path != pkgAutomaxprocs && !strings.HasPrefix(path, pkgAutomaxprocs+"/") || u.inTest(c) {
			continue
		}
		f := found{pos: spec.Pos(), end: spec.End()}
		calls, at := u.setCalls(c, path)
		f.calls = calls
		f.Message = "go.uber.org/automaxprocs sets GOMAXPROCS once, rounded down, and stops the runtime from following changes of the limit, which it does with go " + language
		f.Fix = "remove it: the runtime then chooses " + choice(language) + ", and follows it; procfit migrate automaxprocs shows what changes; for the limits of parent cgroups, import github.com/procfit/procfit/maxprocs/auto; for 1 under a limit of one CPU, set GOMAXPROCS=1"
		if spec.Name != nil && spec.Name.Name == "_" {
			if decl, ok := c.Parent().Node().(*ast.GenDecl); ok && len(decl.Specs) == 1 {
				c = c.Parent()
			}
			f.remove = u.lines(c)
		} else if len(at) > 0 {
			f.remove = u.withoutCalls(spec, at)
		}
		if language == "" {
			f.Message = strings.TrimSuffix(f.Message, " with go ")
		}
		all = append(all, f)
	}
	return all
}
