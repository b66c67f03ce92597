package sched

import "math"

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

// flag reads 0 or 1, or since Go 1.20 false or true.
func flag(b []byte) (value int64, n int) {
	switch {
	case len(b) >= 4 && string(b[:4]) == "true":
		return 1, 4
	case len(b) >= 5 && string(b[:5]) == "false":
		return 0, 5
	}
	return natural(b, 1)
}

// id reads the number of an M, P or G; -1 where there is none, which is printed
// so until Go 1.19, and as nil since.
func id(b []byte) (value int64, n int) {
	switch {
	case len(b) >= 3 && string(b[:3]) == "nil":
		return -1, 3
	case len(b) >= 2 && b[0] == '-' && b[1] == '1':
		return -1, 2
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
	for i, c := range b {
		if c == ' ' {
			return i
		}
	}
	return len(b)
}
