package markdown

import (
	"bytes"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func TestLab(t *testing.T) {
	var b bytes.Buffer
	if err := RenderLab(&b, page.NewLab(pagetest.Lab())); err != nil {
		t.Fatal(err)
	}
	pagetest.Golden(t, "lab.md", b.Bytes())
	b.Reset()
	if err := RenderLab(&b, page.NewLab(pagetest.HostileLab())); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "procfit lab ") || strings.HasPrefix(line, "procfit sweep ") {
			continue // in a code block
		}
		if strings.HasPrefix(line, "# heading") || strings.Contains(line, "<script") || strings.Contains(line, "](javascript") && !strings.Contains(line, `\]`) {
			t.Errorf("hostile text is Markdown: %s", line)
		}
	}
}
