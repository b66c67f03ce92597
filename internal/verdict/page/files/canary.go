package files

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/html"
	"github.com/procfit/procfit/internal/verdict/page/markdown"
)

// WriteCanary renders what a canary came to into its directory and returns the paths, the
// one to open first at the head.
func WriteCanary(dir string, r *canary.Result) ([]string, error) {
	v := page.NewCanary(r)
	var document, results bytes.Buffer
	if err := html.RenderCanary(&document, v); err != nil {
		return nil, err
	}
	if err := markdown.RenderCanary(&results, v); err != nil {
		return nil, err
	}
	result, err := CanaryJSON(r)
	if err != nil {
		return nil, err
	}
	return folder.Write(dir,
		folder.File{Name: "report.html", Mode: folder.Shared, Content: document.Bytes()},
		folder.File{Name: "RESULTS.md", Mode: folder.Shared, Content: results.Bytes()},
		folder.File{Name: "result.json", Mode: folder.Shared, Content: result})
}

// CanaryJSON is result.json.
func CanaryJSON(r *canary.Result) ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the canary's result as JSON: %w", err)
	}
	return append(b, '\n'), nil
}
