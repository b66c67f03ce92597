package live

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Buckets of a histogram: 16 for each doubling, from 1 µs to 67 s, and one for what is
// shorter. A bucket is at most 6% wide.
const (
	perOctave = 16
	octaves   = 26
	buckets   = 1 + perOctave*octaves
	shortest  = time.Microsecond
	// longestKept bounds a duration, whatever time its piece of work is said to have arrived at:
	// a few decades would fill the sum.
	longestKept = 24 * time.Hour
)

func bucket(d time.Duration) int {
	switch {
	case d < shortest:
		return 0
	case d >= shortest<<octaves: // where the product below could overflow
		return buckets - 1
	}
	n := uint64(d) * perOctave / uint64(shortest) // sixteenths of a microsecond, from 16 on
	octave := bits.Len64(n) - 5                   // 16 to 31 is octave 0
	return 1 + octave*perOctave + int(n>>uint(octave)) - perOctave
}

// BucketEnd is the upper end of bucket i of a [Histogram]. The last bucket also counts
// what is longer.
func BucketEnd(i int) time.Duration {
	if i <= 0 {
		return shortest
	}
	octave, part := (i-1)/perOctave, (i-1)%perOctave
	end := time.Duration((part+perOctave+1)<<uint(octave)) * shortest
	return (end + perOctave - 1) / perOctave // in whole nanoseconds, rounded up
}

// histogram counts durations. It is safe for concurrent use.
type histogram struct {
	counts [buckets]atomic.Uint64
	sum    atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	d = min(max(d, 0), longestKept) // below 0 the clock was set back
	h.counts[bucket(d)].Add(1)
	if h.sum.Add(int64(d)) < 0 { // it stays at its greatest, rather than be negative
		h.sum.Store(math.MaxInt64)
	}
}

// Histogram is how many durations there were in each bucket, and their sum. Two readings
// of one process can be subtracted.
type Histogram struct {
	Counts []uint64 `json:"counts"` // by bucket, see BucketEnd; empty buckets at the end are left out
	Sum    float64  `json:"sum"`    // seconds
}

func (h *histogram) read() Histogram {
	sum := h.sum.Load()
	if sum < 0 { // add is about to set it
		sum = math.MaxInt64
	}
	r := Histogram{Counts: make([]uint64, 0, buckets), Sum: time.Duration(sum).Seconds()}
	last := 0
	for i := range h.counts {
		n := h.counts[i].Load()
		r.Counts = append(r.Counts, n)
		if n > 0 {
			last = i + 1
		}
	}
	r.Counts = r.Counts[:last]
	return r
}

// Since is what was counted after an earlier reading.
func (h Histogram) Since(earlier Histogram) Histogram {
	r := Histogram{Counts: append([]uint64(nil), h.Counts...), Sum: h.Sum - earlier.Sum}
	for i, n := range earlier.Counts {
		if i < len(r.Counts) && n <= r.Counts[i] {
			r.Counts[i] -= n
		}
	}
	return r
}

// Count is the number of durations.
func (h Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Quantile is the duration that the share q of all durations does not exceed, within 6%:
// the durations of a bucket are taken to be spread evenly in it. It is 0 if there are none.
func (h Histogram) Quantile(q float64) time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	seen, want := uint64(0), uint64(q*float64(n))
	for i, c := range h.Counts {
		if seen+c > want || seen+c == n {
			from, part := time.Duration(0), (float64(want-seen)+0.5)/float64(c)
			if i > 0 {
				from = BucketEnd(i - 1)
			}
			return from + time.Duration(math.Min(part, 1)*float64(BucketEnd(i)-from))
		}
		seen += c
	}
	return 0
}
