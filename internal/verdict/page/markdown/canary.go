package markdown

import (
	"io"

	"github.com/procfit/procfit/internal/verdict/page"
)

// RenderCanary writes what a canary came to.
func RenderCanary(out io.Writer, v *page.Canary) error {
	w := &writer{}
	w.printf("# GOMAXPROCS of %s under its own traffic\n\n%s\n\n## %s\n\n%s\n", escape(v.Name), escape(v.Started), escape(v.Verdict.Sentence), escape(v.Verdict.Context))
	if len(v.Verdict.Reasons) > 0 {
		w.list(v.Verdict.Reasons)
	}
	if len(v.Table.Rows) > 0 {
		w.printf("\n## All figures\n")
		w.table(v.Table)
	}
	w.warnings("## Warnings", v.Warnings)
	w.printf("\n## Environment\n\n| | |\n|---|---|\n")
	w.pairs(v.Environment)
	w.printf("\nThe command:\n")
	w.code("sh", v.Command)
	_, err := out.Write(w.Bytes())
	return err
}
