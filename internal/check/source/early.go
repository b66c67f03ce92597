package source

import (
	"go/ast"

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
			Message: v + " takes runtime.GOMAXPROCS(0) before main runs, and stays at that whatever main sets and whatever the limit becomes",
			Fix:     "ask runtime.GOMAXPROCS(0) where it is used, which is then the value in force: " + choice(u.language()),
		}})
	}
	return all
}

// packageVariable names the variable of the package that a value is for, when it is
// initialised or set by an init.
func (u *uses) packageVariable(c inspector.Cursor) string {
	for range c.Enclosing((*ast.FuncLit)(nil)) {
		return "" // it runs when it is called
	}
	for e := range c.Enclosing((*ast.ValueSpec)(nil)) {
		if function(c) == nil {
			return e.Node().(*ast.ValueSpec).Names[0].Name
		}
	}
	f := function(c)
	if f == nil || f.Name.Name != "init" || f.Recv != nil {
		return ""
	}
	for e := range c.Enclosing((*ast.AssignStmt)(nil)) {
		for _, target := range e.Node().(*ast.AssignStmt).Lhs {
			if o := u.object(target); o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
				return o.Name()
			}
		}
	}
	return ""
}
