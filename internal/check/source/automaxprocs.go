package source

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Automaxprocs is an import in a file, with what its calls of Set are given.
type Automaxprocs struct {
	rule.Place
	Package string // whose file it is
	Calls   []SetCall
	Change  *check.Change // that removes it; nil: it has to be removed by hand
}

// SetCall is a call of automaxprocs' Set. An import of the module itself is one without options.
type SetCall struct {
	Min  int    `json:"min,omitempty"`  // 0: that of automaxprocs, 1
	Open string `json:"open,omitempty"` // what of its options is not known, in words; "": all are
}

func (c SetCall) String() string {
	options := phrase.Join(", ", phrase.If(c.Min > 0, fmt.Sprintf("Min(%d)", c.Min), ""), c.Open)
	return phrase.If(options != "", " with "+options, "")
}

const (
	ruleAutomaxprocs = "PF031"
	limitLanguage    = "1.25" // the oldest go line with which the runtime follows a limit

	fnSet = pkgAutomaxprocs + "/maxprocs.Set"
	fnMin = pkgAutomaxprocs + "/maxprocs.Min"
	fnLog = pkgAutomaxprocs + "/maxprocs.Logger"
)

func automaxprocs(u *uses) []found {
	language := u.language()
	if !follows(language) {
		return nil // it does what the runtime does not
	}
	var all []found
	for c := range u.root.Preorder((*ast.ImportSpec)(nil)) {
		spec := c.Node().(*ast.ImportSpec)
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !isAutomaxprocs(path) || u.inTest(c) {
			continue
		}
		message := "go.uber.org/automaxprocs sets GOMAXPROCS once, rounded down, and stops the runtime from following changes of the limit, which it does" +
			phrase.If(language != "", " with go "+language, "")
		f := findingAt(spec, message, "remove it: the runtime then chooses "+choice(language)+", and follows it; procfit migrate automaxprocs shows what changes; for the limits of parent cgroups, import github.com/procfit/procfit/maxprocs/auto; for 1 under a limit of one CPU, set GOMAXPROCS=1")
		calls, at := u.setCalls(c, path)
		f.Calls = calls
		if spec.Name != nil && spec.Name.Name == "_" {
			if decl, ok := c.Parent().Node().(*ast.GenDecl); ok && len(decl.Specs) == 1 {
				c = c.Parent()
			}
			f.Remove = u.lines(c)
		} else if len(at) > 0 {
			f.Remove = u.withoutCalls(spec, at)
		}
		all = append(all, f)
	}
	return all
}

func (u *uses) setCalls(spec inspector.Cursor, path string) (all []SetCall, at []inspector.Cursor) {
	if path == pkgAutomaxprocs {
		return []SetCall{{}}, nil
	}
	for c := range u.files[u.pass.Fset.File(spec.Node().Pos())].Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		if u.callee(call) != fnSet || u.inTest(c) {
			continue
		}
		one := SetCall{}
		if call.Ellipsis.IsValid() {
			one.Open = "its options are in a variable"
		}
		for _, arg := range call.Args {
			u.option(&one, arg)
		}
		if one.Open == "" && u.conditional(c) {
			one.Open = "a condition decides whether its call of Set runs"
		}
		all, at = append(all, one), append(at, c)
	}
	return all, at
}

// conditional: not only the environment, which automaxprocs asks too, decides on a call.
func (u *uses) conditional(call inspector.Cursor) bool {
	for c := range around(call) {
		switch n := c.Node().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		case *ast.CaseClause, *ast.CommClause:
			return true
		case *ast.BlockStmt:
			if s, ok := c.Parent().Node().(*ast.IfStmt); ok && (s.Body == n || s.Else == ast.Stmt(n)) && !(u.asksVariable(s) && u.onlyAsks(s)) {
				return true
			}
		}
	}
	return false
}

func (u *uses) option(of *SetCall, arg ast.Expr) {
	call, ok := ast.Unparen(arg).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		of.Open = "an option is not written in the call"
		return
	}
	switch u.callee(call) {
	case fnLog:
	case fnMin:
		if o := u.origin(call.Args[0]); o.kind != fixed || o.flag || o.maybe {
			of.Open = "its Min is not a constant"
		} else if o.n > 1 {
			of.Min = int(o.n)
		}
	default:
		of.Open = "it has an option, such as RoundQuotaFunc, that procfit does not read"
	}
}

// withoutCalls is what goes with the calls of Set; nothing if something of them would be left.
func (u *uses) withoutCalls(spec *ast.ImportSpec, calls []inspector.Cursor) (all []extent) {
	of := types.Object(u.pass.TypesInfo.PkgNameOf(spec))
	var inside []extent
	for _, c := range calls {
		inside = append(inside, extent{From: int(c.Node().Pos()), To: int(c.Node().End())})
		gone := u.withoutCall(c)
		if gone == nil {
			return nil
		}
		all = append(all, gone...)
	}
	inside = merged(inside)
	for id, o := range u.pass.TypesInfo.Uses {
		if o == of && !within(inside, int(id.Pos())) {
			return nil
		}
	}
	return all
}

// withoutCall is the statement of a call and those that only handle what it returns:
//
//	undo, err := maxprocs.Set()
//	if err != nil { … }
//	defer undo()
func (u *uses) withoutCall(call inspector.Cursor) []extent {
	stmt := call.Parent()
	switch s := stmt.Node().(type) {
	case *ast.ExprStmt:
		return u.emptied(stmt)
	case *ast.AssignStmt:
		if len(s.Rhs) != 1 {
			return nil
		}
		if kind, _ := stmt.ParentEdge(); kind == edge.IfStmt_Init {
			if around := stmt.Parent().Node().(*ast.IfStmt); around.Else == nil && s.Tok == token.DEFINE {
				return u.emptied(stmt.Parent())
			}
			return nil
		}
		return u.withHandling(stmt, s)
	}
	return nil
}

func (u *uses) withHandling(stmt inspector.Cursor, s *ast.AssignStmt) []extent {
	if kind, _ := stmt.ParentEdge(); kind != edge.BlockStmt_List {
		return nil
	}
	first, last, count := stmt, stmt, 1
	for next, ok := stmt.NextSibling(); ok && handles(next.Node(), s.Lhs); next, ok = next.NextSibling() {
		last, count = next, count+1
	}
	inside := []extent{{From: int(s.Pos()), To: int(last.Node().End())}}
	if before, ok := stmt.PrevSibling(); ok && u.keepsFor(before, inside) {
		first, count = before, count+1
	}
	for _, name := range s.Lhs {
		id, ok := name.(*ast.Ident)
		if !ok {
			return nil
		}
		elsewhere := u.elsewhere(u.object(id), inside)
		switch defined := u.pass.TypesInfo.Defs[id] != nil; {
		case id.Name == "_":
		case defined && len(elsewhere) > 0 && !defines(elsewhere[0], stmt.Parent()):
			return nil
		case !defined && (len(elsewhere) == 0 || count == 1): // it would be unused, or what others see of it not set
			return nil
		}
	}
	if count == 1 {
		return u.emptied(stmt)
	}
	block := stmt.Parent().Node().(*ast.BlockStmt)
	if f, ok := stmt.Parent().Parent().Node().(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil && len(block.List) == count {
		return u.lines(stmt.Parent().Parent())
	}
	all := extent{From: u.lines(first)[0].From, To: u.lines(last)[0].To}
	start, end := first.Node().Pos(), last.Node().End()
	tf, file := u.pass.Fset.File(start), u.file(start)
	before, _ := u.around(file, first, start, first.Node().End())
	_, after := u.around(file, last, last.Node().Pos(), end)
	if (before.edge || before.line < tf.Line(start)-1) && !after.edge && after.line > tf.Line(end)+1 {
		all.To = tf.Offset(tf.LineStart(after.line)) // of two blank lines one is left, and none at the head of a block
	}
	return []extent{all}
}

func (u *uses) elsewhere(o types.Object, inside []extent) []inspector.Cursor {
	all := slices.DeleteFunc(slices.Clone(u.names[o]), func(c inspector.Cursor) bool { return within(inside, int(c.Node().Pos())) })
	sorting.Stable(all, func(a, b inspector.Cursor) int { return cmp.Compare(a.Node().Pos(), b.Node().Pos()) })
	return all
}

// defines reports whether := in a block would define the variable if nothing else does.
func defines(use, block inspector.Cursor) bool {
	s, ok := use.Parent().Node().(*ast.AssignStmt)
	kind, _ := use.ParentEdge()
	return ok && s.Tok == token.DEFINE && kind == edge.AssignStmt_Lhs && use.Parent().Parent() == block
}

// keepsFor is of before := runtime.GOMAXPROCS(0), which only some parts use.
func (u *uses) keepsFor(c inspector.Cursor, inside []extent) bool {
	s, ok := c.Node().(*ast.AssignStmt)
	if !ok || s.Tok != token.DEFINE || len(s.Lhs) != 1 || len(s.Rhs) != 1 || u.origin(s.Rhs[0]).kind != current {
		return false
	}
	return len(u.elsewhere(u.object(s.Lhs[0]), inside)) == 0
}

// handles reports whether a statement is about nothing but what a call of Set returned:
// if err != nil { … } else { defer undo() }, or defer undo().
func handles(n ast.Node, set []ast.Expr) bool {
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && slices.ContainsFunc(set, func(s ast.Expr) bool {
			to, ok := s.(*ast.Ident)
			return ok && to.Name != "_" && to.Name == id.Name
		})
	}
	switch s := n.(type) {
	case *ast.IfStmt:
		if cond, ok := s.Cond.(*ast.BinaryExpr); !ok || s.Init != nil || cond.Op != token.NEQ || !is(cond.X) {
			return false
		}
		rest, ok := s.Else.(*ast.BlockStmt)
		return s.Else == nil || ok && !slices.ContainsFunc(rest.List, func(s ast.Stmt) bool { return !handles(s, set) })
	case *ast.DeferStmt:
		return is(s.Call.Fun) && len(s.Call.Args) == 0
	}
	return false
}
