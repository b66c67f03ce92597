package markdown

import (
	"bytes"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/report"
	"github.com/procfit/procfit/internal/report/reporttest"
)

func TestCanary(t *testing.T) {
	var b bytes.Buffer
	if err := RenderCanary(&b, report.NewCanary(reporttest.Canary())); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "canary.md", b.Bytes())
	b.Reset()
	if err := RenderCanary(&b, report.NewCanary(reporttest.HostileCanary())); err != nil {
		t.Fatal(err)
	}
	if text := outside(t, b.String()); strings.Contains(text, "<script>") || strings.Contains(text, "\x1b") {
		t.Error("markup of others' reaches the page")
	}
}
