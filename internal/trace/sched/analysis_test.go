package sched

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// logOf writes samples of 1000 ms each, with ticks.
func logOf(n int, from int64, idle int, global int, queues ...int) string {
	return repeat(n, func(i int) string {
		ticks := make([]uint32, len(queues))
		for p := range ticks {
			ticks[p] = uint32(int64(4294967000) + (from/1000+int64(i))*100*int64(p+1))
		}
		line := sched(from+int64(i)*1000, idle, len(queues)-idle+3, 0, 2, global, strings.Trim(fmt.Sprint(queues), "[]"))
		return strings.TrimSuffix(line, "\n") + fmt.Sprintln(" schedticks="+fmt.Sprint(ticks))
	})
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestStats(t *testing.T) {
	s := analyse(strings.NewReader(logOf(11, 0, 1, 3, 8, 0, 0, 1)))
	m := s.Main
	if m == nil || m.Samples != 10 || m.StartupSamples != 1 || m.FirstLine != 1 || m.LastLine != 11 || m.ToMillis != 10_000 || s.SegmentCount != 1 {
		t.Fatalf("%+v", m)
	}
	for name, l := range map[string]struct {
		got  *Level
		want float64
	}{
		"gomaxprocs": {m.Procs, 4}, "idle": {m.IdleProcs, 1}, "idle share": {m.IdleShare, 0.25},
		"threads": {m.Threads, 6}, "off": {m.OffProcThreads, 0}, "spinning": {m.Spinning, 0}, "global": {m.GlobalQueue, 3},
		"local": {m.LocalQueues, 9}, "queued": {m.Queued, 12}, "misplaced": {m.Misplaced, misplaced([]float64{8, 0, 0, 1})},
		"P 0": {m.PerProc[0].Queue, 8}, "interval": {m.IntervalMillis, 1000},
	} {
		if l.got == nil || !near(l.got.Mean, l.want) || l.got.N != 10 || l.got.Min != l.got.Max {
			t.Errorf("%s: %+v, want %g", name, l.got, l.want)
		}
	}
	// The ticks wrap in the middle.
	if *m.PerProc[3].Ticks != 4000 || !near(*m.PerProc[3].TickShare, 0.4) || !near(*m.TicksPerSecond, 1000) || !near(*m.PerProc[0].QueueShare, 8./9) {
		t.Errorf("%+v, %g/s", m.PerProc[3], *m.TicksPerSecond)
	}
	if *m.IdleMedian != 1 || m.AllBusy != 0 || m.HalfIdle != 0 || *m.IdleQueued != 10 || *m.Crowded != 10 || m.Detail != nil {
		t.Errorf("%+v", m.Stats)
	}
	if b, err := json.Marshal(s); err != nil || strings.Contains(string(b), "Misplaced") {
		t.Errorf("%v: %s", err, b)
	}
}

// TestAbsentStaysAbsent: Go 1.2 prints no spinning threads, which is not none.
func TestAbsentStaysAbsent(t *testing.T) {
	f := must.Get(os.Open("testdata/go1.2.2-plain.log"))(t)
	defer f.Close()
	m := analyse(f).Main
	if m.Spinning != nil || m.TicksPerSecond != nil || m.PerProc[0].Ticks != nil || m.Detail != nil {
		t.Errorf("%+v", m)
	}
	b, err := json.Marshal(m)
	if err != nil || !strings.Contains(string(b), `"spinning_threads":null`) {
		t.Errorf("%s, %v", b, err)
	}
}

// The SCHED lines alone of a log with details have no queues of Ps, which are not empty ones.
func TestQueuesThatNobodyRead(t *testing.T) {
	b := must.Get(json.Marshal(analyse(strings.NewReader(detailLine + "\n")).Main))(t)
	must.Say(t, string(b), `"queued":null`, `"idle_and_queued_samples":null`, `"crowded_samples":null`)
}

func TestSegments(t *testing.T) {
	log := logOf(3, 0, 0, 0, 0, 0) + logOf(20, 0, 0, 0, 0, 0) + logOf(3, 0, 0, 0, 0, 0, 0, 0)
	s := analyse(strings.NewReader(log))
	if s.SegmentCount != 3 || s.Main.FirstLine != 4 || s.Main.LastLine != 23 || s.Main.Samples != 19 || s.Interleaved() {
		t.Errorf("%d segments, %+v", s.SegmentCount, s.Main)
	}
	if s.ChangeCount != 0 {
		t.Errorf("a new process is no change: %+v", s.Changes)
	}
	one := analyse(strings.NewReader(logOf(100, 0, 0, 0, 0) + logOf(5, 0, 0, 0, 0)))
	if one.Main.Samples != 99 {
		t.Errorf("%+v", one.Main)
	}
	many := analyse(strings.NewReader(logOf(1, 7, 0, 0, 0) + strings.Repeat(logOf(1, 0, 0, 0, 0), 2000) + logOf(9, 0, 0, 0, 0)))
	if many.SegmentCount != 2002 || many.Main.Samples != 8 || many.Main.Index != 2001 {
		t.Errorf("%d segments, %+v", many.SegmentCount, many.Main)
	}
}

// TestNothingIsNull: what was measured and was none is an empty list.
func TestNothingIsNull(t *testing.T) {
	for _, log := range []string{"", logOf(3, 0, 0, 0, 0), detailLine + "\n"} {
		b := must.Get(json.Marshal(analyse(strings.NewReader(log))))(t)
		for _, list := range []string{"changes", "first", "per_proc", "wait_reasons"} {
			if strings.Contains(string(b), `"`+list+`":null`) {
				t.Errorf("%s is null in %s", list, b)
			}
		}
	}
}

func TestChanges(t *testing.T) {
	s := analyse(strings.NewReader(logOf(3, 0, 0, 0, 0, 0) + logOf(3, 3000, 0, 0, 0, 0, 0, 0) + logOf(1, 6000, 0, 0, 0)))
	want := []Change{{Line: 4, Millis: 3000, From: 2, To: 4}, {Line: 7, Millis: 6000, From: 4, To: 1}}
	if s.ChangeCount != 2 || !reflect.DeepEqual(s.Changes, want) || len(s.Main.PerProc) != 4 {
		t.Errorf("%+v", s.Changes)
	}
}

func TestManyProcs(t *testing.T) {
	queues := make([]int, maxTracked+100)
	for i := range queues {
		queues[i] = 1
	}
	m := analyse(strings.NewReader(logOf(12, 1, 0, 0, queues...))).Main
	if len(m.PerProc) != maxTracked || m.Untracked != 100 || m.LocalQueues.Mean != float64(len(queues)) {
		t.Errorf("%d Ps, %d beyond, %+v", len(m.PerProc), m.Untracked, m.LocalQueues)
	}
}

func TestDetailStats(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		b.WriteString(strings.Replace(detailLine, "SCHED 5ms", fmt.Sprintf("SCHED %dms", 5+i), 1) + "\n" + procLine + "\n" + thread + "\n" + goroutine + "\n")
		for range 10 + i%2*2 {
			b.WriteString("  G9: status=4(sync.Mutex.Lock) m=nil lockedm=nil\n")
		}
		b.WriteString("  G7: status=6(chan receive) m=nil lockedm=nil\n  G8: status=1(chan receive) m=nil lockedm=nil\n")
	}
	d := analyse(strings.NewReader(b.String())).Main.Detail
	if d.Samples != 12 || d.Goroutines.Mean != 13 || d.Runnable.Mean != 1 || d.Waiting.Max != 13 || d.OffProcThreads.Mean != 1 {
		t.Errorf("%+v", d)
	}
	want := []ReasonStats{{Name: "sync.Mutex.Lock", Mean: 11, Max: 12}, {Name: "force gc (idle)", Mean: 1, Max: 1, System: true}}
	if !reflect.DeepEqual(d.Reasons, want) {
		t.Errorf("%+v", d.Reasons)
	}
}

func TestMisplaced(t *testing.T) {
	for _, tc := range []struct {
		queues []float64
		want   float64
	}{
		{nil, 0}, {[]float64{0, 0}, 0}, {[]float64{5}, 0}, {[]float64{3, 3, 3}, 0},
		{[]float64{8, 0, 0, 0}, 0.75}, {[]float64{4, 4, 0, 0}, 0.5}, {[]float64{3, 1}, 0.25},
	} {
		if got := misplaced(tc.queues); !near(got, tc.want) {
			t.Errorf("%v: %g, want %g", tc.queues, got, tc.want)
		}
	}
}

func TestTop(t *testing.T) {
	for _, tc := range []struct {
		queues []float64
		least  float64
		want   []int
		share  float64
	}{
		{[]float64{5, 4, 0, 1}, 0.9, []int{0, 1}, 0.9},
		{[]float64{1, 1, 1, 1}, 0.8, []int{0, 1, 2, 3}, 1},
		{[]float64{0, 0, 9}, 0.8, []int{2}, 1},
		{[]float64{0, 0}, 0.8, nil, 0},
	} {
		if ids, share := top(tc.queues, tc.least); !reflect.DeepEqual(ids, tc.want) || !near(share, tc.share) {
			t.Errorf("%v: %v hold %g, want %v and %g", tc.queues, ids, share, tc.want, tc.share)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, tc := range []struct {
		counts []int64
		want   float64
	}{{[]int64{1}, 0}, {[]int64{1, 1}, 0.5}, {[]int64{1, 0, 2}, 2}, {[]int64{0, 5, 5, 0}, 1.5}} {
		if got := median(tc.counts); *got != tc.want {
			t.Errorf("%v: %g, want %g", tc.counts, *got, tc.want)
		}
	}
	if median(nil) != nil {
		t.Error("a median of nothing")
	}
}
