package goproc

import (
	"encoding/binary"
	"maps"
	"math"
	"runtime/metrics"
	"slices"
	"testing"
)

// TestLatencyBounds holds the bounds against those that the runtime publishes.
func TestLatencyBounds(t *testing.T) {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	bounds := s[0].Value.Float64Histogram().Buckets // -Inf, 0, 64 ns, …, 2^47 ns, +Inf
	if len(bounds) != latencyBuckets+3 || bounds[1] != 0 {
		t.Fatalf("the runtime has %d bounds, %v first", len(bounds), bounds[:3])
	}
	for i := range latencyBuckets {
		if bucketEnd(i) != bounds[i+2] {
			t.Errorf("bucket %d ends at %v, in the runtime at %v", i, bucketEnd(i), bounds[i+2])
		}
	}
}

// latencyOf has one event in each of the buckets.
func latencyOf(buckets ...int) Latency {
	var l Latency
	for _, i := range buckets {
		l.counts[i]++
	}
	return l
}

func TestLatencyQuantile(t *testing.T) {
	end := float64(uint64(1)<<47) / 1e9
	for _, tt := range []struct {
		name string
		l    Latency
		q    float64
		want float64
		ok   bool
	}{
		{"none", Latency{}, 0.5, 0, false},
		{"q below", latencyOf(0), -0.1, 0, false},
		{"q above", latencyOf(0), 1.1, 0, false},
		{"q is no number", latencyOf(0), math.NaN(), 0, false},
		{"one, q 0", latencyOf(0), 0, 64e-9, true},
		{"one, q 1", latencyOf(3), 1, 256e-9, true},
		{"median of two", latencyOf(0, 4), 0.5, 64e-9, true},
		{"median of three", latencyOf(0, 4, 9), 0.5, 320e-9, true},
		{"the highest", latencyOf(0, 4, latencyBuckets-1), 1, end, true},
		{"negative", latencyOf(underflow, 4), 0.5, 0, true},
		{"beyond", latencyOf(overflow), 0.5, end, true},
	} {
		if got, ok := tt.l.Quantile(tt.q); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestLatencySince(t *testing.T) {
	before, after := latencyOf(3), latencyOf(3, 3, 5, overflow)
	if got := after.Since(nil); got != after {
		t.Error("since the start is not all")
	}
	if got := after.Since(&before); got != latencyOf(3, 5, overflow) || got.Count() != 3 {
		t.Errorf("%d events between, want 3", got.Count())
	}
	if got := before.Since(&after); got != before {
		t.Error("what fell is another process's, and all must be told")
	}
}

func TestLatencyCounts(t *testing.T) {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	got := latencyOf(underflow, underflow, 0, overflow, overflow, overflow).Counts()
	last := len(s[0].Value.Float64Histogram().Counts) - 1
	if len(got) != last+1 || got[0] != 2 || got[1] != 1 || got[2] != 0 || got[last] != 3 {
		t.Errorf("%d counts %v, the runtime has %d", len(got), got, last+1)
	}
}

func TestLatencyBuckets(t *testing.T) {
	l := latencyOf(underflow, 0, overflow)
	for i := range latencyBuckets {
		if bucketEnd(i) == 4096e-9 || bucketEnd(i) > 4096e-9 && bucketEnd(i-1) == 4096e-9 {
			l.counts[i]++ // the last one within 4.096 µs and the first one above
		}
	}
	b := l.Buckets()
	ends := slices.Sorted(maps.Keys(b))
	if len(b) != 12 || ends[0] != 1024e-9 || ends[1] != 4096e-9 || b[ends[0]] != 2 || b[ends[1]] != 3 || b[ends[2]] != 4 {
		t.Errorf("buckets %v", b)
	}
	for i := range ends[1:] {
		if b[ends[i]] > b[ends[i+1]] {
			t.Errorf("bucket %d does not rise: %v", i, b)
		}
	}
}

func TestLatencySum(t *testing.T) {
	l := latencyOf(4, 4) // 256 to 320 ns
	if got := l.Sum(); math.Abs(got-576e-9) > 1e-15 {
		t.Errorf("sum %v", got)
	}
}

func FuzzLatency(f *testing.F) {
	f.Add(make([]byte, latencySize), 0.5)
	b := make([]byte, latencySize)
	for i := range latencyBuckets + 2 {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(i))
	}
	f.Add(b, 0.99)
	f.Add(append(b[:8], 0xff), 1.0)
	f.Fuzz(func(t *testing.T, b []byte, q float64) {
		l, ok := parseLatency(b)
		if !ok {
			return
		}
		if len(b) < latencySize {
			t.Error("read from too little")
		}
		v, ok := l.Quantile(q)
		if ok && (l.Count() == 0 || !(v >= 0) || v > bucketEnd(latencyBuckets-1)) {
			t.Errorf("quantile %v of %d is %v", q, l.Count(), v)
		}
		if whole := l.Since(nil); whole.Since(&l).Count() != 0 {
			t.Error("events between a reading and itself")
		}
		for i, c := range l.Buckets() {
			if c > l.Count() {
				t.Errorf("bucket %v holds %d of %d", i, c, l.Count())
			}
		}
	})
}
