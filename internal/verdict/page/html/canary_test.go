package html

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
	document := b.String()
	for _, want := range []string{
		"Under this traffic GOMAXPROCS 1 is better than unset", "p99, GOMAXPROCS 1", "p99, GOMAXPROCS 2", `aria-label="slice 8: the control, unset 0.0`,
		"it is what unset comes to here", "api (18 endpoints)", "HorizontalPodAutoscaler api", "procfit sweep --kube deployment/api --canary",
	} {
		if !strings.Contains(document, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(document, "GOMAXPROCS 8:") {
		t.Error("a slice is called a value of GOMAXPROCS")
	}
	if strings.Contains(document, `class="end"`) {
		t.Error("a name stands at the end of a line, where it runs out of the page")
	}
	b.Reset()
	if err := RenderCanary(&b, page.NewCanary(pagetest.HostileCanary())); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script>") || strings.Contains(b.String(), "\x1b") {
		t.Error("markup of others' reaches the page")
	}
}
