package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, New(madeLab())); err != nil {
		t.Fatal(err)
	}
	pagetest.Golden(t, "lab.md", b.Bytes())
	b.Reset()
	if err := Markdown(&b, New(hostileLab())); err != nil {
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
