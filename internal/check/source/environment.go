package source

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/program/rule"
)

// setenvs is PF026.
func setenvs(u *uses) []found {
	var all []found
	for _, c := range u.calls[fnSetenv] {
		call := c.Node().(*ast.CallExpr)
		if len(call.Args) != 2 || u.text(call.Args[0]) != variable {
			continue
		}
		f := found{pos: call.Pos(), end: call.End(), Finding: rule.Finding{
			Message: "os.Setenv of GOMAXPROCS changes nothing in this program, because the runtime reads the variable before main",
			Fix:     "remove it: the value stays the same, " + choice(u.language()) + ", or the value of the environment at the start",
		}}
		if u.startsChildren() {
			f.Severity = rule.Info
			f.Message += "; only child processes inherit it"
			f.Fix = "if it is for a child process, add GOMAXPROCS to the Env of its command, otherwise remove it; the value in this program stays the same"
		}
		all = append(all, f)
	}
	return all
}

// startsChildren reports whether the package can start other programs.
func (u *uses) startsChildren() bool {
	return slices.ContainsFunc(u.pass.Pkg.Imports(), func(p *types.Package) bool {
		return slices.Contains([]string{"os/exec", "syscall", "golang.org/x/sys/unix"}, p.Path())
	})
}

// envNumbers is PF028: the variable is read as a number, which goes elsewhere than to
// runtime.GOMAXPROCS.
func envNumbers(u *uses) []found {
	for _, s := range u.settings() {
		if s.kind == fromEnv {
			return nil // PF027 tells of it
		}
	}
	var all []found
	for c := range u.root.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		if name := u.callee(call); name != fnAtoi && name != fnParseInt && name != fnParseUint {
			continue
		}
		if u.origin(call).kind != fromEnv || u.inTest(c) || !keepsNumber(c) {
			continue
		}
		all = append(all, found{pos: call.Pos(), end: call.End(), Finding: rule.Finding{
			Message: "GOMAXPROCS is read from the environment as a number, but the variable is only one source of the current value",
			Fix:     "call runtime.GOMAXPROCS(0): it is the same if the variable is valid, otherwise " + choice(u.language()),
		}})
	}
	return all
}

// keepsNumber reports whether the number is kept, and not only the error asked for.
func keepsNumber(c inspector.Cursor) bool {
	if a, ok := c.Parent().Node().(*ast.AssignStmt); ok {
		id, isName := a.Lhs[0].(*ast.Ident)
		return !isName || id.Name != "_"
	}
	return true
}
