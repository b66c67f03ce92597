package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/show/phrase"
)

type kind int

const (
	unknown  kind = iota
	fixed         // a constant
	machine       // runtime.NumCPU, or reckoned from it
	current       // runtime.GOMAXPROCS(0), or reckoned from it
	fromEnv       // GOMAXPROCS in the environment
	restored      // what a call of runtime.GOMAXPROCS(n) gave back
)

type origin struct {
	kind  kind
	n     int64    // where it is fixed
	flag  bool     // it is a flag's default, and the user may give another
	exact bool     // of machine: NumCPU itself
	maybe bool     // it is one of several that a variable is set to
	named ast.Expr // the expression that says so
}

const mostSteps = 8 // how far a number is followed

func (u *uses) origin(e ast.Expr) origin { return u.follow(e, mostSteps) }

func (u *uses) follow(e ast.Expr, steps int) origin {
	if e == nil || steps == 0 {
		return origin{}
	}
	e = ast.Unparen(e)
	if v := u.pass.TypesInfo.Types[e].Value; v != nil {
		if n, ok := constant.Int64Val(constant.ToInt(v)); ok && constant.ToInt(v).Kind() == constant.Int {
			return origin{kind: fixed, n: n, named: e}
		}
		return origin{}
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		return u.ofCall(e, steps)
	case *ast.BinaryExpr:
		return either(u.follow(e.X, steps-1), u.follow(e.Y, steps-1))
	case *ast.StarExpr:
		if call, ok := u.once(e.X).(*ast.CallExpr); ok {
			if d := u.flagDefault(call, 0); d != nil {
				return u.flagged(d, steps)
			}
		}
	case *ast.Ident, *ast.SelectorExpr:
		o := u.object(e)
		if d, ok := u.flags[o]; ok && len(u.set[o]) == 0 {
			return u.flagged(d, steps)
		}
		if v := u.once(e); v != nil {
			return u.follow(v, steps-1)
		}
		return u.oneOf(o, steps)
	}
	return origin{}
}

func (u *uses) flagged(value ast.Expr, steps int) origin {
	o := u.follow(value, steps-1)
	o.flag = true
	return o
}

func either(a, b origin) origin {
	for _, k := range []kind{machine, current} {
		for _, o := range []origin{a, b} {
			if o.kind == k {
				o.exact = false
				return o
			}
		}
	}
	return origin{}
}

func (u *uses) ofCall(call *ast.CallExpr, steps int) origin {
	switch u.callee(call) {
	case fnNumCPU:
		return origin{kind: machine, exact: true, named: call}
	case fnGOMAXPROCS:
		if len(call.Args) != 1 {
			return origin{}
		}
		if o := u.follow(call.Args[0], steps-1); o.kind == fixed && o.n <= 0 {
			return origin{kind: current, named: call}
		}
		return origin{kind: restored, named: call}
	case fnItoa:
		if len(call.Args) == 1 {
			return u.follow(call.Args[0], steps-1)
		}
	case fnAtoi, fnParseInt, fnParseUint:
		if len(call.Args) > 0 && u.fromVariable(call.Args[0], mostSteps) {
			return origin{kind: fromEnv, named: call}
		}
		return origin{}
	}
	if len(call.Args) == 1 && u.pass.TypesInfo.Types[call.Fun].IsType() {
		return u.follow(call.Args[0], steps-1)
	}
	if lower := strings.ToLower(nameOf(call.Fun)); (lower == "min" || lower == "max") && len(call.Args) == 2 {
		return either(u.follow(call.Args[0], steps-1), u.follow(call.Args[1], steps-1))
	}
	return origin{}
}

// fromVariable: os.Getenv("GOMAXPROCS") gave it. s = strings.TrimSpace(s) may set s to itself.
func (u *uses) fromVariable(e ast.Expr, steps int) bool {
	if steps == 0 {
		return false
	}
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok {
		e = u.once(id)
	}
	call, ok := e.(*ast.CallExpr)
	if ok && !u.readsVariable(call) && len(call.Args) == 1 { // strings.TrimSpace
		return u.fromVariable(call.Args[0], steps-1)
	}
	return ok && u.readsVariable(call)
}

// nameOf is "New" of pool.New.
func nameOf(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func (u *uses) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return u.pass.TypesInfo.ObjectOf(e)
	case *ast.SelectorExpr:
		return u.pass.TypesInfo.Uses[e.Sel]
	}
	return nil
}

func (u *uses) once(e ast.Expr) ast.Expr {
	o := u.object(e)
	if v, ok := o.(*types.Var); !ok || v.IsField() {
		return nil
	}
	if values := u.set[o]; len(values) == 1 {
		return values[0].Expr
	}
	return nil
}

// parameters, and named results, have a value before a statement sets them: of the caller, or 0.
func (u *uses) parameters() {
	for c := range u.root.Preorder((*ast.FuncType)(nil)) {
		t := c.Node().(*ast.FuncType)
		lists := []*ast.FieldList{t.Params, t.Results}
		if f, ok := c.Parent().Node().(*ast.FuncDecl); ok {
			lists = append(lists, f.Recv)
		}
		for _, list := range lists {
			if list == nil {
				continue
			}
			for _, f := range list.List {
				for _, n := range f.Names {
					if o := u.object(n); o != nil && u.flags[o] == nil {
						u.set[o] = append(u.set[o], assigned{})
					}
				}
			}
		}
	}
}

func declared(s *ast.ValueSpec) []ast.Expr {
	return phrase.Each(s.Names, func(n *ast.Ident) ast.Expr { return n })
}

func (u *uses) assignments() {
	var at inspector.Cursor
	note := func(target, value ast.Expr) {
		if o := u.object(target); o != nil {
			u.set[o] = append(u.set[o], assigned{value, at})
		}
	}
	pairs := func(targets, values []ast.Expr) {
		for i, t := range targets {
			switch {
			case len(values) == len(targets):
				note(t, values[i])
			case i == 0 && len(values) == 1: // n, err := strconv.Atoi(…)
				note(t, values[0])
			default:
				note(t, nil)
			}
		}
	}
	for c := range u.root.Preorder((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.IncDecStmt)(nil), (*ast.RangeStmt)(nil), (*ast.UnaryExpr)(nil)) {
		at = c
		switch s := c.Node().(type) {
		case *ast.AssignStmt:
			if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
				note(s.Lhs[0], nil)
				continue
			}
			pairs(s.Lhs, s.Rhs)
		case *ast.ValueSpec:
			if len(s.Values) > 0 {
				pairs(declared(s), s.Values)
				continue
			}
			for _, t := range s.Names { // it is 0 at first
				if _, isFlag := u.flags[u.object(t)]; !isFlag {
					note(t, nil)
				}
			}
		case *ast.IncDecStmt:
			note(s.X, nil)
		case *ast.RangeStmt:
			for _, t := range []ast.Expr{s.Key, s.Value} {
				if t != nil {
					note(t, nil)
				}
			}
		case *ast.UnaryExpr:
			if _, isFlag := u.flags[u.object(s.X)]; s.Op == token.AND && !isFlag {
				note(s.X, nil)
			}
		}
	}
}

func (u *uses) flag(call *ast.CallExpr) {
	if d := u.flagDefault(call, 1); d != nil {
		if a, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr); ok && a.Op == token.AND {
			if o := u.object(a.X); o != nil {
				u.flags[o] = d
			}
		}
	}
}

var numbers = []string{"Int", "Int32", "Int64", "Uint", "Uint32", "Uint64"}

// flagDefault is of the packages flag and pflag: Int(name, value, usage), IntP(name, shorthand,
// value, usage), and with a pointer in front IntVar and IntVarP.
func (u *uses) flagDefault(call *ast.CallExpr, pointer int) ast.Expr {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	f, known := u.pass.TypesInfo.Uses[sel.Sel].(*types.Func)
	if known && (f.Pkg() == nil || !slices.Contains([]string{"flag", "github.com/spf13/pflag"}, f.Pkg().Path())) {
		return nil
	}
	name, short := strings.CutSuffix(sel.Sel.Name, "P")
	name, isVar := strings.CutSuffix(name, "Var")
	if !slices.Contains(numbers, name) || isVar != (pointer == 1) {
		return nil
	}
	if !known { // of a flag set whose type is not known: by its shape
		n := len(call.Args)
		if n != pointer+3 && !(short && n == pointer+4) || u.text(call.Args[pointer]) == "" || u.pass.TypesInfo.Types[call.Args[n-1]].Value == nil {
			return nil
		}
	}
	at := pointer + 1
	if short {
		at++
	}
	if at >= len(call.Args) {
		return nil
	}
	return call.Args[at]
}

// oneOf is the CPUs of the machine, if they are one of the values that a variable may have.
func (u *uses) oneOf(o types.Object, steps int) origin {
	if v, ok := o.(*types.Var); !ok || v.IsField() || len(u.set[o]) > mostValues {
		return origin{}
	}
	at := followed{o: o, steps: steps}
	if known, ok := u.ones[at]; ok {
		return known
	}
	one := origin{}
	for _, value := range u.set[o] {
		if found := u.follow(value.Expr, min(steps-1, 5)); found.kind == machine && !u.caps(o, value.at) {
			one = found
			one.maybe, one.exact = true, false
			break
		}
	}
	u.ones[at] = one
	return one
}

const mostValues = 64 // of a variable, among which one is looked for

// caps reports whether a statement sets a variable only where it is above the value: if n > most { n = most }.
func (u *uses) caps(o types.Object, at inspector.Cursor) bool {
	for c := range around(at) {
		stmt, ok := c.Node().(*ast.IfStmt)
		if !ok {
			continue
		}
		cond, ok := stmt.Cond.(*ast.BinaryExpr)
		if !ok {
			return false
		}
		above := cond.X
		switch cond.Op {
		case token.GTR, token.GEQ:
		case token.LSS, token.LEQ:
			above = cond.Y
		default:
			return false
		}
		return u.object(above) == o
	}
	return false
}
