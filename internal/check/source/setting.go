package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

type setting struct {
	inspector.Cursor
	call *ast.CallExpr
	origin
	forAWhile bool // what it gave back is kept, to be restored
}

func (u *uses) settings() (all []setting) {
	for _, c := range u.calls[fnGOMAXPROCS] {
		call := c.Node().(*ast.CallExpr)
		if len(call.Args) != 1 {
			continue
		}
		s := setting{Cursor: c, call: call, origin: u.origin(call.Args[0])}
		switch parent := c.Parent().Node().(type) {
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		case *ast.AssignStmt:
			s.forAWhile = nameOf(parent.Lhs[0]) != "_"
		default:
			s.forAWhile = true
		}
		all = append(all, s)
	}
	return all
}

// setBack is of defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n)).
func (s setting) setBack() bool {
	outer, ok := s.Parent().Node().(*ast.CallExpr)
	if !ok {
		return false
	}
	deferred, ok := s.Parent().Parent().Node().(*ast.DeferStmt)
	return ok && deferred.Call == outer && len(outer.Args) == 1 && outer.Args[0] == s.call
}

func (u *uses) before(c inspector.Cursor) string {
	return phrase.If(u.guarded(c), "unless GOMAXPROCS is set in the environment", "with any GOMAXPROCS in the environment")
}

func constants(u *uses) (all []found) {
	for _, s := range u.settings() {
		if s.kind != fixed || s.n < 1 {
			continue
		}
		f, language := findingAt(s.call, "", ""), u.language()
		switch {
		case s.flag:
			f.Severity = rule.Info
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS gets a flag whose default is %d on every machine and under every limit, %s", s.n, u.before(s.Cursor))
			f.Fix = "make 0 the default, which changes nothing: the runtime then chooses " + choice(language)
		case s.forAWhile:
			f.Severity = rule.Info
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS(%d) applies to the whole program until it is reset", s.n)
			f.Fix = "limit this work with a semaphore instead, and do not change GOMAXPROCS"
			if follows(language) {
				f.Message += ", and stops the runtime from following changes of the limit"
				f.Fix += "; if it is necessary, reset it with runtime.SetDefaultGOMAXPROCS"
			}
		default:
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS(%d) sets the value on every machine and under every limit, %s", s.n, u.before(s.Cursor))
			f.Fix = fmt.Sprintf("remove the call: the runtime then chooses %s; if %d was measured, set GOMAXPROCS=%d in the environment, next to the limit", choice(language), s.n, s.n)
		}
		all = append(all, f)
	}
	return all
}

// lowers reports whether the function compares the value in effect with the CPUs of the machine.
func (u *uses) lowers(c inspector.Cursor) (found bool) {
	in := u.function(c)
	if in == nil || in.Body == nil {
		return false
	}
	if known, ok := u.lowering[in]; ok {
		return known
	}
	ast.Inspect(in.Body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op) {
			x, y := u.origin(b.X).kind, u.origin(b.Y).kind
			found = found || x == current && y == machine || x == machine && y == current
		}
		return !found
	})
	u.lowering[in] = found
	return found
}

func numCPUs(u *uses) (all []found) {
	for _, s := range u.settings() {
		if s.kind != machine || s.setBack() || u.lowers(s.Cursor) {
			continue
		}
		f, language := findingAt(s.call, "", ""), u.language()
		what := "sets the value " + phrase.If(s.exact, "to", "from") + " the CPUs of the machine"
		if follows(language) {
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS %s, also under a limit, %s, and stops the runtime from following changes of the limit", what, u.before(s.Cursor))
		} else {
			f.Severity = rule.Info
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS %s, %s; from go 1.25 in go.mod on it also makes the program ignore its limit", what, u.before(s.Cursor))
		}
		f.Fix = "remove the call: the runtime then chooses " + choice(language)
		switch {
		case s.flag:
			f.Message = "runtime.GOMAXPROCS gets a flag whose default is the CPUs of the machine, also under a limit, " + u.before(s.Cursor)
			f.Fix = "make 0 the default, which changes nothing: the runtime then chooses " + choice(language)
		case s.maybe:
			f.Severity = rule.Info
			f.Message = strings.Replace(f.Message, "sets the value from", "may set the value from", 1)
			f.Fix = "if the user sets no number, do not call it: the runtime then chooses " + choice(language) + "; and compute shares from runtime.GOMAXPROCS(0)"
		}
		if ast.Unparen(s.call.Args[0]) == s.named && s.exact && !s.forAWhile { // what a variable holds may be needed elsewhere
			f.Remove = u.statement(s.Cursor)
		}
		all = append(all, f)
	}
	return all
}

func setAgain(u *uses) (all []found) {
	for _, s := range u.settings() {
		if s.kind != fromEnv {
			continue
		}
		f := findingAt(s.call, "runtime.GOMAXPROCS gets the value of GOMAXPROCS in the environment, which the runtime has already read",
			"remove it: nothing changes if the variable is valid, and otherwise the runtime chooses "+choice(u.language()))
		f.Remove = u.readAndSet(s.Cursor)
		all = append(all, f)
	}
	return all
}

// readAndSet is the if around the call, where it does nothing else:
//
//	if v := os.Getenv("GOMAXPROCS"); v != "" {
//		if n, err := strconv.Atoi(v); err == nil && n > 0 {
//			runtime.GOMAXPROCS(n)
//		}
//	}
func (u *uses) readAndSet(c inspector.Cursor) []extent {
	stmt := c.Parent()
	if _, ok := stmt.Node().(*ast.ExprStmt); !ok {
		return nil
	}
	for {
		block := stmt.Parent()
		b, ok := block.Node().(*ast.BlockStmt)
		if !ok {
			return nil
		}
		around, ok := block.Parent().Node().(*ast.IfStmt)
		if !ok || around.Else != nil || around.Body != b || !u.readsOnly(b, stmt.Node()) {
			break
		}
		stmt = block.Parent()
	}
	if around, ok := stmt.Node().(*ast.IfStmt); !ok || !u.asksVariable(around) {
		return nil
	}
	return u.emptied(stmt)
}

func (u *uses) readsOnly(b *ast.BlockStmt, but ast.Node) bool {
	for _, s := range b.List {
		if s == but {
			continue
		}
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || u.origin(a.Rhs[0]).kind != fromEnv {
			return false
		}
	}
	return true
}

// asksVariable: the head of the if asks the environment, so that the whole may go.
func (u *uses) asksVariable(s *ast.IfStmt) bool {
	asks := false
	ast.Inspect(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		asks = asks || ok && u.readsVariable(call)
		return n != ast.Node(s.Body) && n != ast.Node(s.Else)
	})
	return asks
}

func setenvs(u *uses) (all []found) {
	for _, c := range u.calls[fnSetenv] {
		call := c.Node().(*ast.CallExpr)
		if len(call.Args) != 2 || u.text(call.Args[0]) != variable {
			continue
		}
		f := findingAt(call, "os.Setenv of GOMAXPROCS changes nothing in this program, because the runtime reads the variable before main",
			"remove it: the value stays the same, "+choice(u.language())+", or the value of the environment at the start")
		if u.startsChildren() {
			f.Severity = rule.Info
			f.Message += "; only child processes inherit it"
			f.Fix = "if it is for a child process, add GOMAXPROCS to the Env of its command, otherwise remove it; the value in this program stays the same"
		}
		all = append(all, f)
	}
	return all
}

func (u *uses) startsChildren() bool {
	return slices.ContainsFunc(u.pass.Pkg.Imports(), func(p *types.Package) bool {
		return slices.Contains([]string{"os/exec", "syscall", "golang.org/x/sys/unix"}, p.Path())
	})
}
