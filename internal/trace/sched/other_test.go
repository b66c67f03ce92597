package sched

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/procfit/procfit/test/must"
)

// split is what a scanner takes for samples and what it passes on.
func split(log string, oneByte bool) (samples int64, other string) {
	var b bytes.Buffer
	r := strings.NewReader(log)
	sc := NewScanner(r)
	if oneByte {
		sc = NewScanner(iotest.OneByteReader(r))
	}
	sc.Other = &b
	sc.scan(func(*Sample) {})
	return sc.counts.Samples, b.String()
}

func TestOther(t *testing.T) {
	for name, tc := range map[string]struct{ log, other string }{
		"nothing":       {oldLine + "\n", ""},
		"lines between": {"a\n\n" + oldLine + "\nb\n" + newLine + "\nc", "a\n\nb\nc"},
		// The newline after a whole sample is the runtime's own, and no more.
		"before, in a line":       {"half" + oldLine + "\nrest\n", "halfrest\n"},
		"before it, twice":        {"0." + oldLine + "\n1." + newLine + "\n2.\n", "0.1.2.\n"},
		"after, in a line":        {oldLine + "half\nrest\n", "halfrest\n"},
		"a line before its end":   {oldLine + "hello\n\nrest\n", "hello\nrest\n"},
		"a line and an empty one": {oldLine + "hello\n\n\nrest\n", "hello\n\nrest\n"},
		"before and after":        {"a" + oldLine + "b\n\nc\n", "ab\nc\n"},
		"within the ticks":        {newLine[:len(newLine)-5] + "hello\n 5 ]\n", "hello\n 5 ]\n"},
		"the end after a sample":  {"half" + oldLine + "\n", "half"},
		"details":                 {detailLine + "\n" + procLine + "\nhello\n" + goroutine + "\n", "hello\n"},
		"before a detail":         {detailLine + "\nhalf" + procLine + "\nrest\n", "halfrest\n"},
		"broken off":              {"SCHED 5ms: gomahello\nworld\n", "5ms: gomahello\nworld\n"},
		"carriage returns":        {"a\r\n" + oldLine + "\r\nb\r\n", "a\r\nb\r\n"},
	} {
		for _, oneByte := range []bool{false, true} {
			if _, other := split(tc.log, oneByte); other != tc.other {
				t.Errorf("%s: passes on %q, want %q", name, other, tc.other)
			}
		}
	}
}

// What a real program printed next to its trace is passed on whole, and no sample
// of it.
func TestOtherOfRealLogs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		log := must.Get(os.ReadFile(file))(t)
		if samples, other := split(string(log), false); samples == 0 || strings.Contains(other, "gomaxprocs=") || len(other) >= len(log) {
			t.Errorf("%s: %d samples, passes on %d of %d bytes", file, samples, len(other), len(log))
		}
	}
}

// A scheduler that starts says -1 for an instant.
func TestIdleLockedBelowZero(t *testing.T) {
	samples, sc := scanAll([]byte(strings.Replace(detailLine, "nmidlelocked=0", "nmidlelocked=-1", 1) + "\n" + procLine + "\n"))
	if len(samples) != 1 || samples[0].Detail == nil || sc.skipped.Count != 0 {
		t.Errorf("%+v, %+v", samples, sc.skipped)
	}
}

// writes keeps each write by itself.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

// A line comes with its newline, so that nothing of another writer gets between
// them.
func TestOtherIsWrittenByLines(t *testing.T) {
	var got writes
	sc := NewScanner(strings.NewReader("one\ntwo\r\n\nlast"))
	sc.Other = &got
	sc.scan(func(*Sample) {})
	if want := []string{"one\n", "two\r\n", "\n", "last"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
