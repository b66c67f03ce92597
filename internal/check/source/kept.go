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
	"github.com/procfit/procfit/internal/show/pattern"
)

// numbering are names of functions that give the number of a P or of a CPU: of the
// runtime's own, which others reach by go:linkname, and of those in assembly.
var numbering = pattern.Of(`(?i)procpin$|^(?:get|current)?_?(?:cpu|core|proc|p)_?(?:id|num|number|index)?$`)

// indexed is PF036: an index by the number of a P into what was as large as GOMAXPROCS or
// the machine when it was made. Real cases: puzpuzpuz/xsync#73, AlexsanderHamir/GenPool#2,
// jonhoo/drwmutex#6.
func indexed(u *uses) []found {
	var all []found
	numbers := u.numbering()
	if len(numbers) == 0 {
		return nil
	}
	for c := range u.root.Preorder((*ast.IndexExpr)(nil)) {
		e := c.Node().(*ast.IndexExpr)
		if u.inTest(c) || !u.isNumberOfP(e.Index, numbers, mostSteps) || u.compared(c, e) {
			continue
		}
		has, when := u.length(e.X)
		if has == "" {
			continue
		}
		name := types.ExprString(e.X)
		all = append(all, found{pos: e.Pos(), end: e.End(), Finding: rule.Finding{
			Message: fmt.Sprintf("%s has %s and is indexed by the number of a P or CPU: %s, this panics with index out of range", name, has, when),
			Fix:     fmt.Sprintf("index it by the number modulo len(%s); GOMAXPROCS stays as it is", name),
		}})
	}
	return all
}

// numbering are the functions without a body whose name, or whose go:linkname, is of the
// number of a P or of a CPU.
func (u *uses) numbering() map[types.Object]bool {
	all := map[types.Object]bool{}
	for _, file := range u.pass.Files {
		linked := linknames(file)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body != nil || f.Recv != nil || f.Type.Results.NumFields() == 0 {
				continue
			}
			if numbering().MatchString(f.Name.Name) || numbering().MatchString(linked[f.Name.Name]) {
				all[u.pass.TypesInfo.Defs[f.Name]] = true
			}
		}
	}
	return all
}

// linknames are the functions of a file that are others': procPin is "runtime.procPin".
func linknames(file *ast.File) map[string]string {
	all := map[string]string{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if words := strings.Fields(c.Text); len(words) == 3 && words[0] == "//go:linkname" {
				all[words[1]] = words[2]
			}
		}
	}
	return all
}

// isNumberOfP reports whether an expression is what one of the functions gives, and not a
// number that is reckoned from it, which a modulo or a mask bounds.
func (u *uses) isNumberOfP(e ast.Expr, of map[types.Object]bool, steps int) bool {
	if steps == 0 {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := u.once(e)
		return v != nil && u.isNumberOfP(v, of, steps-1)
	case *ast.CallExpr:
		if u.pass.TypesInfo.Types[e.Fun].IsType() && len(e.Args) == 1 {
			return u.isNumberOfP(e.Args[0], of, steps-1)
		}
		o := u.object(e.Fun)
		return of[o] || o != nil && u.gives(o, of, steps-1)
	}
	return false
}

// gives reports whether a function of this package returns such a number.
func (u *uses) gives(f types.Object, of map[types.Object]bool, steps int) bool {
	decl := u.decls[f]
	if decl == nil || decl.Body == nil {
		return false
	}
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			found = found || u.isNumberOfP(r.Results[0], of, steps)
		}
		_, nested := n.(*ast.FuncLit)
		return !nested && !found
	})
	return found
}

// compared reports whether the function around an index compares it, or the length of what
// it is an index of.
func (u *uses) compared(c inspector.Cursor, e *ast.IndexExpr) bool {
	in := u.function(c)
	if in == nil || in.Body == nil {
		return false
	}
	known, ok := u.compares.Load(in)
	if !ok {
		known, _ = u.compares.LoadOrStore(in, u.comparisons(in))
	}
	by := known.(comparisons)
	index, x := u.object(e.Index), u.object(e.X)
	return index != nil && (by.itself[index] || by.length[index]) || x != nil && by.length[x]
}

// comparisons are what a function compares: variables, and what is the argument of a call, such as
// len.
type comparisons struct{ itself, length map[types.Object]bool }

func (u *uses) comparisons(in *ast.FuncDecl) comparisons {
	all := comparisons{map[types.Object]bool{}, map[types.Object]bool{}}
	ast.Inspect(in.Body, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op) {
			return true
		}
		for _, side := range []ast.Expr{b.X, b.Y} {
			if call, ok := ast.Unparen(side).(*ast.CallExpr); ok && len(call.Args) == 1 {
				all.length[u.object(call.Args[0])] = true
			} else {
				all.itself[u.object(side)] = true
			}
		}
		return true
	})
	return all
}

// length says how many elements a slice or an array has, and when the number of a P is
// beyond them; nothing where that is not known.
func (u *uses) length(x ast.Expr) (has, when string) {
	t := u.pass.TypesInfo.TypeOf(x)
	if t == nil {
		return "", ""
	}
	t = t.Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	if a, ok := t.(*types.Array); ok {
		return fmt.Sprintf("%d elements", a.Len()), fmt.Sprintf("with GOMAXPROCS above %d", a.Len())
	}
	o := u.object(x)
	if o == nil {
		return "", ""
	}
	for _, value := range u.values(o) {
		call, ok := ast.Unparen(value).(*ast.CallExpr)
		if !ok || len(call.Args) < 2 || u.callee(call) != "" || types.ExprString(call.Fun) != "make" {
			continue
		}
		switch u.origin(call.Args[1]).kind {
		case current:
			return "the length that runtime.GOMAXPROCS(0) gave when it was made", "after GOMAXPROCS grows at run time, as from Go 1.25 on when a CPU limit is raised"
		case machine:
			return "the length that runtime.NumCPU gave when it was made", "with more Ps than that"
		}
	}
	return "", ""
}

// values are what a variable or a field is set to, also in a literal.
func (u *uses) values(o types.Object) []ast.Expr {
	all := slices.Concat(u.set[o], u.keyed[o])
	return slices.DeleteFunc(all, func(e ast.Expr) bool { return e == nil })
}

// constructing are names of functions that run once, and make what stays.
var constructing = pattern.Of(`^(?:main$|init$|[Nn]ew|[Ii]nit|[Ss]tart|[Oo]pen|[Ss]etup|[Dd]efault)`)

// keptSizes is PF037: what is made once as large as GOMAXPROCS was, in a module that changes
// it at run time. Real cases: elastic/apm-server#1841 and #9393.
func keptSizes(u *uses) []found {
	var all []found
	for _, c := range u.calls[fnGOMAXPROCS] {
		call, in := c.Node().(*ast.CallExpr), u.function(c)
		if u.origin(call).kind != current || in == nil || !constructing().MatchString(in.Name.Name) || u.packageVariable(c) != "" {
			continue
		}
		what := u.sized(c, mostSteps)
		if what == "" {
			continue
		}
		all = append(all, found{pos: call.Pos(), end: call.End(), changing: true, Finding: rule.Finding{
			Message: fmt.Sprintf("%s by runtime.GOMAXPROCS(0) once, in %s, and the module changes GOMAXPROCS at run time: then it is too small or too large", what, in.Name.Name),
			Fix:     "read the value where it is used, or resize when it changes (OnChange of maxprocs.Watch); GOMAXPROCS stays as it is",
		}})
	}
	return all
}

// changes reports whether a file of the module changes GOMAXPROCS while the program runs.
func (t *tree) changes() bool {
	for _, files := range t.folders {
		if slices.ContainsFunc(files, func(s scanned) bool { return s.changes }) {
			return true
		}
	}
	return false
}

// changesHere is the same of one package, which is all that go vet shows.
func (u *uses) changesHere() bool {
	return slices.ContainsFunc(u.pass.Pkg.Imports(), func(p *types.Package) bool { return changesByImport(p.Path()) })
}

// changesByImport reports whether a package is imported to change GOMAXPROCS at run time.
func changesByImport(p string) bool {
	return slices.Contains([]string{pkgMaxprocs + "/live", pkgMaxprocs + "/auto"}, p)
}
