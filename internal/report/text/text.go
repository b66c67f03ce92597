package text

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/report"
)

// Options is what only the caller knows of the terminal and the files.
type Options struct {
	Width int  // columns; below minWidth it is minWidth, 0 is defaultWidth
	Color bool // ANSI colours
	// Files are the paths to end with, most useful first.
	Files []string
}

const (
	defaultWidth = 80
	minWidth     = 36  // an arm's name, a figure, and a plot that still shows an order
	maxWidth     = 120 // beyond it lines are only harder to follow
)

// ANSI SGR parameters. Only the eight basic colours: the terminal's theme chooses
// them to be readable on its background.
const (
	bold   = "1"
	dim    = "2"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

type writer struct {
	bytes.Buffer
	Options
}

// Render writes the view.
func Render(out io.Writer, v *report.View, o Options) error {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	o.Width = min(maxWidth, max(minWidth, o.Width))
	w := &writer{Options: o}
	w.view(v)
	_, err := out.Write(w.Bytes())
	return err
}

func (w *writer) view(v *report.View) {
	w.verdict(v.Verdict)
	if v.Progress != "" {
		w.gap()
		w.paragraph(w.style(yellow, "! "), "  ", v.Progress)
	}
	if v.Gate != nil {
		w.gap()
		if v.Gate.Sentence != "" {
			w.line(w.style(stateColor(v.Gate.State)+";"+bold, strings.ToUpper(v.Gate.Label)))
			w.wrap("", "", v.Gate.Sentence, bold)
			w.gap()
		}
		w.table(v.Gate.Table)
	}
	if v.Summary != nil {
		w.gap()
		w.table(*v.Summary)
	}
	for i := range v.Groups {
		w.group(&v.Groups[i], len(v.Groups) > 1)
	}
	w.warnings(v.Warnings)
	if len(w.Files) > 0 {
		w.gap()
		for _, f := range w.Files {
			w.line(w.style(dim, "→ ") + f)
		}
	}
}

func (w *writer) verdict(v report.Verdict) {
	w.line(w.style(stateColor(v.State)+";"+bold, strings.ToUpper(v.Label)))
	w.wrap("", "", v.Sentence, bold)
	for _, r := range v.Reasons {
		w.paragraph("  · ", "    ", r)
	}
	if len(v.Settle) > 0 {
		w.paragraph("  What would settle it:", "", "")
		for _, s := range v.Settle {
			w.paragraph("  · ", "    ", s)
		}
	}
	if v.Context != "" {
		w.wrap("  ", "  ", v.Context, dim)
	}
}

func (w *writer) group(g *report.Group, titled bool) {
	w.gap()
	if titled {
		if rule := w.Width - utf8.RuneCountInString(g.Title) - 4; rule >= 0 {
			w.line(w.style(dim, "── ") + w.style(bold, g.Title) + " " + w.style(dim, strings.Repeat("─", rule)))
		} else {
			w.wrap(w.style(dim, "── "), "   ", g.Title, bold)
		}
		w.verdict(g.Verdict)
		w.gap()
	}
	for _, c := range []*report.Chart{g.Throughput, g.Latency} {
		if c != nil {
			w.chart(c)
			w.gap()
		}
	}
	if !bare(g.Table) {
		w.table(g.Table)
	}
	if g.Metrics != nil {
		w.gap()
		w.table(*g.Metrics)
	}
	w.warnings(g.Warnings)
}

func (w *writer) warnings(list []report.Warning) {
	if len(list) > 0 {
		w.gap()
	}
	for _, x := range list {
		message := x.Message
		if x.Arm != "" {
			message = x.Arm + ": " + message
		}
		w.paragraph(w.style(yellow, "! "), "  ", message)
		if x.Fix != "" {
			w.wrap("  ", "  ", x.Fix, dim)
		}
	}
}

func (w *writer) line(s string) { w.WriteString(strings.TrimRight(s, " ") + "\n") }

// gap is one empty line, however many parts in a row want one.
func (w *writer) gap() {
	if !bytes.HasSuffix(w.Bytes(), []byte("\n\n")) {
		w.WriteByte('\n')
	}
}

// paragraph wraps text behind a first prefix and further ones; prefixes may hold
// colour, and have the same width.
func (w *writer) paragraph(first, further, text string) { w.wrap(first, further, text, "") }

func (w *writer) wrap(first, further, text, style string) {
	width := w.Width - utf8.RuneCountInString(further)
	prefix := first
	line := ""
	flush := func() {
		w.line(prefix + w.style(style, line))
		prefix, line = further, ""
	}
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			flush()
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" || text == "" {
		flush()
	}
}

func (w *writer) style(codes, s string) string {
	if !w.Color || s == "" || codes == "" {
		return s
	}
	return "\x1b[" + codes + "m" + s + "\x1b[0m"
}

func stateColor(s report.State) string {
	switch s {
	case report.OK:
		return green
	case report.Act:
		return cyan
	case report.Attention:
		return yellow
	}
	return bold
}
