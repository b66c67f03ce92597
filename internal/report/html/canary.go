package html

import (
	"io"

	"github.com/procfit/procfit/internal/report"
)

// RenderCanary writes what a canary came to as a page.
func RenderCanary(out io.Writer, v *report.Canary) error { return execute(out, "canary.html", v) }
