package page

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/test/must"
)

func renderLab(t *testing.T, o *lab.Outcome, options text.Options) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, text.Render(&b, Brief(o), options))
	return b.String()
}

func TestText(t *testing.T) {
	documenttest.Golden(t, "lab.txt", []byte(renderLab(t, madeLab(), text.Options{Width: 80, Files: []string{"results/lab/index.html"}})))
	for _, width := range []int{48, 80, 120} {
		for i, line := range strings.Split(renderLab(t, madeLab(), text.Options{Width: width}), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("width %d, line %d has %d columns: %s", width, i+1, n, line)
			}
		}
	}
	for _, r := range renderLab(t, hostileLab(), text.Options{}) {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q reaches the terminal", r)
		}
	}
}
