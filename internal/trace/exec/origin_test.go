package exec

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
)

// certainAfter counts by the reason of the stop before it the steals of a trace
// that are held to be proven, as far as its spans are kept.
func certainAfter(tr *Trace) map[string]int {
	count := map[string]int{}
	kept := tr.Duration
	if n := len(tr.Spans); int64(n) < tr.SpanCount {
		kept = tr.Spans[n-1].End
	}
	for _, s := range tr.Steals {
		if s.Start > kept {
			break
		}
		before := Span{Stop: "made"}
		for _, span := range tr.Spans {
			if span.Goroutine == s.Goroutine && span.End <= s.Ready && span.End >= before.End {
				before = span
			}
		}
		if !s.Unclear {
			count[before.Stop]++
		}
	}
	return count
}

func collect() {
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 5 {
				runtime.GC()
			}
		})
	}
	wg.Wait()
}

// Those that wait for a collection are woken together, through both kinds of
// queues: of none is it proven that it was stolen. The recorded traces are of a
// program that does what collect does, on two Ps.
func TestTheCollectorsWaitersAreUnclear(t *testing.T) {
	traces := map[string]*Trace{}
	for _, version := range []string{"1.21.13", "1.24.6"} {
		file := "testdata/gc/go" + version + ".trace"
		tr, err := Read(bytes.NewReader(load(t, file)), Options{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		checkTrace(t, file, tr)
		if tr.Starts.Unclear < 10 {
			t.Errorf("%s: %+v", file, tr.Starts)
		}
		traces[file] = tr
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	traces["live"] = record(t, collect)
	for name, tr := range traces {
		count := certainAfter(tr)
		// In Go 1.21 a wait of the runtime has no reason: it "waits".
		for _, why := range []string{"wait until GC ends", "waits", "system goroutine wait"} {
			if n := count[why]; n > 0 {
				t.Errorf("%s: %d of %d said to be stolen had stopped for %q", name, n, tr.Starts.Stolen, why)
			}
		}
	}
}
