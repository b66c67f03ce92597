package page

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/sched"
	"github.com/procfit/procfit/test/must"
)

func analyse(log io.Reader) *sched.Summary { return sched.Analyse(sched.NewScanner(log)) }

func read(t *testing.T, log string) []byte {
	t.Helper()
	return must.Get(os.ReadFile("../testdata/" + log + ".log"))(t)
}

var logs = []string{"go1.27.1-plain", "go1.27.1-detail", "go1.2.2-plain", "go1.26.8-gorun", "go1.27.1-chatty"}

func asText(t *testing.T, log string, o text.Options) string {
	t.Helper()
	s := analyse(bytes.NewReader(read(t, log)))
	var b bytes.Buffer
	must.OK(t, text.Render(&b, Brief(log, s, sched.Readings(s)), o))
	return b.String()
}

func TestText(t *testing.T) {
	for _, log := range logs {
		documenttest.Golden(t, log+".txt", []byte(asText(t, log, text.Options{})))
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	for _, log := range logs {
		for _, width := range []int{36, 47, 60, 80, 100, 120} {
			for i, line := range strings.Split(asText(t, log, text.Options{Width: width}), "\n") {
				if n := utf8.RuneCountInString(line); n > width && strings.Contains(line, " ") && !strings.Contains(line, `\`) {
					t.Errorf("%s, width %d, line %d has %d columns: %s", log, width, i+1, n, line)
				}
			}
		}
	}
}
