package schedtrace

import (
	"bytes"
	"errors"
	"io"
)

const (
	// maxLine bounds what is seen of a line at once. A sample of 8192 Ps fits.
	maxLine = 128 << 10
	// overlap is what an overlong line keeps for a mark that is only half there:
	// "SCHED ", 19 digits, "ms:".
	overlap = len("SCHED ") + 19 + len("ms:")
	// maxEmpty is how many times a reader may read nothing without an error.
	maxEmpty = 100
)

// Counts are what a Scanner has read so far.
type Counts struct {
	Bytes   int64 `json:"bytes"`
	Lines   int64 `json:"lines"` // the last may be without its newline
	Samples int64 `json:"samples"`
	// OtherLines hold nothing of a trace; OtherBytes are theirs and those around
	// samples in other lines.
	OtherLines int64 `json:"other_lines"`
	OtherBytes int64 `json:"other_bytes"`
}

// Scanner reads samples from a log through a buffer of fixed size.
type Scanner struct {
	// Other, if set before the first Scan, gets the text that is no part of a trace,
	// a line when it is complete; so does what follows a sample that broke off.
	Other io.Writer

	r       io.Reader
	limit   int
	buf     []byte
	start   int // of what is not yet dealt with
	end     int
	scanned int // bytes from start on that hold no newline
	ended   bool
	err     error

	mid     bool // start is within a line
	useful  bool // that line held a sample, or a part of one
	foreign bool // and it held other text
	broken  bool // the last that it held breaks off

	slots   [2]slot
	out     *slot // given out by the last Scan
	pending *slot // has details that may go on
	queued  *slot // for the next Scan
	names   names

	counts  Counts
	skipped Skipped
}

// NewScanner returns a Scanner that reads from r, with a buffer of its own.
func NewScanner(r io.Reader) *Scanner { return newScanner(r, maxLine) }

// newScanner has a buffer of twice the limit, so that it is seldom moved.
func newScanner(r io.Reader, limit int) *Scanner {
	return &Scanner{r: r, limit: limit, buf: make([]byte, 2*limit)}
}

// Scan goes on to the next sample; false at the end of the log or at an error of
// the reader. A sample with details is given out when the next one begins.
func (s *Scanner) Scan() bool {
	s.out = nil
	if s.queued != nil {
		s.out, s.queued = s.queued, nil
	}
	for s.out == nil {
		window, whole, ok := s.window()
		if !ok {
			s.out, s.pending = s.pending, nil
			break
		}
		s.step(window, whole)
	}
	if s.out != nil {
		s.counts.Samples++
	}
	return s.out != nil
}

// Sample is the sample of the last Scan, valid until the next; nil before the
// first and after the last.
func (s *Scanner) Sample() *Sample {
	if s.out == nil {
		return nil
	}
	return &s.out.Sample
}

// Err is the reader's error, but for io.EOF. All that came before it was scanned.
func (s *Scanner) Err() error { return s.err }

// Counts tells what was read so far.
func (s *Scanner) Counts() Counts { return s.counts }

// Skipped tells what began as a sample and could not be read, so far.
func (s *Scanner) Skipped() Skipped { return s.skipped.clone() }

// window is the rest of the line at start, without its newline, or the first limit
// bytes of it with whole false. So what is seen does not depend on how the reader
// splits the log.
func (s *Scanner) window() (b []byte, whole, ok bool) {
	for {
		held := s.buf[s.start:s.end]
		i := bytes.IndexByte(held[s.scanned:], '\n')
		if i >= 0 {
			i += s.scanned
			s.scanned = i
		} else {
			s.scanned = len(held)
		}
		switch {
		case s.scanned > s.limit:
			return held[:s.limit], false, true
		case i >= 0:
			return held[:i], true, true
		case s.ended:
			return held, true, len(held) > 0
		}
		if s.end == len(s.buf) { // then start is past the limit, as the line is not
			copy(s.buf, held)
			s.start, s.end = 0, len(held)
		}
		s.read()
	}
}

func (s *Scanner) read() {
	for range maxEmpty {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.ended = true
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	s.ended, s.err = true, io.ErrNoProgress
}

// step deals with a part of the line at least, and with at most one sample.
func (s *Scanner) step(window []byte, whole bool) {
	if !s.mid {
		s.counts.Lines++
	}
	line := window
	if n := len(line); whole && n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if !s.mid && s.pending != nil && s.detail(line, whole) {
		s.useful = true
		s.endLine(window)
		return
	}
	at, after, millis := findMark(line)
	switch {
	case at < 0 && whole:
		s.other(len(window))
		s.endLine(window)
	case at < 0:
		s.other(len(window) - overlap)
		s.consume(len(window) - overlap)
	case at > 0:
		s.other(at)
		s.consume(at)
	default:
		n := s.header(line, after, millis, whole)
		if whole && n == len(line) {
			s.endLine(window)
		} else {
			s.consume(n)
		}
	}
}

// detail counts a line of details into the pending sample. One that breaks off is
// noted, and left for step to look for a sample in its rest.
func (s *Scanner) detail(line []byte, whole bool) bool {
	kind, num, rest := isDetail(line)
	at := 0
	if kind == 0 {
		if at, kind, num, rest = findDetail(line); kind == 0 {
			return false
		}
	}
	if whole && s.pending.add(kind, num, rest, &s.names) {
		s.other(at)
		return true
	}
	s.pending.detailed().LinesBroken++
	s.skipped.add(s.counts.Lines, line[at:], "breaks off within its details")
	s.useful, s.broken = true, true
	return false
}

// header reads the sample that line begins with and returns how much of the line
// is dealt with.
func (s *Scanner) header(line []byte, after int, millis int64, whole bool) int {
	to := &s.slots[0]
	if to == s.pending {
		to = &s.slots[1]
	}
	to.reset()
	to.Line, to.Millis = s.counts.Lines, millis
	n, complete, why := to.header(line[after:])
	if why != "" {
		if !whole {
			why += ", or is too long"
		}
		s.skipped.add(s.counts.Lines, line[:min(after+n+maxQuote/4, len(line))], why)
	}
	s.useful, s.broken = true, !complete
	s.out, s.pending = s.pending, nil
	switch {
	case !complete:
		return len(mark) // another may begin in what this one broke off for
	case to.Detail != nil:
		s.pending = to
	case s.out != nil:
		s.queued = to
	default:
		s.out = to
	}
	return after + n
}

// other counts n bytes as no part of a trace, unless they follow one that broke
// off, whose text they may be.
func (s *Scanner) other(n int) {
	if n > 0 && s.Other != nil {
		s.foreign = true
		_, _ = s.Other.Write(s.buf[s.start : s.start+n]) // a reader that is gone must not end the reading
	}
	if !s.broken {
		s.counts.OtherBytes += int64(n)
	}
}

func (s *Scanner) consume(n int) {
	s.start += n
	s.scanned = max(s.scanned-n, 0)
	s.counts.Bytes += int64(n)
	s.mid = true
}

// endLine goes past the window and its newline, which the log's last line may
// lack.
func (s *Scanner) endLine(window []byte) {
	n := len(window)
	newline := 0
	if s.start+n < s.end {
		newline = 1
	}
	if !s.useful {
		s.counts.OtherLines++
		s.counts.OtherBytes += int64(newline)
	}
	if s.Other != nil && newline > 0 && (s.foreign || !s.useful) {
		_, _ = s.Other.Write([]byte{'\n'})
	}
	s.consume(n + newline)
	s.mid, s.useful, s.foreign, s.broken, s.scanned = false, false, false, false, 0
}
