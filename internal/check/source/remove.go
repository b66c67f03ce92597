package source

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/sorting"
)

// extent is in bytes from the start of a file. What is removed has nothing New.
type extent = check.Splice

// statement is that of a call, with what would be left empty around it. It is nothing if the call
// is more than a statement, or an if would stay without it.
func (u *uses) statement(call inspector.Cursor) []extent {
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

// emptied takes what is left empty, too: an if that only asks the environment, and an init.
func (u *uses) emptied(stmt inspector.Cursor) []extent {
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

// lines are whole lines with a comment behind them, a declaration's own comment, and a blank line
// where two would be left; or the node alone if it shares its lines.
func (u *uses) lines(c inspector.Cursor) []extent {
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
	before, after := u.around(file, c, start, end)
	part := func(from, to token.Pos) []extent { return []extent{{From: tf.Offset(from), To: tf.Offset(to)}} }
	switch {
	case after.line == last && !after.edge && after.pos.IsValid():
		return part(start, after.pos)
	case before.line == first && !before.edge && before.pos.IsValid():
		return part(before.pos, end)
	case before.line == first || after.line == last:
		return part(start, end)
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
	return part(from, to)
}

// neighbour turns pos to the node. edge: it is the brace around both.
type neighbour struct {
	line int
	pos  token.Pos
	edge bool
}

func (u *uses) around(file *ast.File, c inspector.Cursor, start, end token.Pos) (before, after neighbour) {
	tf := u.pass.Fset.File(start)
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
	look := func(from, to token.Pos) {
		switch {
		case to <= start && to >= before.pos && tf.Line(to) >= before.line && (!open.IsValid() || from > open):
			before = neighbour{tf.Line(to), to, false}
		case from >= end && (!after.pos.IsValid() || from < after.pos) && (!shut.IsValid() || to <= shut):
			after = neighbour{tf.Line(from), from, false}
		}
	}
	if p, ok := c.PrevSibling(); ok {
		look(p.Node().Pos(), p.Node().End())
	}
	if n, ok := c.NextSibling(); ok {
		look(n.Node().Pos(), n.Node().End())
	}
	next, _ := slices.BinarySearchFunc(file.Comments, end, func(g *ast.CommentGroup, at token.Pos) int { return cmp.Compare(g.Pos(), at) })
	for next < len(file.Comments) && tf.Line(file.Comments[next].Pos()) == tf.Line(end) {
		next++ // it is about what goes, and goes too
	}
	if next < len(file.Comments) {
		look(file.Comments[next].Pos(), file.Comments[next].End())
	}
	last, _ := slices.BinarySearchFunc(file.Comments, start, func(g *ast.CommentGroup, at token.Pos) int { return cmp.Compare(g.Pos(), at) })
	if last > 0 {
		look(file.Comments[last-1].Pos(), file.Comments[last-1].End())
	}
	return before, after
}

type importGroup struct {
	Whole extent // its lines
	Specs []importSpec
}

type importSpec struct {
	At    int // where it begins
	Lines extent
	Uses  []int // where the file names it, in ascending order
}

func (u *uses) importsOf(file *ast.File) (all []importGroup) {
	tf := u.pass.Fset.File(file.FileStart)
	named := map[*types.PkgName][]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if p, ok := u.pass.TypesInfo.Uses[id].(*types.PkgName); ok {
				named[p] = append(named[p], tf.Offset(id.Pos()))
			}
		}
		return true
	})
	for d := range u.files[tf].Children() {
		decl, ok := d.Node().(*ast.GenDecl)
		if !ok || decl.Tok != token.IMPORT {
			continue
		}
		g := importGroup{Whole: u.lines(d)[0]}
		for c := range d.Children() {
			spec, ok := c.Node().(*ast.ImportSpec)
			if !ok {
				continue // its comment
			}
			uses := named[u.pass.TypesInfo.PkgNameOf(spec)]
			slices.Sort(uses)
			g.Specs = append(g.Specs, importSpec{tf.Offset(spec.Pos()), u.lines(c)[0], uses})
		}
		all = append(all, g)
	}
	return all
}

// removal takes parts that go together, and the imports that nothing needs without them.
func removal(imports []importGroup, parts []extent) (edits []extent) {
	if len(parts) == 0 {
		return nil
	}
	inside := merged(parts)
	var gone []extent
	for _, g := range imports {
		needless, whole := []extent(nil), true
		for _, s := range g.Specs {
			switch {
			case len(s.Uses) > 0 && !slices.ContainsFunc(s.Uses, func(at int) bool { return !within(inside, at) }):
				needless = append(needless, s.Lines)
			case !within(inside, s.At):
				whole = false
			}
		}
		if len(needless) > 0 && whole {
			needless = []extent{g.Whole}
		}
		gone = append(gone, needless...)
	}
	gone = merged(gone)
	edits = slices.Clone(gone)
	for _, p := range parts {
		if !within(gone, p.From) {
			edits = append(edits, p)
		}
	}
	return edits
}

// within reports whether a place is in one of some parts, which are in ascending order.
func within(parts []extent, at int) bool {
	i, found := slices.BinarySearchFunc(parts, at, func(p extent, at int) int { return cmp.Compare(p.From, at) })
	return found || i > 0 && at < parts[i-1].To
}

// merged are parts in ascending order, as one if they overlap: two may want the same blank line.
func merged(parts []extent) (all []extent) {
	parts = slices.Clone(parts)
	sorting.Stable(parts, func(a, b extent) int { return cmp.Compare(a.From, b.From) })
	for _, p := range parts {
		if n := len(all); n > 0 && p.From < all[n-1].To {
			all[n-1].To = max(all[n-1].To, p.To)
			continue
		}
		all = append(all, p)
	}
	return all
}
