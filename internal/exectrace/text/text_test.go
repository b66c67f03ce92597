package text

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/exectrace"
	"github.com/procfit/procfit/internal/report/reporttest"
)

func read(t *testing.T, version string, o exectrace.Options) *exectrace.Trace {
	t.Helper()
	f, err := os.Open("../testdata/go" + version + ".trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := exectrace.Read(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func render(t *testing.T, tr *exectrace.Trace, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, tr, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	reporttest.Golden(t, "go1.27.1.txt", []byte(render(t, read(t, "1.27.1", exectrace.Options{}), Options{Files: []string{"trace.svg"}})))
	reporttest.Golden(t, "go1.21.13.txt", []byte(render(t, read(t, "1.21.13", exectrace.Options{}), Options{})))
	reporttest.Golden(t, "capped.txt", []byte(render(t, read(t, "1.27.1", exectrace.Options{MaxSpans: 12, MaxGoroutines: 5, MaxSteals: 3}), Options{Rows: 2})))
	reporttest.Golden(t, "empty.txt", []byte(render(t, &exectrace.Trace{}, Options{})))
}

func TestLinesFitTheTerminal(t *testing.T) {
	for _, version := range []string{"1.21.13", "1.27.1"} {
		tr := read(t, version, exectrace.Options{})
		for _, width := range []int{60, 70, 80, 100, 120} {
			for i, line := range strings.Split(render(t, tr, Options{Width: width}), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("Go %s, width %d, line %d has %d columns: %s", version, width, i+1, n, line)
				}
			}
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColourChangesNoText(t *testing.T) {
	tr := read(t, "1.27.1", exectrace.Options{})
	without, with := render(t, tr, Options{}), render(t, tr, Options{Color: true})
	if strings.Contains(without, "\x1b") {
		t.Error("an escape sequence without colour")
	}
	plain := strings.Split(sgr.ReplaceAllString(with, ""), "\n")
	for i, line := range strings.Split(without, "\n") {
		if strings.TrimRight(plain[i], " ") != line {
			t.Errorf("line %d is %q with colour, %q without", i+1, plain[i], line)
		}
	}
}
