package text

import (
	"io"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/page"
)

// RenderCanary writes what a canary came to.
func RenderCanary(out io.Writer, v *page.Canary, o Options) error {
	w := &writer{Writer: terminal.NewWriter(o.Width, o.Color), files: o.Files}
	w.verdict(v.Verdict)
	if len(v.Table.Rows) > 0 {
		w.Gap()
		w.table(v.Table)
	}
	for i := range v.Charts {
		if len(v.Charts[i].Categories) <= mostSlices {
			w.Gap()
			w.chart(&v.Charts[i])
		}
	}
	w.warnings(v.Warnings)
	w.paths(w.files)
	_, err := out.Write(w.Bytes())
	return err
}

// mostSlices is how many lines a chart over time may take of a terminal.
const mostSlices = 24
