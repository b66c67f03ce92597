package sched

import "bytes"

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
		names.count(&d.Reasons, b[:end])
	}
	return true
}
