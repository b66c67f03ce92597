package source

import (
	"fmt"
	"go/ast"

	"github.com/procfit/procfit/internal/program/rule"
)

// defaultThreads is the runtime's own bound (runtime/debug.SetMaxThreads).
const defaultThreads = 10000

// maxThreads is PF034.
func maxThreads(u *uses) []found {
	var all []found
	for _, c := range u.calls[fnSetMaxThreads] {
		call := c.Node().(*ast.CallExpr)
		if len(call.Args) != 1 {
			continue
		}
		var n string
		switch o := u.origin(call.Args[0]); {
		case o.kind == fixed && o.n < defaultThreads && o.n > 0:
			n = fmt.Sprint(o.n)
		case o.kind == machine || o.kind == current || o.kind == fromEnv:
			n = "a multiple of the CPUs"
		default:
			continue
		}
		all = append(all, found{pos: call.Pos(), end: call.End(), Finding: rule.Finding{
			Message: fmt.Sprintf("debug.SetMaxThreads holds nothing back: the program dies when it would need more threads than %s", n),
			Fix:     fmt.Sprintf("remove the call, which leaves the bound at %d, and bound what blocks by a semaphore or a pool", defaultThreads),
		}})
	}
	return all
}
