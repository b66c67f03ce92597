package markdown

import (
	"io"

	"github.com/procfit/procfit/internal/verdict/page"
)

// RenderLab writes a lab run's outcome, all experiments in one.
func RenderLab(out io.Writer, v *page.Lab) error {
	w := &Writer{}
	w.printf("# The documents' experiments, here\n\n%s\n\n**%s**\n", Escape(v.Started), Escape(v.Sentence))
	for _, s := range []string{v.Progress, v.Disturbed} {
		if s != "" {
			w.printf("\n**%s**\n", Escape(s))
		}
	}
	for i := range v.Experiments {
		w.experiment(&v.Experiments[i])
	}
	w.printf("\n## Environment\n\n| | |\n|---|---|\n")
	w.Pairs(v.Environment)
	w.printf("\nThe command:\n")
	w.Code("sh", v.Command)
	_, err := out.Write(w.Bytes())
	return err
}

func (w *Writer) experiment(e *page.Experiment) {
	w.printf("\n## %s\n\nFrom %s: %s.", Escape(e.ID), Escape(e.Document), Escape(e.Title))
	if e.Claim != "" {
		w.printf(" Its result: %s.", Escape(e.Claim))
	}
	w.printf("\n")
	for _, s := range []string{e.Note, e.NotRun} {
		if s != "" {
			w.printf("\n*%s*\n", Escape(s))
		}
	}
	if len(e.Hypotheses) > 0 && e.NotRun == "" {
		w.printf("\n| hypothesis | document | here | wanted | answer |\n|---|---|---|---|---|\n")
		for _, h := range e.Hypotheses {
			answer := h.Label
			if h.Reason != "" {
				answer += ": " + h.Reason
			}
			w.printf("| %s | %s | %s | %s | %s |\n", Escape(h.Says), Escape(h.Document), Escape(h.Here), Escape(h.Wanted), Escape(answer))
		}
	}
	for _, f := range e.Files {
		w.printf("\n[%s](%s)\n", Escape(f.Name), Escape(e.ID+"/"+f.Value))
	}
	for _, s := range e.Stages {
		if s.Title != "" {
			w.printf("\n### %s\n", Escape(s.Title))
		}
		for _, n := range s.Notes {
			w.printf("\n*%s*\n", Escape(n))
		}
		for _, f := range s.Tables() {
			w.printf("\n%s:\n", Escape(f.Title))
			w.Table(f.Table)
		}
	}
}
