package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
)

// answer is an ignore of a file, by the name that its positions have.
type answer = check.Ignore

// ignored reports whether a comment answers a finding.
func (u *uses) ignored(f found) bool {
	at := u.pass.Fset.PositionFor(f.pos, false)
	f.Place = rule.Place{Path: at.Filename, Line: at.Line}
	for _, a := range u.answer {
		if a.Answers(check.Finding{Finding: f.Finding}) {
			return true
		}
	}
	return false
}

// answers are the ignores of a file. One behind code is about its line, one that
// is alone on its line about what begins in the next: a statement, or a whole function.
func answers(set *token.FileSet, file *ast.File) []answer {
	var all []answer
	var l lines // read where there is an answer
	for _, group := range file.Comments {
		for _, c := range group.List {
			rules, reason, ok := ignoreOf(c.Text)
			if !ok {
				continue
			}
			if l.set == nil {
				l = linesOf(set, file)
			}
			at := set.PositionFor(c.Pos(), false)
			a := answer{
				Place: rule.Place{Path: at.Filename, Line: at.Line, Column: at.Column},
				Rules: rules, Reason: reason, From: at.Line, To: at.Line,
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

// ignoreOf reads a comment of Go, in which the marker comes first; an example in a
// document is indented, and is none.
func ignoreOf(text string) (rules []string, reason string, ok bool) {
	body := strings.TrimSuffix(text[2:], "*/")
	if !strings.HasPrefix(strings.TrimPrefix(body, " "), check.IgnoreMarker) {
		return nil, "", false
	}
	return check.ParseIgnore(body)
}

// lines are where the nodes of a file begin and end, whatever a //line calls its lines.
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

// behindCode reports whether something begins or ends in the line of a comment, before it.
func (l lines) behindCode(comment token.Pos) bool {
	line := l.line(comment)
	first, ok := l.first[line]
	ends, ended := l.ends[line]
	return ok && first < comment || ended && ends <= comment
}

// fileAnswers reads the ignores of a file by itself.
func fileAnswers(path string, text []byte) []answer {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || err != nil && len(file.Comments) == 0 {
		return nil
	}
	return answers(set, file)
}

// moduleAnswers reads those of a go.mod, whose comments are as Go's.
func moduleAnswers(path string, text []byte) []answer {
	var all []answer
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		code, comment, ok := strings.Cut(line, "//")
		if !ok {
			continue
		}
		rules, reason, ok := ignoreOf("//" + strings.TrimSpace(comment))
		if !ok {
			continue
		}
		a := answer{Place: rule.Place{Path: path, Line: n, Column: len(code) + 1}, Rules: rules, Reason: reason, From: n, To: n}
		if strings.TrimSpace(code) == "" {
			a.To++
		}
		all = append(all, a)
	}
	return all
}

// The settings of GODEBUG that are about GOMAXPROCS.
const (
	settingLimit   = "containermaxprocs"
	settingUpdates = "updatemaxprocs"
	settingDefault = "default"
)

// directives is PF033 for the //go:debug lines of a main package; those of go.mod and
// go.work are the module's.
func directives(u *uses) []found {
	var all []found
	if u.pass.Pkg.Name() != "main" {
		return nil
	}
	for _, file := range u.pass.Files {
		if u.inTestFile(file.FileStart) {
			continue
		}
		for _, g := range file.Comments {
			if g.Pos() > file.Package {
				break
			}
			for _, c := range g.List {
				all = append(all, directive(c, u.language())...)
			}
		}
	}
	return all
}

func directive(c *ast.Comment, language string) []found {
	rest, ok := strings.CutPrefix(c.Text, "//go:debug ")
	if !ok {
		return nil
	}
	key, value, _ := strings.Cut(strings.TrimSpace(rest), "=")
	f, ok := switchedOff(key, strings.TrimSpace(value), "//go:debug", language)
	if !ok {
		return nil
	}
	return []found{{Finding: f, pos: c.Pos(), end: c.End()}}
}

// switchedOff is what a setting does to a program that would follow its limit. Below
// go 1.25 it would not, and the setting says what is so anyway.
func switchedOff(key, value, where, language string) (rule.Finding, bool) {
	if !follows(language) {
		return rule.Finding{}, false
	}
	name := where + " " + key + "=" + value
	switch {
	case key == settingLimit && value == "0":
		return rule.Finding{
			Severity: rule.Warning,
			Message:  name + " makes the program ignore its CPU limit: it uses all CPUs of the machine",
			Fix:      "remove it: the runtime then chooses " + choice(""),
		}, true
	case key == settingDefault && !follows(strings.TrimPrefix(value, "go")):
		return rule.Finding{
			Severity: rule.Warning,
			Message:  name + " makes the program ignore its CPU limit (and switches off other changes of newer releases): it uses all CPUs of the machine",
			Fix:      "add containermaxprocs=1 and updatemaxprocs=1 to it: the runtime then chooses " + choice(""),
		}, true
	case key == settingUpdates && value == "0":
		return rule.Finding{
			Severity: rule.Info,
			Message:  name + " makes the program keep the limit that it started with",
			Fix:      "remove it: the runtime then follows the limit when it changes",
		}, true
	}
	return rule.Finding{}, false
}
