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
