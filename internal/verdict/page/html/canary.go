package html

import (
	"io"

	"github.com/procfit/procfit/internal/verdict/page"
)

// RenderCanary writes what a canary came to as a page.
func RenderCanary(out io.Writer, v *page.Canary) error { return Execute(out, nil, "canary.html", v) }
