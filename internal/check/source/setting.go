package source

import (
	"fmt"
	"go/ast"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// setting is a call of runtime.GOMAXPROCS that may set something.
type setting struct {
	inspector.Cursor
	call *ast.CallExpr
	origin
	forAWhile bool // what it gave back is kept, to be restored
}

func (u *uses) settings() []setting {
	var all []setting
	for _, c := range u.calls[fnGOMAXPROCS] {
		call := c.Node().(*ast.CallExpr)
		if len(call.Args) != 1 {
			continue
		}
		s := setting{Cursor: c, call: call, origin: u.origin(call.Args[0])}
		switch parent := c.Parent().Node().(type) {
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		case *ast.AssignStmt:
			id, ok := parent.Lhs[0].(*ast.Ident)
			s.forAWhile = !ok || id.Name != "_"
		default:
			s.forAWhile = true
		}
		all = append(all, s)
	}
	return all
}

const unlessSet = "unless GOMAXPROCS is set in the environment"

// setBack tells that the value is set back at once when the function ends:
// defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n)).
func (s setting) setBack() bool {
	outer, ok := s.Parent().Node().(*ast.CallExpr)
	if !ok {
		return false
	}
	deferred, ok := s.Parent().Parent().Node().(*ast.DeferStmt)
	return ok && deferred.Call == outer && len(outer.Args) == 1 && outer.Args[0] == s.call
}

// before says whether the environment still counts.
func (u *uses) before(c inspector.Cursor) string {
	if u.guarded(c) {
		return unlessSet
	}
	return "whatever GOMAXPROCS says in the environment"
}

// constants is PF024.
func constants(u *uses) []found {
	var all []found
	for _, s := range u.settings() {
		if s.kind != fixed || s.n < 1 {
			continue
		}
		f := found{pos: s.call.Pos(), end: s.call.End()}
		ps := phrase.CountOf(s.n, "P", "Ps")
		language := u.language()
		switch {
		case s.flag:
			f.Severity = rule.Info
			before := u.before(s.Cursor)
			if s.env {
				before = unlessSet
			}
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS takes a flag whose default is %d: %s on every machine and under every limit, %s", s.n, ps, before)
			f.Fix = "let 0 be the default, which changes nothing: the runtime then chooses " + choice(language)
		case s.forAWhile:
			f.Severity = rule.Info
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS(%d) holds the whole program to %s until it is set back", s.n, ps)
			if follows(language) {
				f.Message += ", and ends the updates that the runtime makes by itself"
			}
			f.Fix = "bound the work in question by a semaphore instead, and leave GOMAXPROCS alone"
			if follows(language) {
				f.Fix += "; where it must be, let runtime.SetDefaultGOMAXPROCS set it back"
			}
		default:
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS(%d) fixes %s on every machine and under every limit, %s", s.n, ps, u.before(s.Cursor))
			f.Fix = fmt.Sprintf("remove the call: the runtime then chooses %s; where %d is measured, set GOMAXPROCS=%d in the environment, beside the limit", choice(language), s.n, s.n)
		}
		all = append(all, f)
	}
	return all
}

// numCPUs is PF025.
func numCPUs(u *uses) []found {
	var all []found
	for _, s := range u.settings() {
		if s.kind != machine || s.setBack() {
			continue
		}
		language := u.language()
		f := found{pos: s.call.Pos(), end: s.call.End()}
		what := "sets it by the machine's CPUs"
		if s.exact {
			what = "sets it to the machine's CPUs"
		}
		if follows(language) {
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS %s, also under a limit, %s, and ends the updates that the runtime makes by itself", what, u.before(s.Cursor))
		} else {
			f.Severity = rule.Info
			f.Message = fmt.Sprintf("runtime.GOMAXPROCS %s, %s; from go 1.25 in go.mod on it also keeps the program from its limit", what, u.before(s.Cursor))
		}
		f.Fix = "remove the call: the runtime then chooses " + choice(language)
		switch {
		case s.flag:
			f.Message = "runtime.GOMAXPROCS takes a flag whose default is the machine's CPUs, also under a limit, " + u.before(s.Cursor)
			f.Fix = "let 0 be the default, which changes nothing: the runtime then chooses " + choice(language)
		case s.maybe:
			f.Severity = rule.Info
			f.Message = strings.Replace(f.Message, "sets it by", "may set it by", 1)
			f.Fix = "where no number is asked for, do not call it: the runtime then chooses " + choice(language) + "; and reckon shares of runtime.GOMAXPROCS(0)"
		}
		if ast.Unparen(s.call.Args[0]) == s.named && s.exact && !s.forAWhile { // what a variable holds may be needed elsewhere
			f.remove = u.statement(s.Cursor)
		}
		all = append(all, f)
	}
	return all
}

// setAgain is PF027.
func setAgain(u *uses) []found {
	var all []found
	for _, s := range u.settings() {
		if s.kind != fromEnv {
			continue
		}
		all = append(all, found{
			pos: s.call.Pos(), end: s.call.End(),
			Finding: rule.Finding{
				Message: "runtime.GOMAXPROCS takes what GOMAXPROCS is in the environment, which the runtime has read before",
				Fix:     "remove it: nothing changes where the runtime understands the variable, and where it does not it chooses " + choice(u.language()),
			},
			remove: u.readAndSet(s.Cursor),
		})
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
func (u *uses) readAndSet(c inspector.Cursor) []span {
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

// readsOnly tells that a block does nothing beside a statement but read the number.
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

// asksVariable tells that the head of an if asks the environment, so that nothing is
// left over when the whole goes.
func (u *uses) asksVariable(s *ast.IfStmt) bool {
	asks := false
	for _, part := range []ast.Node{s.Init, s.Cond} {
		if part == nil || part == ast.Stmt(nil) {
			continue
		}
		ast.Inspect(part, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && u.readsVariable(call) {
				asks = true
			}
			return true
		})
	}
	return asks
}
