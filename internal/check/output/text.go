package output

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// writeText is for people: on a terminal by file, elsewhere in lines as of a compiler.
func writeText(w io.Writer, r *check.Report, o Options) error {
	b := &terminal.Writer{}
	if o.Width > 0 {
		b = terminal.NewWriter(o.Width, o.Color)
		writeGroups(b, r, o)
	} else {
		writeLines(b, r, o)
	}
	writeRest(b, r)
	if !o.Quiet {
		b.Folded(summary(r, o), "")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeLines has each value before what is found of its program.
func writeLines(b *terminal.Writer, r *check.Report, o Options) {
	findings := r.Findings
	until := func(v *check.Value) {
		for len(findings) > 0 && (v == nil || before(findings[0].Place, v.Place)) {
			// Where several of a line have the same fix, it follows the last of them.
			same := len(findings) > 1 && findings[0].Fix == findings[1].Fix && findings[0].Path == findings[1].Path && findings[0].Line == findings[1].Line &&
				(v == nil || before(findings[1].Place, v.Place))
			f := findings[0]
			b.Line(fmt.Sprintf("%s: %s %s: %s", at(f.Path, f.Line, f.Column), f.Rule, f.Severity, message(f)))
			if !same {
				b.Line("    → " + phrase.Clean(f.Fix))
			}
			findings = findings[1:]
		}
	}
	for i, v := range r.Values {
		if v.Go || o.Values {
			until(&r.Values[i])
			b.Line(fmt.Sprintf("%s: %s", at(v.Path, v.Line, v.Column), value(v)))
		}
	}
	until(nil)
}

func writeRest(b *terminal.Writer, r *check.Report) {
	const indent = "    "
	for _, n := range r.Notes {
		b.Folded(shown(n.Path)+": "+phrase.Clean(n.Message), indent)
	}
	for _, p := range r.Problems {
		message := phrase.Clean(p.Message)
		if !p.Unwritten {
			message = b.Style(terminal.Grade(0), failed(p)) + ": " + message
		}
		b.Folded(at(p.Path, p.Line, p.Column)+": "+message, indent)
	}
	for _, f := range r.Fixed {
		b.Line(fmt.Sprintf("%s: %s: %s", shown(f.Path), phrase.If(f.Written, "fixed", "would be fixed"), phrase.And(ids(f.Findings))))
		for _, line := range changed(f) {
			b.Line(indent + phrase.Clean(line))
		}
	}
}

func before(a, b rule.Place) bool {
	if a.Path != b.Path {
		return a.Path < b.Path
	}
	if a.Line == 0 && b.Line == 0 { // programs in an archive
		return a.Object < b.Object
	}
	return a.Line < b.Line
}

func value(v check.Value) string {
	return phrase.Join(": ", who(v.Place), "GOMAXPROCS "+phrase.Clean(v.Text), phrase.Clean(v.Source))
}

func ids(findings []check.Finding) []string {
	return rule.IDs(phrase.Each(findings, func(f check.Finding) rule.Finding { return f.Finding }))
}

// changed are the lines that a fix removed and wrote, with their signs.
func changed(f check.Fixed) (lines []string) {
	body := false // below the header, which has signs too
	for _, line := range strings.Split(string(diff.Diff(f.Path, f.Before, f.Path, f.After)), "\n") {
		body = body || strings.HasPrefix(line, "@@")
		if body && (strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+")) {
			lines = append(lines, line)
		}
	}
	return lines
}

// unfixable counts the findings whose fix is not only unwritten.
func unfixable(r *check.Report) (n int) {
	for _, f := range r.Findings {
		unwritten := slices.ContainsFunc(r.Problems, func(p check.Problem) bool { return p.Unwritten && p.Path == f.Path })
		if f.Change == nil || !unwritten {
			n++
		}
	}
	return n
}

const mostNamed = 3

// firstOf names the first containers.
func firstOf(others []check.Value) string {
	var names []string
	for _, v := range others[:min(len(others), mostNamed)] {
		name := phrase.Clean(cmp.Or(v.Container, v.Object, shown(v.Path)))
		of := phrase.If(v.Container == "" && v.Object == "image", shown(v.Path), phrase.If(v.Container != "", phrase.Clean(v.Object), ""))
		names = append(names, phrase.Join(" of ", name, of))
	}
	if more := len(others) - len(names); more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return phrase.And(names)
}

func onlyOthers(r *check.Report, others []check.Value) bool {
	paths := map[string]bool{}
	for _, v := range others {
		paths[v.Path] = true
	}
	return len(paths) > 0 && len(paths) >= r.Files
}

func summary(r *check.Report, o Options) string {
	var found []string
	var others []check.Value // which are not known to run Go
	open, unjudged := 0, 0
	for _, v := range r.Values {
		switch {
		case v.Unjudged != "":
			unjudged++
		case v.Go && v.Open != "":
			open++
		case !v.Go && !o.Values:
			others = append(others, v)
		}
	}
	for _, s := range rule.Severities() {
		if n := r.Count(s); n > 0 {
			found = append(found, phrase.Count(n, string(s)))
		}
	}
	some := func(n int, one, many, rest string) string {
		if n == 0 {
			return ""
		}
		return phrase.CountOf(n, one, many) + rest
	}
	noun, lacking := cmp.Or(r.Noun, "file"), 0
	if o.Fix {
		lacking = unfixable(r)
	}
	head, result := phrase.Count(r.Files, noun)+" checked: ", phrase.And(found)
	switch {
	case r.Files == 0:
		head, result = "no "+noun+"s checked", ""
	case len(found) > 0 || open > 0: // what was not understood is not fine
	case onlyOthers(r, others):
		result = "nothing judged"
	default:
		result = "nothing found"
	}
	return phrase.Join("; ", head+phrase.Join("; ", result, some(open, "value is", "values are", " open")),
		some(lacking, "finding has", "findings have", " no safe fix: → says what to do"),
		some(len(r.Ignored), "suppressed", "suppressed", ""),
		r.Failed(),
		some(len(r.Others), "file of YAML or JSON holds", "files of YAML and JSON hold", " no manifest"),
		some(len(others), "container is", "containers are", " not known to run Go and not judged: "+firstOf(others)+" (--go VERSION judges all containers)"),
		some(unjudged, "container is", "containers are", " not judged (--values shows why)"))
}

type group struct {
	path     string
	findings []check.Finding
	values   []check.Value
}

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
