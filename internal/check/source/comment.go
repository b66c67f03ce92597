package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
)

func (u *uses) ignored(f found) bool {
	f.Place = placeOf(u.pass.Fset, f.pos)
	return slices.ContainsFunc(u.answer, func(a check.Ignore) bool { return a.Answers(check.Finding{Finding: f.Finding}) })
}

// placeOf is in the file that was read, whatever a //line names: a parser of goyacc is what runs.
func placeOf(set *token.FileSet, at token.Pos) rule.Place {
	p := set.PositionFor(at, false)
	return rule.Place{Path: p.Filename, Line: p.Line, Column: p.Column}
}

// answers are the ignores of a file. One behind code is about its line, one that
// is alone on its line about what begins in the next: a statement, or a whole function.
func answers(set *token.FileSet, file *ast.File) (all []check.Ignore) {
	var l lines // read where there is an answer
	for _, group := range file.Comments {
		for _, c := range group.List {
			a, ok := ignoreOf(placeOf(set, c.Pos()), c.Text)
			if !ok {
				continue
			}
			if l.set == nil {
				l = linesOf(set, file)
			}
			if !l.behindCode(c.Pos()) {
				next := l.line(group.End()) + 1
				a.To = max(next, l.last[next])
			}
			all = append(all, a)
		}
	}
	return all
}

// ignoreOf wants the marker first; an example in a document is indented, and is none.
func ignoreOf(at rule.Place, text string) (a check.Ignore, ok bool) {
	body := strings.TrimSuffix(text[2:], "*/")
	if !strings.HasPrefix(strings.TrimPrefix(body, " "), check.IgnoreMarker) {
		return a, false
	}
	return check.ParseIgnore(at, body)
}

type lines struct {
	set         *token.FileSet
	first, ends map[int]token.Pos // of a line: where the first node begins, and the first ends
	last        map[int]int       // the last line of whatever begins in one
}

func linesOf(set *token.FileSet, file *ast.File) lines {
	l := lines{set, map[int]token.Pos{}, map[int]token.Pos{}, map[int]int{}}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		case *ast.File:
			return true
		}
		from, to := l.line(n.Pos()), l.line(n.End())
		if known, ok := l.first[from]; !ok || n.Pos() < known {
			l.first[from] = n.Pos()
		}
		if known, ok := l.ends[to]; !ok || n.End() < known {
			l.ends[to] = n.End()
		}
		l.last[from] = max(l.last[from], to)
		return true
	})
	return l
}

func (l lines) line(at token.Pos) int { return l.set.PositionFor(at, false).Line }

func (l lines) behindCode(comment token.Pos) bool {
	line := l.line(comment)
	first, ok := l.first[line]
	ends, ended := l.ends[line]
	return ok && first < comment || ended && ends <= comment
}

func fileAnswers(path string, text []byte) []check.Ignore {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || err != nil && len(file.Comments) == 0 {
		return nil
	}
	return answers(set, file)
}

func moduleAnswers(path string, text []byte) (all []check.Ignore) {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		code, comment, ok := strings.Cut(line, "//")
		if !ok {
			continue
		}
		a, ok := ignoreOf(rule.Place{Path: path, Line: n, Column: len(code) + 1}, "//"+strings.TrimSpace(comment))
		if !ok {
			continue
		}
		if strings.TrimSpace(code) == "" {
			a.To++
		}
		all = append(all, a)
	}
	return all
}

const (
	settingLimit   = "containermaxprocs"
	settingUpdates = "updatemaxprocs"
	settingDefault = "default"
)

// directives is PF033 for the //go:debug lines of a main package.
func directives(u *uses) (all []found) {
	if u.pass.Pkg.Name() != "main" {
		return nil
	}
	var comments []*ast.Comment
	var lines []string
	for _, file := range u.pass.Files {
		if u.inTestFile(file.FileStart) {
			continue
		}
		for c, line := range debugLines(file) {
			comments, lines = append(comments, c), append(lines, line)
		}
	}
	for i, line := range lines {
		key, value, _ := strings.Cut(line, "=")
		if f, off := switchedOff(key, value, "//go:debug", u.language()); off && !overruled(key, lines) {
			all = append(all, found{Finding: f, pos: comments[i].Pos(), end: comments[i].End()})
		}
	}
	return all
}

const debugDirective = "//go:debug "

// debugLines are those //go:debug lines of a file that decide whether its program follows a limit, as key=value.
func debugLines(file *ast.File) iter.Seq2[*ast.Comment, string] {
	return func(yield func(*ast.Comment, string) bool) {
		for _, g := range file.Comments {
			if g.Pos() > file.Package {
				return
			}
			for _, c := range g.List {
				rest, ok := strings.CutPrefix(c.Text, debugDirective)
				key, value, _ := strings.Cut(strings.TrimSpace(rest), "=")
				decides := ok && check.Decides(key)
				if decides && !yield(c, key+"="+strings.TrimSpace(value)) {
					return
				}
			}
		}
	}
}

// overruled reports whether a line has no effect next to others.
func overruled(key string, lines []string) bool {
	return key == settingDefault && slices.Contains(lines, settingLimit+"=1") || key == settingUpdates && slices.Contains(lines, settingLimit+"=0")
}

// switchedOff is false below go 1.25, where no program would follow its limit.
func switchedOff(key, value, where, language string) (f rule.Finding, off bool) {
	if !follows(language) {
		return f, false
	}
	f = rule.Finding{Severity: rule.Warning, Message: where + " " + key + "=" + value + " makes the program "}
	switch {
	case key == settingLimit && value == "0":
		f.Message += "ignore its CPU limit: it uses all CPUs of the machine"
		f.Fix = "remove it: the runtime then chooses " + choice("")
	case key == settingDefault && !follows(strings.TrimPrefix(value, "go")):
		f.Message += "ignore its CPU limit (and switches off other changes of newer releases): it uses all CPUs of the machine"
		f.Fix = "add containermaxprocs=1 and updatemaxprocs=1 to it: the runtime then chooses " + choice("")
	case key == settingUpdates && value == "0":
		f.Severity = rule.Info
		f.Message += "keep the limit that it started with"
		f.Fix = "remove it: the runtime then follows the limit when it changes"
	default:
		return f, false
	}
	return f, true
}
