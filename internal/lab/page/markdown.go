package page

import (
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/verdict/page/markdown"
)

// Markdown writes a lab run's outcome, all experiments in one.
func Markdown(out io.Writer, v *Lab) error {
	w := &markdownWriter{}
	w.printf("# The documents' experiments, here\n\n%s\n\n**%s**\n", markdown.Escape(v.Started), markdown.Escape(v.Sentence))
	for _, s := range []string{v.Progress, v.Disturbed} {
		if s != "" {
			w.printf("\n**%s**\n", markdown.Escape(s))
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

type markdownWriter struct{ markdown.Writer }

func (w *markdownWriter) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *markdownWriter) experiment(e *Experiment) {
	w.printf("\n## %s\n\nFrom %s: %s.", markdown.Escape(e.ID), markdown.Escape(e.Document), markdown.Escape(e.Title))
	if e.Claim != "" {
		w.printf(" Its result: %s.", markdown.Escape(e.Claim))
	}
	w.printf("\n")
	for _, s := range []string{e.Note, e.NotRun} {
		if s != "" {
			w.printf("\n*%s*\n", markdown.Escape(s))
		}
	}
	if len(e.Hypotheses) > 0 && e.NotRun == "" {
		w.printf("\n| hypothesis | document | here | wanted | answer |\n|---|---|---|---|---|\n")
		for _, h := range e.Hypotheses {
			answer := h.Label
			if h.Reason != "" {
				answer += ": " + h.Reason
			}
			w.printf("| %s | %s | %s | %s | %s |\n", markdown.Escape(h.Says), markdown.Escape(h.Document), markdown.Escape(h.Here), markdown.Escape(h.Wanted), markdown.Escape(answer))
		}
	}
	for _, f := range e.Files {
		w.printf("\n[%s](%s)\n", markdown.Escape(f.Name), markdown.Escape(e.ID+"/"+f.Value))
	}
	for _, s := range e.Stages {
		if s.Title != "" {
			w.printf("\n### %s\n", markdown.Escape(s.Title))
		}
		for _, n := range s.Notes {
			w.printf("\n*%s*\n", markdown.Escape(n))
		}
		for _, f := range s.Tables() {
			w.printf("\n%s:\n", markdown.Escape(f.Title))
			w.Table(f.Table)
		}
	}
}
