package page

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/sched"
)

func read(t *testing.T, log string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + log + ".log")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var logs = []string{"go1.27.1-plain", "go1.27.1-detail", "go1.2.2-plain", "go1.26.8-gorun", "go1.27.1-chatty"}

func asText(t *testing.T, log string, o text.Options) string {
	t.Helper()
	s := sched.Analyse(bytes.NewReader(read(t, log)))
	var b bytes.Buffer
	if err := text.Render(&b, Brief(log, s, sched.Readings(s)), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	for _, log := range logs {
		documenttest.Golden(t, log+".txt", []byte(asText(t, log, text.Options{})))
	}
	documenttest.Golden(t, "go1.27.1-detail.ansi", []byte(asText(t, "go1.27.1-detail", text.Options{Color: true})))
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

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColourChangesNoText(t *testing.T) {
	for _, log := range logs {
		without, with := asText(t, log, text.Options{}), asText(t, log, text.Options{Color: true})
		if strings.Contains(without, "\x1b") {
			t.Errorf("%s: an escape sequence without colour", log)
		}
		for i, line := range strings.Split(sgr.ReplaceAllString(with, ""), "\n") {
			if want := strings.Split(without, "\n")[i]; strings.TrimRight(line, " ") != want {
				t.Errorf("%s: line %d is %q with colour, %q without", log, i+1, line, want)
			}
		}
	}
}

func TestNoTwoEmptyLines(t *testing.T) {
	for _, log := range logs {
		if strings.Contains(asText(t, log, text.Options{}), "\n\n\n") {
			t.Errorf("%s: two empty lines in a row", log)
		}
	}
}
