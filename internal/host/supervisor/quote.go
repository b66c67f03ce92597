package supervisor

import (
	"bytes"
	"math"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
)

// QuotedLines is how many lines of an output a message quotes.
const QuotedLines = 20

// Quote is what a program's output says of its end.
type Quote struct {
	Crash bool   // the text begins where a Go runtime told of a crash; else it is the output's end
	Text  string // lines fit for a terminal; empty: it printed nothing
}

func (q Quote) String() string {
	switch {
	case q.Text == "":
		return "it printed nothing"
	case q.Crash:
		return "it said:\n" + q.Text
	}
	return "its last output:\n" + q.Text
}

// QuoteOutput quotes at most n lines: those from which on a Go runtime tells of a
// crash, as what follows may be the stacks of a thousand goroutines, else the
// last.
func QuoteOutput(output []byte, n int) Quote {
	var c crash
	c.Write(output)
	return quote(c.text(), output, n)
}

func quote(crash, tail []byte, n int) Quote {
	if len(crash) > 0 {
		return Quote{Crash: true, Text: firstLines(crash, n)}
	}
	return Quote{Text: LastLines(tail, n)}
}

// LastLines makes the last n lines of a program's output fit for a terminal.
func LastLines(output []byte, n int) string {
	lines := cleanLines(output)
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func firstLines(output []byte, n int) string {
	lines := cleanLines(output)
	return strings.TrimRight(strings.Join(lines[:min(n, len(lines))], "\n"), "\n")
}

// Printable makes all of a program's output fit for a terminal.
func Printable(output []byte) string { return LastLines(output, math.MaxInt) }

func cleanLines(output []byte) []string {
	lines := strings.Split(strings.TrimRight(string(output), "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = phrase.Clean(strings.TrimSuffix(line, "\r"))
	}
	return lines
}

const (
	crashBytes = 4 << 10 // kept from a crash's first line on
	crashLine  = 512     // kept of each of its lines
	// A note of the runtime is no crash yet, but what precedes one: further away
	// than this many lines it does not.
	crashNotes = 4
)

// crash finds in a program's output, as it is written, where a Go runtime begins
// to tell of a crash. One that comes when the former is complete replaces it: a
// program may print, and survive, what looks like a crash.
type crash struct {
	line  []byte // the current one
	found []byte
	lines int  // of found
	note  bool // found begins with a note
}

func (c *crash) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := crashLine - len(c.line); room > 0 {
			c.line = append(c.line, line[:min(room, len(line))]...)
		}
		if ended {
			c.take()
		}
		p = rest
	}
	return n, nil
}

// take ends the current line.
func (c *crash) take() {
	begins, note := crashBegins(c.line)
	switch {
	case begins && (len(c.found) == 0 || c.full() || c.note && !note && c.lines > crashNotes):
		c.found, c.lines, c.note = append(c.found[:0], c.line...), 1, note
		c.found = append(c.found, '\n')
	case len(c.found) > 0 && !c.full():
		c.note = c.note && (note || !begins) // else what it was a note to has come
		c.found = append(append(c.found, c.line...), '\n')
		c.lines++
	}
	c.line = c.line[:0]
}

func (c *crash) full() bool { return len(c.found) >= crashBytes }

// text is what there is of the crash; empty: there was none.
func (c *crash) text() []byte {
	all := crash{line: bytes.Clone(c.line), found: bytes.Clone(c.found), lines: c.lines, note: c.note}
	if len(all.line) > 0 {
		all.take()
	}
	if all.note && all.lines > crashNotes {
		return nil // a note that nothing followed
	}
	return all.found
}

// crashBegins tells the first line of a Go runtime's report (printpanics, fatal,
// sighandler in the runtime), or of a note that may precede it.
func crashBegins(line []byte) (begins, note bool) {
	for _, prefix := range []string{"panic: ", "fatal error: ", "unexpected fault address ", "runtime: "} {
		if bytes.HasPrefix(line, []byte(prefix)) {
			return true, prefix == "runtime: "
		}
	}
	// SIGQUIT: quit, SIGSEGV: segmentation violation
	name, _, ok := bytes.Cut(line, []byte(": "))
	if name, isSignal := bytes.CutPrefix(name, []byte("SIG")); ok && isSignal && len(name) >= 2 && len(name) <= 8 {
		return bytes.Equal(bytes.ToUpper(name), name) && bytes.IndexFunc(name, func(r rune) bool { return r < '0' || r > 'Z' }) < 0, false
	}
	return false, false
}
