package source

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// oneOf is the machine's CPUs, where a variable that is set several times may be set to
// them.
func (u *uses) oneOf(o types.Object, steps int) origin {
	if v, ok := o.(*types.Var); !ok || v.IsField() || len(u.set[o]) > mostValues {
		return origin{}
	}
	type key struct {
		o     types.Object
		steps int
	}
	if known, ok := u.ones.Load(key{o, steps}); ok {
		return known.(origin)
	}
	one := origin{}
	for _, value := range u.set[o] {
		if found := u.follow(value, min(steps-1, 5)); found.kind == machine && !u.caps(o, value) {
			one = found
			one.maybe, one.exact = true, false
			break
		}
	}
	u.ones.Store(key{o, steps}, one)
	return one
}

// mostValues is how many values a variable may be set to of which one is looked for.
const mostValues = 64

// caps reports whether a variable is set to a value only where it is above: if n > most { n = most }.
func (u *uses) caps(o types.Object, value ast.Expr) bool {
	at, ok := u.at[value]
	if !ok {
		return false
	}
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

// mostUses is how many uses of a variable are looked at.
const mostUses = 256

// sizedBy says what a variable sizes, by its uses in this package outside of a statement.
func (u *uses) sizedBy(o types.Object, but inspector.Cursor, steps int) (what string) {
	type key struct {
		o     types.Object
		but   inspector.Cursor
		steps int
	}
	if known, ok := u.sizes.Load(key{o, but, steps}); ok {
		return known.(string)
	}
	for _, c := range u.names[o][:min(mostUses, len(u.names[o]))] {
		if !(but.Valid() && but.Contains(c)) && !u.inTest(c) {
			if what = u.sized(c, steps-1); what != "" {
				break
			}
		}
	}
	u.sizes.Store(key{o, but, steps}, what)
	return what
}
