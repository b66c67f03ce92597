package source

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/show/sorting"
)

// span is a part of a file.
type span struct{ from, to token.Pos }

func (s span) holds(p token.Pos) bool { return s.from <= p && p < s.to }

// statement is the statement that a call is, to be removed; with what around it would
// be left empty, where that has no effect of its own. It is nothing where the call is
// more than a statement, or an if would stay without it.
func (u *uses) statement(call inspector.Cursor) []span {
	stmt := call.Parent()
	switch s := stmt.Node().(type) {
	case *ast.ExprStmt:
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return nil
		}
	default:
		return nil
	}
	return u.emptied(stmt)
}

// emptied is a statement and whatever has no more to do without it: an if that only
// asks the environment, and an init.
func (u *uses) emptied(stmt inspector.Cursor) []span {
	for {
		block, ok := stmt.Parent().Node().(*ast.BlockStmt)
		if !ok {
			return nil // a case, a label
		}
		if len(block.List) > 1 {
			break
		}
		switch around := stmt.Parent().Parent().Node().(type) {
		case *ast.IfStmt:
			if around.Else != nil || around.Body != block || !u.onlyAsks(around) {
				return nil // an empty block says something that nobody has meant
			}
			stmt = stmt.Parent().Parent()
			continue
		case *ast.FuncDecl:
			if around.Name.Name == "init" && around.Recv == nil {
				return u.lines(stmt.Parent().Parent())
			}
		}
		break
	}
	return u.lines(stmt)
}

// onlyAsks reports whether the head of an if does nothing but ask the environment.
func (u *uses) onlyAsks(s *ast.IfStmt) bool {
	pure := true
	ast.Inspect(s, func(n ast.Node) bool {
		if n == ast.Node(s.Body) {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && !u.readsVariable(call) && u.origin(call).kind != fromEnv && u.callee(call) != fnNumCPU {
			pure = false
		}
		return true
	})
	return pure
}

// lines are the whole lines of a statement, a declaration or an import, with a comment
// behind it, a declaration's own comment, and a blank line where two would be left; or
// the node alone where it shares its lines.
func (u *uses) lines(c inspector.Cursor) []span {
	file := u.file(c.Node().Pos())
	if file == nil {
		return nil
	}
	start, end := c.Node().Pos(), c.Node().End()
	var doc *ast.CommentGroup
	switch n := c.Node().(type) {
	case *ast.FuncDecl:
		doc = n.Doc
	case *ast.GenDecl:
		doc = n.Doc
	case *ast.ImportSpec:
		doc = n.Doc
	}
	if doc != nil {
		start = doc.Pos()
	}
	tf := u.pass.Fset.File(start)
	first, last := tf.Line(start), tf.Line(end)
	before, after := u.around(file, c, span{start, end})
	switch {
	case after.line == last && !after.edge && after.pos.IsValid():
		return []span{{start, after.pos}}
	case before.line == first && !before.edge && before.pos.IsValid():
		return []span{{before.pos, end}}
	case before.line == first || after.line == last:
		return []span{{start, end}}
	}
	next := last + 1
	if after.line > next && (before.line < first-1 || before.edge) {
		next = after.line // one blank line, or none at the head of a block, is left
	}
	from, to := tf.LineStart(first), token.Pos(tf.Base()+tf.Size())
	if next <= tf.LineCount() {
		to = tf.LineStart(next)
	}
	if after.edge && after.line == last+1 && before.line < first-1 && !before.edge {
		from = tf.LineStart(before.line + 1) // the blank line before it
	}
	return []span{{from, to}}
}

// neighbour is what is next to a node: the line, the side that it turns to the
// node, and whether it is the brace around both.
type neighbour struct {
	line int
	pos  token.Pos
	edge bool
}

// around are the lines before and after a node on which there is something else.
func (u *uses) around(file *ast.File, c inspector.Cursor, s span) (before, after neighbour) {
	tf := u.pass.Fset.File(s.from)
	after.line = tf.LineCount() + 1
	open, shut := token.NoPos, token.NoPos
	switch p := c.Parent().Node().(type) {
	case *ast.BlockStmt:
		open, shut = p.Lbrace, p.Rbrace
	case *ast.GenDecl:
		open, shut = p.Lparen, p.Rparen
	case *ast.File:
		before.line = tf.Line(p.Name.End())
	}
	if open.IsValid() {
		before, after = neighbour{tf.Line(open), open, true}, neighbour{tf.Line(shut), shut, true}
	}
	look := func(from, to token.Pos, comment bool) {
		switch {
		case to <= s.from && tf.Line(to) >= before.line && (!open.IsValid() || from > open):
			before = neighbour{tf.Line(to), to, false}
		case from >= s.to && tf.Line(from) <= after.line && (!shut.IsValid() || to <= shut):
			if comment && tf.Line(from) == tf.Line(s.to) {
				return // it is about what goes, and goes too
			}
			after = neighbour{tf.Line(from), from, false}
		}
	}
	for sibling := range c.Parent().Children() {
		if n := sibling.Node(); n != c.Node() {
			look(n.Pos(), n.End(), false)
		}
	}
	for _, g := range file.Comments {
		look(g.Pos(), g.End(), true)
	}
	return before, after
}

// removal is what it takes to remove spans that go together: they, and the imports that
// nothing needs without them.
func (u *uses) removal(spans []span) []analysis.TextEdit {
	if len(spans) == 0 {
		return nil
	}
	file := u.file(spans[0].from)
	inside := func(p token.Pos) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.holds(p) })
	}
	var imports []span
	needless := u.needless(file, inside)
	for _, spec := range needless {
		c, ok := u.root.FindNode(spec)
		if !ok {
			return nil
		}
		decl, ok := c.Parent().Node().(*ast.GenDecl)
		if ok && !slices.ContainsFunc(decl.Specs, func(s ast.Spec) bool {
			return !inside(s.Pos()) && !slices.Contains(needless, s.(*ast.ImportSpec))
		}) {
			c = c.Parent()
		}
		imports = append(imports, u.lines(c)...)
	}
	var edits []analysis.TextEdit
	for _, s := range merged(imports) {
		edits = append(edits, analysis.TextEdit{Pos: s.from, End: s.to})
	}
	for _, s := range spans {
		if !slices.ContainsFunc(imports, func(i span) bool { return i.from <= s.from && s.to <= i.to }) {
			edits = append(edits, analysis.TextEdit{Pos: s.from, End: s.to})
		}
	}
	return edits
}

// merged are spans without those that overlap: two imports may want the same blank line.
func merged(spans []span) (all []span) {
	sorting.Stable(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range spans {
		if n := len(all); n > 0 && s.from < all[n-1].to {
			all[n-1].to = max(all[n-1].to, s.to)
			continue
		}
		all = append(all, s)
	}
	return all
}

// needless are the imports that only what is inside uses.
func (u *uses) needless(file *ast.File, inside func(token.Pos) bool) []*ast.ImportSpec {
	used, needed := map[types.Object]bool{}, map[types.Object]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if p, ok := u.pass.TypesInfo.Uses[id].(*types.PkgName); ok {
			if inside(id.Pos()) {
				used[p] = true
			} else {
				needed[p] = true
			}
		}
		return true
	})
	var specs []*ast.ImportSpec
	for _, spec := range file.Imports {
		o := u.pass.TypesInfo.Implicits[spec]
		if spec.Name != nil {
			o = u.pass.TypesInfo.Defs[spec.Name]
		}
		if o != nil && used[o] && !needed[o] {
			specs = append(specs, spec)
		}
	}
	return specs
}
