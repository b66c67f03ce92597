package markdown

import (
	"bytes"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func TestCanary(t *testing.T) {
	var b bytes.Buffer
	if err := RenderCanary(&b, page.NewCanary(pagetest.Canary())); err != nil {
		t.Fatal(err)
	}
	pagetest.Golden(t, "canary.md", b.Bytes())
	b.Reset()
	if err := RenderCanary(&b, page.NewCanary(pagetest.HostileCanary())); err != nil {
		t.Fatal(err)
	}
	if text := outside(t, b.String()); strings.Contains(text, "<script>") || strings.Contains(text, "\x1b") {
		t.Error("markup of others' reaches the page")
	}
}
