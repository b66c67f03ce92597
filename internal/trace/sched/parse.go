package sched

import (
	"bytes"
	"math"
)

// The SCHED line, as proc.go's schedtrace prints it ("…" for what versions add):
//
//	SCHED 308ms: gomaxprocs=4 … runqueue=0 [0 0 0 0]
//	SCHED 308ms: gomaxprocs=4 … runqueue=0 [ 0 0 0 0 ] schedticks=[ 0 5 0 0 ]
//	SCHED 308ms: gomaxprocs=4 … runqueue=0 gcwaiting=0 … sysmonwait=0

var mark = []byte("SCHED ")

// findMark returns the index of the first "SCHED <number>ms:" in b and of what
// follows it, or -1.
func findMark(b []byte) (at, after int, millis int64) {
	for from := 0; ; {
		i := bytes.Index(b[from:], mark)
		if i < 0 {
			return -1, -1, 0
		}
		at = from + i
		after = at + len(mark)
		millis, n := natural(b[after:], maxMillis)
		after += n
		if n > 0 && len(b)-after >= 3 && string(b[after:after+3]) == "ms:" {
			return at, after + 3, millis
		}
		from = at + len(mark)
	}
}

// cutMark returns the index of a mark that b ends within, or -1.
func cutMark(b []byte) int {
	at := bytes.LastIndex(b, mark)
	if at < 0 {
		return -1
	}
	rest := bytes.TrimLeft(b[at+len(mark):], "0123456789")
	if !bytes.HasPrefix([]byte("ms:"), rest) || len(rest) > 0 && b[at+len(mark)] == rest[0] {
		return -1
	}
	return at
}

// header reads what follows the mark into s. n is how far it was read. The sample is whole if the
// local queues are closed, or sysmonwait, which ends the line with details, is there. A sample can
// be whole and still have a why: its schedticks break off, and are left out.
func (s *slot) header(b []byte) (n int, whole bool, why string) {
	for last := false; !last && why == "" && n < len(b) && b[n] == ' '; {
		rest := b[n+1:]
		key, used := keyLen(rest), 0
		if len(rest) > 0 && rest[0] == '[' {
			if s.queues, used, why = list(rest, s.queues[:0], maxCount); why == "" {
				s.LocalQueues = s.queues
				if whole {
					why = keyTwice
				}
				whole = true
			}
		} else if key > 0 {
			used, last, why = s.value(rest[:key], rest[key+1:])
			used += key + 1
			whole = whole || why == "" && string(rest[:key]) == "sysmonwait"
		} else {
			break
		}
		n += 1 + used
	}
	if !whole && why == "" {
		why = "breaks off before its run queues"
	}
	return n, whole, why
}

const keyTwice = "has a key twice"

// value reads the value of a key; used is its length. The line ends with the last one.
func (s *slot) value(key, b []byte) (used int, last bool, why string) {
	var to *int
	switch string(key) {
	case "gomaxprocs":
		to = &s.Procs
	case "idleprocs":
		to = &s.IdleProcs
	case "threads":
		to = &s.Threads
	case "spinningthreads", "nmspinning": // Go 1.2's name, in its detailed line alone
		to = &s.SpinningThreads
	case "idlethreads":
		to = &s.IdleThreads
	case "runqueue":
		to = &s.GlobalQueue
	case "needspinning": // nothing is made of it
		return wordLen(b), false, ""
	case "gcwaiting", "nmidlelocked", "stopwait": // nothing is made of these
		s.detailed()
		return wordLen(b), false, ""
	case "sysmonwait":
		s.detailed()
		if used = flag(b); used == 0 {
			why = "has a flag that is neither 0 nor 1"
		}
		return used, true, why
	case "schedticks":
		if s.ticks, used, why = list(b, s.ticks[:0], maxTick); why == "" {
			s.SchedTicks = s.ticks
		}
		return used, true, why
	default: // of a later Go: a word, or a list of numbers
		if len(b) > 0 && b[0] == '[' {
			_, used, why = list(b, nil, maxTick)
			return used, false, why
		}
		return wordLen(b), false, ""
	}
	v, used := natural(b, maxCount)
	if used == 0 || !isEnd(b, used) {
		return used, false, "has a value that is not a number, or too large"
	}
	if *to != absent {
		why = keyTwice
	}
	*to = int(v)
	return used, false, why
}

// list reads the numbers of "[1 2]" or "[ 1 2 ]".
func list(b []byte, into []int64, most int64) (_ []int64, used int, why string) {
	const notClosed = "breaks off in a list"
	if len(b) == 0 || b[0] != '[' {
		return into, 0, notClosed
	}
	for i := 1; i < len(b); {
		switch {
		case b[i] == ' ':
			i++
		case b[i] == ']':
			return into, i + 1, ""
		default:
			v, n := natural(b[i:], most)
			i += n
			if n == 0 || i < len(b) && b[i] != ' ' && b[i] != ']' {
				return into, i, notClosed
			}
			into = append(into, v)
		}
	}
	return into, len(b), notClosed
}

// The runtime's own widths: counts are int32, ticks uint32. Anything larger was
// not printed by it.
const (
	maxCount = math.MaxInt32
	maxTick  = math.MaxUint32
	// maxMillis keeps a time within time.Duration, 292 years.
	maxMillis = math.MaxInt64 / 1_000_000
)

// natural reads digits at the start of b; n is how many, 0 where there are none or
// the value is over most.
func natural(b []byte, most int64) (value int64, n int) {
	for n < len(b) && b[n]-'0' <= 9 {
		value = value*10 + int64(b[n]-'0')
		if value > most {
			return 0, 0
		}
		n++
	}
	return value, n
}

// flag is the length of a 0 or 1, or since Go 1.20 of false or true.
func flag(b []byte) int {
	for _, word := range []string{"true", "false"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	_, n := natural(b, 1)
	return n
}

// id reads the number of an M, P or G; -1 where there is none, which is printed
// so until Go 1.19, and as nil since.
func id(b []byte) (value int64, n int) {
	for _, none := range []string{"nil", "-1"} {
		if bytes.HasPrefix(b, []byte(none)) {
			return -1, len(none)
		}
	}
	return natural(b, math.MaxInt64/16)
}

// keyLen is the length of the key at the start of b, 0 unless a '=' follows it.
func keyLen(b []byte) int {
	for i, c := range b {
		switch {
		case c-'a' <= 'z'-'a':
		case c == '=':
			return i
		default:
			return 0
		}
	}
	return 0
}

// isEnd reports whether a value that ends before b[i] ends there: the runtime puts
// a space or the end of the line after it.
func isEnd(b []byte, i int) bool { return i == len(b) || b[i] == ' ' }

// wordLen is the number of bytes before the next space.
func wordLen(b []byte) int {
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return i
	}
	return len(b)
}

// The lines of scheddetail=1, each with its two leading spaces:
//
//	  P0: status=1 schedtick=3 syscalltick=0 m=0 runqsize=0 gfreecnt=0 timerslen=0
//	  M3: p=nil curg=nil mallocing=0 throwing=0 preemptoff= … spinning=false blocked=true lockedg=nil
//	  G2: status=4(force gc (idle)) m=nil lockedm=nil
//
// Go 1.2 prints runqsize with the queue's capacity, 0/128.

// maxProcs bounds the Ps that a detailed sample may have.
const maxProcs = 1 << 14

// isDetail reports whether b is a line of details, kind its letter and rest what
// follows the colon and the space.
func isDetail(b []byte) (kind byte, num int64, rest []byte) {
	if len(b) < 8 || b[0] != ' ' || b[1] != ' ' || b[2] != 'P' && b[2] != 'M' && b[2] != 'G' {
		return 0, 0, nil
	}
	v, n := natural(b[3:], 1<<58)
	rest = b[3+n:]
	if n == 0 || len(rest) < 4 || rest[0] != ':' || rest[1] != ' ' {
		return 0, 0, nil
	}
	rest = rest[2:]
	if b[2] == 'M' && !bytes.HasPrefix(rest, []byte("p=")) || b[2] != 'M' && !bytes.HasPrefix(rest, []byte("status=")) {
		return 0, 0, nil
	}
	return b[2], v, rest
}

// cutDetail reports that b can be the beginning of a line of details.
func cutDetail(b []byte) bool {
	if len(b) < 3 || b[0] != ' ' || b[1] != ' ' || b[2] != 'P' && b[2] != 'M' && b[2] != 'G' {
		return false
	}
	rest := bytes.TrimLeft(b[3:], "0123456789")
	if len(rest) > 0 && len(rest) == len(b[3:]) {
		return false
	}
	begins := []byte(": status=")
	if b[2] == 'M' {
		begins = []byte(": p=")
	}
	return bytes.HasPrefix(begins, rest) || bytes.HasPrefix(rest, begins)
}

// findDetail looks for a line of details behind a prefix that a log collector put
// before it.
func findDetail(b []byte) (at int, kind byte, num int64, rest []byte) {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], ':')
		if i < 0 {
			return -1, 0, 0, nil
		}
		colon := from + i
		start := colon
		for start > from && b[start-1]-'0' <= 9 {
			start--
		}
		if start -= 3; start >= 0 && start < colon-3 {
			if kind, num, rest = isDetail(b[start:]); kind != 0 {
				return start, kind, num, rest
			}
		}
		from = colon + 1
	}
}

// add counts a line of details into the sample; false if it breaks off.
func (s *slot) add(kind byte, num int64, rest []byte, names names) bool {
	switch kind {
	case 'P':
		return s.addProc(num, rest)
	case 'M':
		return s.addThread(rest)
	}
	return s.addGoroutine(rest, names)
}

// next reads "key=" at the start of b; value is all that follows.
func next(b []byte) (key, value []byte) {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if k := keyLen(b); k > 0 {
		return b[:k], b[k+1:]
	}
	return nil, nil
}

func (s *slot) addProc(num int64, b []byte) bool {
	queue, tick := int64(absent), int64(absent)
	var ended bool
	for {
		key, value := next(b)
		if key == nil {
			break
		}
		n := 0
		switch string(key) {
		case "schedtick":
			tick, n = natural(value, maxTick)
		case "runqsize":
			if queue, n = natural(value, maxCount); n > 0 && n < len(value) && value[n] == '/' {
				n = wordLen(value)
			}
		default: // gfreecnt comes last in the oldest form
			n = wordLen(value)
			ended = ended || string(key) == "gfreecnt"
		}
		if n == 0 || !isEnd(value, n) {
			return false
		}
		b = value[n:]
	}
	if !ended || queue < 0 || tick < 0 || num >= maxProcs || num < int64(len(s.queues)) {
		return false
	}
	for int64(len(s.queues)) < num { // the lines of these could not be read
		s.queues, s.ticks = append(s.queues, absent), append(s.ticks, absent)
	}
	s.queues, s.ticks = append(s.queues, queue), append(s.ticks, tick)
	s.LocalQueues, s.SchedTicks = s.queues, s.ticks
	return true
}

func (s *slot) addThread(b []byte) bool {
	var proc, goroutine, dying int64 = -1, -1, 0
	var ended bool
	for !ended {
		key, value := next(b)
		if key == nil {
			// The reason in preemptoff may hold spaces: on to the next word.
			i := wordLen(b[min(1, len(b)):]) + 1
			if i >= len(b) {
				return false
			}
			b = b[i:]
			continue
		}
		n := 0
		switch string(key) {
		case "p":
			proc, n = id(value)
		case "curg":
			goroutine, n = id(value)
		case "dying":
			dying, n = natural(value, maxCount)
		case "lockedg":
			_, n = id(value)
			ended = true
		default:
			b = value[wordLen(value):]
			continue
		}
		if n == 0 || !ended && !isEnd(value, n) {
			return false
		}
		b = value[n:]
	}
	d := s.detailed()
	if proc < 0 && goroutine >= 0 {
		d.OffProc++
	}
	if dying > 0 {
		d.Dying++
	}
	return true
}

func (s *slot) addGoroutine(b []byte, names names) bool {
	b = b[len("status="):]
	status, n := natural(b, maxCount)
	if n == 0 || n == len(b) || b[n] != '(' {
		return false
	}
	b = b[n+1:]
	// A reason may hold parentheses: it ends at the last that is closed.
	end := bytes.LastIndex(b, []byte(") m="))
	if end < 0 {
		return false
	}
	rest := b[end+len(") m="):]
	if _, n = id(rest); n == 0 || !bytes.HasPrefix(rest[n:], []byte(" lockedm=")) {
		return false
	}
	if _, m := id(rest[n+len(" lockedm="):]); m == 0 {
		return false
	}
	d := s.detailed()
	status &^= scanBit
	if status < int64(len(d.ByStatus)) {
		d.ByStatus[status]++
	}
	if status != goroutineDead && status != goroutineDeadExtra {
		d.Goroutines++
	}
	// The runtime does not clear the reason when the wait ends.
	if status == goroutineWaiting {
		d.Reasons[names.keep(b[:end])]++
	}
	return true
}
