package goproc

import (
	"encoding/binary"
	"math"
)

// Latency is runtime.sched.timeToRun, the histogram behind the metric
// /sched/latencies:seconds: how long goroutines were runnable before they ran.
// The runtime follows a goroutine on one in 8 of its ways into the run queue, so
// an event here stands for about 8. Durations are the runtime's own timeHistogram
// (runtime/histogram.go, Go 1.20 and newer): nanoseconds, 4 buckets for each
// power of two, from 64 ns wide up to 2^47 ns (39 h).
type Latency struct {
	// counts has no room for the negative durations that some clocks give
	// (underflow) nor for those above: they are last, in this order, as in memory.
	counts [latencyBuckets + 2]uint64
}

// LatencyPeriod is how many events one event in a Latency stands for (gTrackingPeriod,
// runtime/runtime2.go).
const LatencyPeriod = 8

const (
	latencyShift   = 8 // bits of the durations below the first power of two that has buckets of its own
	latencySub     = 4 // buckets for each power of two
	latencyBuckets = 40 * latencySub
	underflow      = latencyBuckets
	overflow       = latencyBuckets + 1
	latencySize    = 8 * (latencyBuckets + 2) // bytes in memory

	// maxEvents bounds one bucket: what a thousand CPUs that did nothing but
	// switch goroutines every 100 ns would count in a year.
	maxEvents = 1 << 56
)

// parseLatency reads the histogram as it is in memory, false when it is none.
func parseLatency(b []byte) (Latency, bool) {
	var l Latency
	if len(b) < latencySize {
		return l, false
	}
	for i := range l.counts {
		l.counts[i] = binary.LittleEndian.Uint64(b[8*i:])
		if l.counts[i] > maxEvents {
			return Latency{}, false
		}
	}
	return l, true
}

// Since returns the events between two readings of one process; all since its
// start when before is nil. Counts never fall, so where one did, before is of
// another process, and nothing is taken off.
func (l Latency) Since(before *Latency) Latency {
	if before == nil {
		return l
	}
	span := l
	for i, n := range before.counts {
		if n > l.counts[i] {
			return l
		}
		span.counts[i] -= n
	}
	return span
}

// Count returns the number of events, about an eighth of those that there were.
func (l Latency) Count() uint64 {
	n := uint64(0)
	for _, c := range l.counts {
		n += c
	}
	return n
}

// Counts returns the events of each bucket as runtime/metrics has them: the
// negative ones, the buckets from 0 to 2^47 ns, those beyond.
func (l Latency) Counts() []uint64 {
	counts := append(make([]uint64, 0, len(l.counts)), l.counts[underflow])
	return append(append(counts, l.counts[:latencyBuckets]...), l.counts[overflow])
}

// Quantile returns the upper bound of the bucket that holds the event of rank
// q·Count, in seconds: at least a share of q ran within it. It overstates by up to
// a quarter above 256 ns, and by up to 64 ns below. Durations beyond the
// histogram count as its end, 2^47 ns, negative ones as 0. It is false without
// events and for a q outside of 0 to 1.
func (l Latency) Quantile(q float64) (seconds float64, ok bool) {
	n := l.Count()
	if n == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	rank := max(uint64(math.Ceil(q*float64(n))), 1)
	seen := l.counts[underflow]
	if seen >= rank {
		return 0, true
	}
	for i := range latencyBuckets {
		if seen += l.counts[i]; seen >= rank {
			return bucketEnd(i), true
		}
	}
	return bucketEnd(latencyBuckets - 1), true
}

// Sum estimates the sum of all durations, in seconds, with each event in the
// middle of its bucket; that is within an eighth above 256 ns.
func (l Latency) Sum() float64 {
	sum, from := 0.0, 0.0
	for i := range latencyBuckets {
		to := bucketEnd(i)
		sum += float64(l.counts[i]) * (from + to) / 2
		from = to
	}
	return sum + float64(l.counts[overflow])*from
}

// Buckets counts the events up to a number of seconds, for a Prometheus histogram: from 1 µs
// to 4.3 s, each four times the one before, in powers of two of nanoseconds. These are
// bounds of the runtime's own too, so the counts are exact. Count has the last one, +Inf.
func (l Latency) Buckets() map[float64]uint64 {
	const first, last, step = 10, 32, 2 // exponents of two
	buckets := map[float64]uint64{}
	n, i := l.counts[underflow], 0
	for exp := first; exp <= last; exp += step {
		for ; i < (exp-latencyShift+1)*latencySub; i++ {
			n += l.counts[i]
		}
		buckets[float64(uint64(1)<<exp)/1e9] = n
	}
	return buckets
}

// bucketEnd returns where bucket i ends and the next begins, in seconds: the
// first four end at 64, 128, 192 and 256 ns, each further four divide the span
// from one power of two to the next.
func bucketEnd(i int) float64 {
	power, sub := (i+1)/latencySub, (i+1)%latencySub
	nanos := uint64(sub) << (latencyShift - 2)
	if power > 0 {
		nanos = uint64(latencySub+sub) << (latencyShift - 3 + power)
	}
	return float64(nanos) / 1e9
}
