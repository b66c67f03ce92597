package page

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func TestMarkdown(t *testing.T) {
	pagetest.Golden(t, "lab.md", markdown.Render(New(madeLab()).Results()))
	for line := range strings.Lines(string(markdown.Render(New(hostileLab()).Results()))) {
		if strings.HasPrefix(line, "procfit lab ") || strings.HasPrefix(line, "procfit sweep ") {
			continue // in a code block
		}
		if strings.HasPrefix(line, "# heading") || strings.Contains(line, "<script") || strings.Contains(line, "](javascript") && !strings.Contains(line, `\]`) {
			t.Errorf("hostile text is Markdown: %s", line)
		}
	}
}
