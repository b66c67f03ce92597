package sched

import "math/bits"

// spread counts values from 0 up, exactly below spreadExact and to a 32nd above, so
// that their median needs no more memory the more they are.
type spread []int64

const (
	spreadExact = 1024 // a power of two
	spreadParts = 32   // by doubling
)

func (t *spread) add(v int64) {
	at := spreadIndex(max(v, 0))
	if more := at + 1 - len(*t); more > 0 {
		*t = append(*t, make([]int64, more)...)
	}
	(*t)[at]++
}

func spreadIndex(v int64) int {
	if v < spreadExact {
		return int(v)
	}
	octave := bits.Len64(uint64(v / spreadExact)) // from 1
	within := v>>(octave-1+5) - spreadParts       // spreadExact is 2^5 parts of 2^5
	return spreadExact + (octave-1)*spreadParts + int(within)
}

// spreadValue is the least value with this index.
func spreadValue(i int) float64 {
	if i < spreadExact {
		return float64(i)
	}
	octave, within := (i-spreadExact)/spreadParts, (i-spreadExact)%spreadParts
	return float64(int64(spreadParts+within) << (octave + 5))
}

// median is nil without any value.
func (t spread) median() *float64 {
	m := median(t)
	if m != nil && *m >= spreadExact {
		v := spreadValue(int(*m))
		m = &v
	}
	return m
}
