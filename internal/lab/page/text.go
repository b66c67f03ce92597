package page

import (
	"io"
	"path"
	"strings"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/text"
)

// Text writes a lab run's outcome.
func Text(out io.Writer, v *Lab, o text.Options) error {
	w := &terminalWriter{terminal.NewWriter(o.Width, o.Color)}
	for i := range v.Experiments {
		w.experiment(&v.Experiments[i], len(v.Experiments) <= mostWithTables)
		w.Gap()
	}
	w.Wrap("", "", v.Sentence, terminal.Bold)
	for _, s := range []string{v.Progress, v.Disturbed} {
		if s != "" {
			w.Paragraph(w.Style(terminal.Yellow, "! "), "  ", s)
		}
	}
	text.Paths(w.Writer, o.Files)
	_, err := out.Write(w.Bytes())
	return err
}

type terminalWriter struct{ *terminal.Writer }

// mostWithTables is how many experiments a run has at most whose figures are all
// printed. Those by Go version always are: they are in a document's own notation.
const mostWithTables = 2

func (w *terminalWriter) experiment(e *Experiment, tables bool) {
	w.Paragraph(w.Style(terminal.Cyan+";"+terminal.Bold, e.ID)+"  ", strings.Repeat(" ", len(e.ID)+2), e.Title+" ("+e.Document+")")
	if e.Note != "" {
		w.Wrap("    ", "    ", e.Note, terminal.Dim)
	}
	if e.NotRun != "" {
		w.Paragraph(w.Style(terminal.Yellow, "  ! "), "    ", "not run: "+e.NotRun)
		return
	}
	for _, h := range e.Hypotheses {
		w.hypothesis(h)
	}
	for _, f := range e.Files {
		w.Line("  → " + path.Join(e.ID, f.Value) + "  " + w.Style(terminal.Dim, f.Name))
	}
	for i, s := range e.Stages {
		if i > 0 && (e.Versions || tables) {
			w.Gap()
		}
		for _, n := range s.Notes {
			if s.Title != "" {
				n = s.Title + ": " + n
			}
			w.Wrap("  · ", "    ", n, terminal.Dim)
		}
		if !e.Versions && !tables {
			continue
		}
		for _, f := range s.Tables() {
			w.Gap()
			if title := strings.ToUpper(f.Title); s.Title != "" && !e.Versions {
				w.Wrap("", "", s.Title+": "+f.Title, terminal.Bold)
			} else {
				w.Line(title)
			}
			text.Table(w.Writer, f.Table)
		}
	}
}

func (w *terminalWriter) hypothesis(h Hypothesis) {
	sign := "?"
	switch h.State {
	case page.OK:
		sign = "✓"
	case page.Attention:
		sign = "✗"
	}
	first := "  " + w.Style(text.StateColor(h.State), sign+" "+terminal.Pad(h.Label, 16, true)) + "  "
	further := strings.Repeat(" ", 22)
	w.Paragraph(first, further, h.Says)
	line := "here " + h.Here
	if h.Wanted != "" {
		line += "; wanted " + h.Wanted
	}
	if h.Document != "" {
		line += "; document: " + h.Document
	}
	w.Wrap(further, further, line, terminal.Dim)
	if h.Reason != "" {
		w.Wrap(further, further, h.Reason, terminal.Dim)
	}
}
