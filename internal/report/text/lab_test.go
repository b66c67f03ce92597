package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/report"
	"github.com/procfit/procfit/internal/report/reporttest"
)

func renderLab(t *testing.T, o *lab.Outcome, options Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := RenderLab(&b, report.NewLab(o), options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLab(t *testing.T) {
	reporttest.Golden(t, "lab.txt", []byte(renderLab(t, reporttest.Lab(), Options{Width: 80, Files: []string{"results/lab/index.html"}})))
	for _, width := range []int{48, 80, 120} {
		for i, line := range strings.Split(renderLab(t, reporttest.Lab(), Options{Width: width}), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("width %d, line %d has %d columns: %s", width, i+1, n, line)
			}
		}
	}
	for _, r := range renderLab(t, reporttest.HostileLab(), Options{}) {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q reaches the terminal", r)
		}
	}
}
