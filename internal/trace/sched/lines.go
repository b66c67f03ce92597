package sched

import (
	"bytes"
	"errors"
	"io"
)

// maxEmpty is how many times a reader may read nothing without an error.
const maxEmpty = 100

// lines reads a log line by line through a buffer of fixed size, long lines in
// parts.
type lines struct {
	r       io.Reader
	limit   int
	buf     []byte
	start   int // of what is not yet dealt with
	end     int
	scanned int // bytes from start on that hold no newline
	ended   bool
	err     error
}

// newLines has a buffer of twice the limit, so that it is seldom moved.
func newLines(r io.Reader, limit int) lines {
	return lines{r: r, limit: limit, buf: make([]byte, 2*limit)}
}

// window is the rest of the line at start, without its newline, or the first limit
// bytes of it with whole false. So what is seen does not depend on how the reader
// splits the log.
func (l *lines) window() (b []byte, whole, ok bool) {
	for {
		held := l.buf[l.start:l.end]
		i := bytes.IndexByte(held[l.scanned:], '\n')
		if i >= 0 {
			i += l.scanned
			l.scanned = i
		} else {
			l.scanned = len(held)
		}
		switch {
		case l.scanned > l.limit:
			return held[:l.limit], false, true
		case i >= 0:
			return held[:i], true, true
		case l.ended:
			return held, true, len(held) > 0
		}
		if l.end == len(l.buf) { // then start is past the limit, as the line is not
			copy(l.buf, held)
			l.start, l.end = 0, len(held)
		}
		l.read()
	}
}

func (l *lines) read() {
	for range maxEmpty {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.ended = true
			if !errors.Is(err, io.EOF) {
				l.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	l.ended, l.err = true, io.ErrNoProgress
}

// skip continues by n bytes of the window.
func (l *lines) skip(n int) {
	l.start += n
	l.scanned = max(l.scanned-n, 0)
}
