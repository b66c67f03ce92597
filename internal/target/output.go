package target

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

// tailBytes is how much of the last output is at hand for error messages.
const tailBytes = 8 << 10

// headTail keeps the first and the last part of what is written to it, in memory
// no more than the last. Write never fails: a full disk must not block the
// target.
type headTail struct {
	mu    sync.Mutex
	file  io.Writer
	limit int64  // bytes kept in the file
	head  int64  // bytes still to go straight to the file
	ring  []byte // the last bytes after the head
	size  int    // of the ring when full
	next  int    // where the ring's oldest byte is, once it is full
	total int64
	after int64 // bytes after the head
	err   error // the first of the file
}

func newHeadTail(file io.Writer, limit int64) *headTail {
	return &headTail{file: file, limit: limit, head: limit - limit/2, size: int(max(limit/2, tailBytes))}
}

func (h *headTail) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(p)
	h.total += int64(n)
	if h.head > 0 {
		first := p[:min(int64(n), h.head)]
		h.head -= int64(len(first))
		h.toFile(first)
		h.remember(first) // for Tail
		p = p[len(first):]
		if h.head > 0 || len(p) == 0 {
			return n, nil
		}
	}
	h.after += int64(len(p))
	h.remember(p)
	return n, nil
}

func (h *headTail) toFile(p []byte) {
	if h.err == nil {
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

// Tail returns the last output.
func (h *headTail) Tail() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last(tailBytes)
}

// Close writes what was kept of the end, and how much was left out before it.
func (h *headTail) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	keep := min(h.after, h.limit/2)
	if out := h.after - keep; out > 0 {
		h.toFile(fmt.Appendf(nil, "\n[procfit: %d bytes left out]\n", out))
	}
	h.toFile(h.last(keep))
	return h.err
}

// lastLines makes the last n lines of a program's output fit for a terminal:
// what is not printable is shown as an escape sequence in Go's notation.
func lastLines(output []byte, n int) string {
	lines := strings.Split(strings.TrimRight(string(output), "\r\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, r := range strings.TrimSuffix(line, "\r") {
			if r == '\t' || unicode.IsPrint(r) {
				b.WriteRune(r)
			} else {
				b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
			}
		}
	}
	return b.String()
}
