package text

import (
	"io"
	"path"
	"strings"

	"github.com/procfit/procfit/internal/report"
	"github.com/procfit/procfit/internal/terminal"
)

// RenderLab writes a lab run's outcome.
func RenderLab(out io.Writer, v *report.Lab, o Options) error {
	w := &writer{terminal.NewWriter(o.Width, o.Color), o.Files}
	for i := range v.Experiments {
		w.experiment(&v.Experiments[i])
		w.Gap()
	}
	w.Wrap("", "", v.Sentence, terminal.Bold)
	for _, s := range []string{v.Progress, v.Disturbed} {
		if s != "" {
			w.Paragraph(w.Style(terminal.Yellow, "! "), "  ", s)
		}
	}
	w.paths()
	_, err := out.Write(w.Bytes())
	return err
}

func (w *writer) experiment(e *report.Experiment) {
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
	for _, s := range e.Stages {
		for _, n := range s.Notes {
			if s.Title != "" {
				n = s.Title + ": " + n
			}
			w.Wrap("  · ", "    ", n, terminal.Dim)
		}
		if !e.Versions {
			continue
		}
		for _, r := range s.Rows {
			w.Gap()
			w.Line(strings.ToUpper(r.Title))
			w.table(r.Table)
		}
	}
}

func (w *writer) hypothesis(h report.Hypothesis) {
	sign := "?"
	switch h.State {
	case report.OK:
		sign = "✓"
	case report.Attention:
		sign = "✗"
	}
	first := "  " + w.Style(stateColor(h.State), sign+" "+terminal.Pad(h.Label, 16, true)) + "  "
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
