package output

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

type group struct {
	path     string
	findings []check.Finding
	values   []check.Value
}

// groups are the files, those with findings first.
func groups(r *check.Report, o Options) (all []*group) {
	byPath := map[string]*group{}
	of := func(path string) *group {
		g := byPath[path]
		if g == nil {
			g = &group{path: path}
			byPath[path], all = g, append(all, g)
		}
		return g
	}
	for _, f := range r.Findings {
		g := of(f.Path)
		g.findings = append(g.findings, f)
	}
	for _, v := range r.Values {
		if v.Go || o.Values {
			g := of(v.Path)
			g.values = append(g.values, v)
		}
	}
	return all
}

// writeGroups is for a terminal: each file once, with source lines, and below it its programs.
func writeGroups(b *terminal.Writer, r *check.Report, o Options) {
	for _, g := range groups(r, o) {
		if b.Len() > 0 {
			b.Gap()
		}
		b.Line(b.Style(terminal.Bold, shown(g.path)))
		var lines []string
		if o.Source != nil && len(g.findings) > 0 {
			lines = strings.Split(string(o.Source(g.path)), "\n")
		}
		indent := 0
		for _, f := range g.findings {
			indent = max(indent, utf8.RuneCountInString(within(f.Place)))
		}
		for _, v := range g.values {
			indent = max(indent, utf8.RuneCountInString(within(v.Place)))
		}
		first := func(p rule.Place) string { return "  " + terminal.Pad(within(p), indent, true) + "  " }
		further := strings.Repeat(" ", indent+4)
		for i, f := range g.findings {
			severity := string(f.Severity)
			// The writer counts columns of what it wraps: the colour comes afterwards.
			start := b.Len()
			b.Paragraph(first(f.Place), further, severity+" "+f.Rule+": "+message(f))
			paint(b, start, severity, terminal.Grade(f.Severity.Rank()))
			next := i + 1
			if next == len(g.findings) || g.findings[next].Line != f.Line || g.findings[next].Column != f.Column {
				excerpt(b, lines, f.Place, further)
			}
			if next == len(g.findings) || g.findings[next].Fix != f.Fix || g.findings[next].Line != f.Line {
				b.Paragraph(further+"→ ", further+"  ", phrase.Clean(f.Fix))
			}
		}
		for _, v := range g.values {
			b.Wrap(b.Style(terminal.Dim, first(v.Place)), further, value(v), terminal.Dim)
		}
	}
	if len(r.Findings)+len(r.Values) > 0 {
		b.Gap()
	}
}

// paint gives the first occurrence of a word, in what was written since, a style.
func paint(b *terminal.Writer, since int, word, style string) {
	text := string(b.Bytes()[since:])
	b.Truncate(since)
	b.WriteString(strings.Replace(text, word, b.Style(style, word), 1))
}

func within(p rule.Place) string { return strings.TrimPrefix(at("", p.Line, p.Column), ":") }

const tabbed = "    "

// excerpt is a line with a caret below a column: of Go in bytes, of other files in characters.
func excerpt(b *terminal.Writer, lines []string, p rule.Place, indent string) {
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 {
		return
	}
	line := strings.TrimRight(lines[p.Line-1], "\r \t")
	before, rest := line, ""
	characters, bytes := 1, strings.HasSuffix(p.Path, ".go")
	for i := range line {
		if bytes && i+1 == p.Column || !bytes && characters == p.Column {
			before, rest = line[:i], line[i:]
			break
		}
		characters++
	}
	if strings.TrimSpace(line) == "" {
		return
	}
	show := func(s string) string { return phrase.Clean(strings.ReplaceAll(s, "\t", tabbed)) }
	before, rest = show(before), show(rest)
	number := fmt.Sprint(p.Line)
	room := b.Width - ansi.StringWidth(indent+number+" | ")
	wide := ansi.StringWidth(before)
	if most := room * 2 / 3; wide > most {
		before = ansi.TruncateLeft(before, wide-most+1, "…")
		wide = ansi.StringWidth(before)
	}
	rest = ansi.Truncate(rest, max(0, room-wide), "…")
	bar := func(label string) string { return indent + b.Style(terminal.Dim, label+" | ") }
	b.Line(bar(number) + before + rest)
	b.Line(bar(strings.Repeat(" ", len(number))) + strings.Repeat(" ", wide) + b.Style(terminal.Bold, "^"))
}
