package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func renderLab(t *testing.T, o *lab.Outcome, options Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := RenderLab(&b, page.NewLab(o), options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLab(t *testing.T) {
	pagetest.Golden(t, "lab.txt", []byte(renderLab(t, pagetest.Lab(), Options{Width: 80, Files: []string{"results/lab/index.html"}})))
	for _, width := range []int{48, 80, 120} {
		for i, line := range strings.Split(renderLab(t, pagetest.Lab(), Options{Width: width}), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("width %d, line %d has %d columns: %s", width, i+1, n, line)
			}
		}
	}
	for _, r := range renderLab(t, pagetest.HostileLab(), Options{}) {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q reaches the terminal", r)
		}
	}
}
