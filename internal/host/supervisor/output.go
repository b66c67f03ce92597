package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
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

// remember appends to the ring.
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

// last returns up to n of the last bytes.
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

// leftOut stands in a log where lines are missing.
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

// cut reports whether not all is kept.
func (h *headTail) cut() bool { return h.after > h.limit/2 }
