package sched

import (
	"bufio"
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

// Scanner reads samples from a log through a buffer of fixed size, long lines in parts.
type Scanner struct {
	// Other, if set before Analyse, gets the text that is not a part of a trace,
	// a line when it is complete; so does what follows a sample that broke off. The
	// newline that the runtime writes after a sample is left out: text before it may
	// go on after it.
	Other io.Writer
	// Late, if set, reports that what comes now is left out.
	Late func() bool

	log     *bufio.Reader
	limit   int  // bytes that are seen of a line at once
	scanned int  // bytes of what is buffered that hold no newline
	ended   bool // there is nothing beyond what is buffered
	err     error
	mid     bool   // the log's next byte is within a line
	useful  bool   // that line held a sample, or a part of one
	foreign bool   // and it held other text, whose last part
	trails  bool   // came after the sample
	broken  bool   // the last that it held breaks off
	cut     bool   // or lacks its schedticks
	owed    bool   // the last line's newline is passed on only if this line is empty
	text    []byte // for Other

	slot    slot
	each    func(*Sample)
	pending bool // the slot holds a sample whose details may continue
	late    bool // which is left out
	names   names

	counts  Counts
	skipped Skipped
	leftOut int64
}

// NewScanner returns a Scanner that reads from r, with a buffer of its own.
func NewScanner(r io.Reader) *Scanner { return newScanner(r, maxLine) }

// newScanner has a buffer of twice the limit, so that what is in it is seldom moved.
func newScanner(r io.Reader, limit int) *Scanner {
	return &Scanner{
		log: bufio.NewReaderSize(r, 2*limit), limit: limit, names: names{}, skipped: Skipped{First: []Problem{}},
		slot: slot{detail: Detail{Reasons: map[string]int{}}},
	}
}

// scan reads the log up to its end, or an error of the reader, and hands on each sample, which is
// valid until the next. One with details is handed on when the next one starts.
func (s *Scanner) scan(each func(*Sample)) {
	s.each = each
	for {
		window, whole, ok := s.window()
		if !ok {
			break
		}
		s.step(window, whole)
		s.flush()
	}
	s.handOn()
}

// handOn ends the pending sample.
func (s *Scanner) handOn() {
	switch {
	case !s.pending:
		return
	case s.late:
		s.leftOut++
	default:
		s.each(&s.slot.Sample)
	}
	s.pending = false
	s.counts.Samples++
}

// Err is the reader's error, but for io.EOF. All that came before it was scanned.
func (s *Scanner) Err() error { return s.err }

// window is the rest of the line, without its newline, or its first limit bytes with whole false. So
// what is seen does not depend on how the reader splits the log.
func (s *Scanner) window() (b []byte, whole, ok bool) {
	for {
		held, _ := s.log.Peek(s.log.Buffered())
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
		if _, err := s.log.Peek(len(held) + 1); err != nil {
			s.ended = true
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
		}
	}
}

// step deals with a part of the line at least, and with at most one sample.
func (s *Scanner) step(window []byte, whole bool) {
	if !s.mid {
		s.counts.Lines++
		if s.owed {
			s.owed = false
			if whole && len(window) == 0 {
				s.pass(newline)
				s.useful = true
				s.endLine(window)
				return
			}
		}
	}
	line := window
	if n := len(line); whole && n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if !s.mid && s.pending && s.detail(line, whole) {
		s.useful = true
		s.endLine(window)
		return
	}
	at, after, millis := findMark(line)
	switch {
	case at < 0 && whole:
		if len(window) == s.log.Buffered() {
			s.tail(line)
		}
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
	if whole && s.slot.add(kind, num, rest, s.names) {
		s.other(at)
		s.trails = false
		return true
	}
	s.slot.detailed().LinesBroken++
	s.skipped.add(s.counts.Lines, line[at:], "breaks off within its details")
	s.useful, s.broken, s.cut = true, true, true
	return false
}

// tail notes what the end of the log cut off before it was certain.
func (s *Scanner) tail(line []byte) {
	if s.broken {
		return
	}
	at, why := cutMark(line), "breaks off in its time"
	if at < 0 && !s.mid && s.pending && cutDetail(line) {
		at, why = 0, "breaks off within its details"
		s.slot.detailed().LinesBroken++
	}
	if at >= 0 {
		s.skipped.add(s.counts.Lines, line[at:], why)
		s.useful, s.broken, s.cut = true, true, true
	}
}

// header reads the sample that line starts with and returns how much of the line
// is dealt with.
func (s *Scanner) header(line []byte, after int, millis int64, whole bool) int {
	s.handOn()
	s.slot.reset()
	s.slot.Line, s.slot.Millis = s.counts.Lines, millis
	n, complete, why := s.slot.header(line[after:])
	if why != "" {
		if !whole {
			why += ", or is too long"
		}
		s.skipped.add(s.counts.Lines, line[:min(after+n+maxQuote/4, len(line))], why)
	}
	s.useful, s.broken, s.cut, s.trails = true, !complete, why != "", false
	if !complete {
		return len(mark) // another may start in what this one broke off for
	}
	s.pending, s.late = true, s.Late != nil && s.Late()
	if s.slot.Detail == nil {
		s.handOn()
	}
	return after + n
}

// other counts n bytes as no part of a trace, unless they follow one that broke
// off, whose text they may be.
func (s *Scanner) other(n int) {
	if n > 0 {
		s.foreign, s.trails = true, true
		b, _ := s.log.Peek(n) // which are buffered
		s.pass(b)
	}
	if !s.broken {
		s.counts.OtherBytes += int64(n)
	}
}

var newline = []byte{'\n'}

func (s *Scanner) pass(b []byte) {
	if s.Other != nil {
		s.text = append(s.text, b...)
	}
}

// flush passes a line and its newline on at once: others may write to the same
// terminal.
func (s *Scanner) flush() {
	if len(s.text) > 0 {
		_, _ = s.Other.Write(s.text) // a reader that is gone must not end the reading
		s.text = s.text[:0]
	}
}

func (s *Scanner) consume(n int) {
	_, _ = s.log.Discard(n) // which are buffered
	s.scanned = max(s.scanned-n, 0)
	s.counts.Bytes += int64(n)
	s.mid = true
}

// endLine goes past the window and its newline, which the log's last line may
// lack.
func (s *Scanner) endLine(window []byte) {
	n := len(window)
	if n < s.log.Buffered() {
		n++
		if !s.useful {
			s.counts.OtherBytes++
		}
		s.passNewline()
	}
	if !s.useful {
		s.counts.OtherLines++
	}
	s.consume(n)
	s.mid, s.useful, s.foreign, s.trails, s.broken, s.cut, s.scanned = false, false, false, false, false, false, 0
}

// passNewline passes the line's newline on, unless the runtime wrote it after a
// sample. Of text that came between these two it is that text's own if the
// runtime's is still to come, alone in the next line.
func (s *Scanner) passNewline() {
	switch {
	case !s.useful || s.cut && s.foreign:
		s.pass(newline)
	case !s.cut && s.trails:
		s.owed = true
	}
}
