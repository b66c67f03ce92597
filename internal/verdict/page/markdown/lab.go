package markdown

import (
	"io"

	"github.com/procfit/procfit/internal/verdict/page"
)

// RenderLab writes a lab run's outcome, all experiments in one.
func RenderLab(out io.Writer, v *page.Lab) error {
	w := &writer{}
	w.printf("# The documents' experiments, here\n\n%s\n\n**%s**\n", escape(v.Started), escape(v.Sentence))
	for _, s := range []string{v.Progress, v.Disturbed} {
		if s != "" {
			w.printf("\n**%s**\n", escape(s))
		}
	}
	for i := range v.Experiments {
		w.experiment(&v.Experiments[i])
	}
	w.printf("\n## Environment\n\n| | |\n|---|---|\n")
	w.pairs(v.Environment)
	w.printf("\nThe command:\n")
	w.code("sh", v.Command)
	_, err := out.Write(w.Bytes())
	return err
}

func (w *writer) experiment(e *page.Experiment) {
	w.printf("\n## %s\n\nFrom %s: %s.", escape(e.ID), escape(e.Document), escape(e.Title))
	if e.Claim != "" {
		w.printf(" Its result: %s.", escape(e.Claim))
	}
	w.printf("\n")
	for _, s := range []string{e.Note, e.NotRun} {
		if s != "" {
			w.printf("\n*%s*\n", escape(s))
		}
	}
	if len(e.Hypotheses) > 0 && e.NotRun == "" {
		w.printf("\n| hypothesis | document | here | wanted | answer |\n|---|---|---|---|---|\n")
		for _, h := range e.Hypotheses {
			answer := h.Label
			if h.Reason != "" {
				answer += ": " + h.Reason
			}
			w.printf("| %s | %s | %s | %s | %s |\n", escape(h.Says), escape(h.Document), escape(h.Here), escape(h.Wanted), escape(answer))
		}
	}
	for _, f := range e.Files {
		w.printf("\n[%s](%s)\n", escape(f.Name), escape(e.ID+"/"+f.Value))
	}
	for _, s := range e.Stages {
		if s.Title != "" {
			w.printf("\n### %s\n", escape(s.Title))
		}
		for _, n := range s.Notes {
			w.printf("\n*%s*\n", escape(n))
		}
		for _, f := range s.Tables() {
			w.printf("\n%s:\n", escape(f.Title))
			w.table(f.Table)
		}
	}
}
