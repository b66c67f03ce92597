package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func renderCanary(t *testing.T, r *canary.Result, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := RenderCanary(&b, page.NewCanary(r), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCanary(t *testing.T) {
	pagetest.Golden(t, "canary.txt", []byte(renderCanary(t, pagetest.Canary(), Options{Width: 100, Files: []string{"results/api/report.html"}})))
	for _, width := range []int{48, 80, 120} {
		for i, line := range strings.Split(renderCanary(t, pagetest.Canary(), Options{Width: width}), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("width %d, line %d has %d columns: %s", width, i+1, n, line)
			}
		}
	}
	for _, r := range renderCanary(t, pagetest.HostileCanary(), Options{}) {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q reaches the terminal", r)
		}
	}
}
