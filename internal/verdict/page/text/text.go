package text

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/page"
)

// Options is what only the caller knows of the terminal and the files.
type Options struct {
	Width int // columns; 0 is 80
	// Height is the terminal's lines; 0: there is none. On a terminal the curves, the
	// paths and the answer come last, in a form that they fit in.
	Height int
	Color  bool // ANSI colours
	// Files are the paths to end with, most useful first.
	Files []string
}

type writer struct {
	*terminal.Writer
	files  []string
	height int
}

// Render writes the view.
func Render(out io.Writer, v *page.View, o Options) error {
	w := &writer{terminal.NewWriter(o.Width, o.Color), o.Files, o.Height}
	w.view(v)
	_, err := out.Write(w.Bytes())
	return err
}

func (w *writer) view(v *page.View) {
	w.verdict(v.Verdict)
	if v.Progress != "" {
		w.Gap()
		w.Paragraph(w.Style(terminal.Yellow, "! "), "  ", v.Progress)
	}
	if v.Gate != nil {
		w.Gap()
		if v.Gate.Sentence != "" {
			w.Line(w.Style(StateColor(v.Gate.State)+";"+terminal.Bold, strings.ToUpper(v.Gate.Label)))
			w.Wrap("", "", v.Gate.Sentence, terminal.Bold)
			w.Gap()
		}
		w.table(v.Gate.Table)
	}
	foot := w.footOf(v)
	if v.Summary != nil && foot.summary == nil {
		w.Gap()
		w.table(*v.Summary)
	}
	for i := range v.Groups {
		w.group(&v.Groups[i], len(v.Groups) > 1, foot)
	}
	w.warnings(v.Warnings)
	w.foot(foot, v)
}

// last is the answer again, where the eye is when the prompt is back; and where there is
// none yet, the command that goes on.
func (w *writer) last(v page.Verdict) {
	if v.Answer.Text == "" {
		return
	}
	w.Gap()
	w.Wrap("", "", v.Answer.Text, StateColor(v.State)+";"+terminal.Bold)
	w.Wrap("", "", v.Answer.Plain, "")
	for _, a := range v.Settle {
		if a.Command != "" {
			w.Wrap("", "", "Next, "+a.Text+":", "")
			w.Line(w.Style(terminal.Bold, a.Command))
			return
		}
	}
}

// Paths ends w with those of the files, most useful first.
func Paths(w *terminal.Writer, files []string) { (&writer{Writer: w}).paths(files) }

func (w *writer) paths(files []string) {
	if len(files) > 0 {
		w.Gap()
		for _, f := range files {
			w.Line(w.Style(terminal.Dim, "→ ") + f)
		}
	}
}

func (w *writer) verdict(v page.Verdict) {
	w.Line(w.Style(StateColor(v.State)+";"+terminal.Bold, strings.ToUpper(v.Label)))
	w.Wrap("", "", v.Sentence, terminal.Bold)
	for _, r := range v.Reasons {
		w.Paragraph("  · ", "    ", r)
	}
	if len(v.Settle) > 0 {
		w.Paragraph("  What would settle it:", "", "")
		for _, s := range v.Settle {
			w.advice(s)
		}
	}
	if v.Context != "" {
		w.Wrap("  ", "  ", v.Context, terminal.Dim)
	}
}

// advice has its command on a line of its own, however long: a terminal wraps it, and it
// is copied as one.
func (w *writer) advice(a page.Advice) {
	if a.Command == "" {
		w.Paragraph("  · ", "    ", a.Text)
		return
	}
	w.Paragraph("  · ", "    ", a.Text+":")
	w.Line("    " + w.Style(terminal.Bold, a.Command))
}

func (w *writer) group(g *page.Group, titled bool, foot foot) {
	w.Gap()
	if titled {
		if rule := w.Width - utf8.RuneCountInString(g.Title) - 4; rule >= 0 {
			w.Line(w.Style(terminal.Dim, "── ") + w.Style(terminal.Bold, g.Title) + " " + w.Style(terminal.Dim, strings.Repeat("─", rule)))
		} else {
			w.Wrap(w.Style(terminal.Dim, "── "), "   ", g.Title, terminal.Bold)
		}
		w.verdict(g.Verdict)
		w.Gap()
	}
	if foot.group != g {
		w.charts(g)
	}
	if !bare(g.Table) {
		w.table(g.Table)
	}
	if g.Metrics != nil {
		w.Gap()
		w.table(*g.Metrics)
	}
	if g.Requests != nil {
		w.Gap()
		w.table(*g.Requests)
	}
	w.warnings(g.Warnings)
}

func (w *writer) warnings(list []page.Warning) {
	if len(list) > 0 {
		w.Gap()
	}
	for _, x := range list {
		message := x.Message
		if x.Setting != "" {
			message = x.Setting + ": " + message
		}
		w.Paragraph(w.Style(terminal.Yellow, "! "), "  ", message)
		if x.Fix != "" {
			w.Wrap("  ", "  ", x.Fix, terminal.Dim)
		}
	}
}

// StateColor is the colour of an answer.
func StateColor(s page.State) string {
	switch s {
	case page.OK:
		return terminal.Green
	case page.Act:
		return terminal.Cyan
	case page.Attention:
		return terminal.Yellow
	}
	return terminal.Bold
}
