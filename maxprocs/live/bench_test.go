package live

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sort"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkSwitch is what a change of GOMAXPROCS costs, by the size of the heap and the
// number of goroutines, while nothing collects and while a collection is always running:
// how long the call takes, and how long all goroutines pause (Go 1.22 and later).
//
//	go test ./live -run '^$' -bench Switch -benchtime 100x
func BenchmarkSwitch(b *testing.B) {
	for _, heap := range []int{10, 1000} {
		for _, goroutines := range []int{10, 10_000, 100_000} {
			for _, collecting := range []bool{false, true} {
				name := fmt.Sprintf("heap=%dMB/goroutines=%d/collecting=%v", heap, goroutines, collecting)
				b.Run(name, func(b *testing.B) { benchmarkSwitch(b, heap, goroutines, collecting) })
			}
		}
	}
}

func benchmarkSwitch(b *testing.B, heap, goroutines int, collecting bool) {
	kept := make([][]*int, 0, heap)
	for i := 0; i < heap; i++ { // a megabyte each, of pointers, which a collection follows
		part := make([]*int, 1<<17)
		for j := range part {
			part[j] = &goroutines
		}
		kept = append(kept, part)
	}
	end := make(chan bool)
	for i := 0; i < goroutines; i++ {
		go func() { <-end }()
	}
	var over atomic.Bool
	ended := make(chan bool)
	go func() {
		for collecting && !over.Load() {
			runtime.GC()
		}
		close(ended)
	}()
	start := runtime.GOMAXPROCS(2)
	calls := make([]float64, 0, b.N)
	before := pauses()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		time.Sleep(5 * time.Millisecond)
		from := time.Now()
		runtime.GOMAXPROCS(1 + i%2)
		calls = append(calls, float64(time.Since(from).Microseconds()))
	}
	b.StopTimer()
	after := pauses()
	over.Store(true)
	<-ended
	runtime.GOMAXPROCS(start)
	close(end)
	runtime.KeepAlive(kept)
	sort.Float64s(calls)
	b.ReportMetric(calls[len(calls)/2], "call-p50-µs")
	b.ReportMetric(calls[len(calls)*9/10], "call-p90-µs")
	b.ReportMetric(0, "ns/op")
	if after == nil {
		return
	}
	n := uint64(0)
	for i := range after.Counts {
		after.Counts[i] -= before.Counts[i]
		n += after.Counts[i]
	}
	seen := uint64(0)
	for i, c := range after.Counts {
		if seen += c; c > 0 && 2*seen >= n {
			b.ReportMetric(1e6*after.Buckets[i+1], "pause-p50-µs")
			return
		}
	}
}

// pauses are those of the world for another reason than a collection; nil: this release
// does not count them.
func pauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/other:seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: h.Buckets}
}
