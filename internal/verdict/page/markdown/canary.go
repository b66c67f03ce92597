package markdown

import (
	"io"

	"github.com/procfit/procfit/internal/verdict/page"
)

// RenderCanary writes what a canary came to.
func RenderCanary(out io.Writer, v *page.Canary) error {
	w := &Writer{}
	w.printf("# GOMAXPROCS of %s under its own traffic\n\n%s\n\n## %s\n\n%s\n", Escape(v.Name), Escape(v.Started), Escape(v.Verdict.Sentence), Escape(v.Verdict.Context))
	if len(v.Verdict.Reasons) > 0 {
		w.list(v.Verdict.Reasons)
	}
	if len(v.Verdict.Settle) > 0 {
		w.printf("\nWhat would settle it:\n\n")
		for _, a := range v.Verdict.Settle {
			w.printf("- %s\n", Escape(a.Text))
		}
	}
	if len(v.Table.Rows) > 0 {
		w.printf("\n## All figures\n")
		w.Table(v.Table)
	}
	w.warnings("## Warnings", v.Warnings)
	w.printf("\n## Environment\n\n| | |\n|---|---|\n")
	w.Pairs(v.Environment)
	w.printf("\nThe command:\n")
	w.Code("sh", v.Command)
	_, err := out.Write(w.Bytes())
	return err
}
