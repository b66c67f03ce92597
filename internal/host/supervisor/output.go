package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/procfit/procfit/internal/show/phrase"
)

// tailBytes is how much of the last output is at hand for error messages.
const tailBytes = 8 << 10

// partLimit is how much of a line the head holds back until it is whole.
const partLimit = 64 << 10

// headTail keeps the first and the last part of what is written to it, in memory
// no more than the last. What it leaves out between them are whole lines, so that
// no reader takes half of a number; only of lines longer than partLimit may half
// be kept. Write never fails: a full disk must not block the command.
type headTail struct {
	mu    sync.Mutex
	file  io.Writer
	limit int64  // bytes kept in the file
	head  int64  // bytes that the head still has room for
	part  []byte // of the head: the beginning of a line
	ring  []byte // the last bytes
	size  int    // of the ring when full
	next  int    // where the ring's oldest byte is, once it is full
	total int64
	after int64 // bytes after the head
	err   error // the first of the file
	crash crash
}

func newHeadTail(file io.Writer, limit int64) *headTail {
	// One more byte than the tail reports whether that begins with a line.
	return &headTail{file: file, limit: limit, head: limit - limit/2, size: int(max(limit/2+1, tailBytes))}
}

func (h *headTail) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(p)
	h.total += int64(n)
	_, _ = h.crash.Write(p) // never fails
	h.remember(p)
	first := p[:min(int64(n), h.head)]
	h.head -= int64(len(first))
	h.after += int64(n - len(first))
	h.begin(first)
	return n, nil
}

// begin writes the whole lines of the head.
func (h *headTail) begin(p []byte) {
	if end := bytes.LastIndexByte(p, '\n') + 1; end > 0 {
		h.flush()
		h.toFile(p[:end])
		p = p[end:]
	}
	if len(h.part)+len(p) > partLimit {
		h.flush()
	}
	if len(p) > partLimit {
		h.toFile(p)
		return
	}
	h.part = append(h.part, p...)
}

func (h *headTail) flush() {
	h.toFile(h.part)
	h.part = h.part[:0]
}

func (h *headTail) toFile(p []byte) {
	if h.err == nil && len(p) > 0 {
		_, h.err = h.file.Write(p)
	}
}

func (h *headTail) remember(p []byte) {
	if len(p) >= h.size {
		p = p[len(p)-h.size:]
	}
	if room := h.size - len(h.ring); room > 0 {
		n := min(room, len(p))
		h.ring = append(h.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(h.ring[h.next:], p)
		h.next = (h.next + n) % h.size
		p = p[n:]
	}
}

func (h *headTail) last(n int64) []byte {
	all := append(append([]byte{}, h.ring[h.next:]...), h.ring[:h.next]...)
	return all[max(0, int64(len(all))-n):]
}

// Output returns what is at hand for error messages.
func (h *headTail) Output() output {
	h.mu.Lock()
	defer h.mu.Unlock()
	return output{Tail: h.last(tailBytes), Crash: h.crash.text()}
}

// Close writes what was kept of the end, and how much was left out before it.
func (h *headTail) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.cut() {
		h.flush()
		h.toFile(h.last(h.after))
		return h.err
	}
	keep := h.limit / 2
	tail := h.last(keep + 1)
	if int64(len(tail)) > keep { // without the end of a line that was begun in what is left out
		if end := bytes.IndexByte(tail, '\n') + 1; end > 0 && end < len(tail) {
			tail = tail[end:]
		} else {
			tail = tail[1:]
		}
	}
	out := h.after - int64(len(tail)) + int64(len(h.part))
	h.toFile(fmt.Appendf(nil, leftOut, out))
	h.toFile(tail)
	return h.err
}

type logs struct {
	output *headTail   // of both streams, for messages; it is the log too where that takes both
	log    *headTail   // what the log has
	to     []io.Writer // where stdout goes and, if it is apart, stderr
	files  []io.Closer // to be closed at the end of the output, in this order
}

// newLogs keeps at most limit bytes in each file. Without a log, nil, nothing is written; without
// one of stderr, the log takes both streams.
func newLogs(log, stderr *os.File, limit int64) logs {
	l := logs{output: newHeadTail(io.Discard, 0)}
	switch {
	case log == nil:
		l.log = l.output
	case stderr == nil:
		l.log = newHeadTail(log, limit)
		l.output = l.log
	default:
		l.log = newHeadTail(log, limit)
		apart := newHeadTail(stderr, limit)
		l.to = []io.Writer{io.MultiWriter(l.output, l.log), io.MultiWriter(l.output, apart)}
		l.files = []io.Closer{l.log, apart}
		return l
	}
	l.to, l.files = []io.Writer{l.log}, []io.Closer{l.log}
	return l
}

func (l logs) close() (err error) {
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// leftOut is in a log where lines are missing.
const leftOut = "\n[procfit: %d bytes skipped]\n"

// Shorten copies an output into a log that keeps at most limit bytes of it: the first and
// the last lines, if that is not all.
func Shorten(log io.Writer, output io.Reader, limit int64) (cut bool, err error) {
	h := newHeadTail(log, limit)
	_, err = io.Copy(h, output)
	return h.cut(), errors.Join(err, h.Close())
}

// Parts are what a log has of a command's output, which ended so: the first part
// and, where lines after it were left out, the last.
func Parts(log []byte, exit Exit) (head, tail []byte, cut bool) {
	before, after, _ := strings.Cut(leftOut, "%d")
	i := bytes.LastIndex(log, []byte(before))
	if !exit.LogCut || i < 0 {
		return log, nil, exit.LogCut
	}
	if _, rest, ok := bytes.Cut(log[i+len(before):], []byte(after)); ok {
		tail = rest
	}
	return log[:i+1], tail, true
}

func (h *headTail) cut() bool { return h.after > h.limit/2 }

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
		lines := cleanLines(crash)
		return Quote{Crash: true, Text: strings.TrimRight(strings.Join(lines[:min(n, len(lines))], "\n"), "\n")}
	}
	return Quote{Text: LastLines(tail, n)}
}

// LastLines makes the last n lines of a program's output fit for a terminal.
func LastLines(output []byte, n int) string {
	lines := cleanLines(output)
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
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
