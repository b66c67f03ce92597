package exporter

import (
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// look is one scan of one process: its sums, and what was counted since the scan
// before.
type look struct {
	total, recent int64 // voluntary switches; recent -1: this scan is the first of all
	uncounted     bool
	back          bool // the scan before did not see it: recent is all that it did
	after         time.Duration
	want          int64
}

func TestCounters(t *testing.T) {
	for name, tc := range map[string]struct {
		source observe.Source
		looks  []look
	}{
		"taskstats": {"taskstats", []look{{total: 10, recent: -1, want: 10}, {total: 15, recent: 5, want: 15}}},
		"taskstats, a thread counted twice while it ends": {"taskstats", []look{{total: 10, recent: -1, want: 10}, {total: 18, recent: 8, want: 18}, {total: 12, recent: 0, want: 18}, {total: 19, recent: 7, want: 19}}},
		"threads that end":        {"tasks", []look{{total: 100, recent: -1, want: 100}, {total: 110, recent: 10, want: 110}, {total: 30, recent: 5, want: 115}, {total: 40, recent: 10, want: 125}}},
		"unreadable for one scan": {"tasks", []look{{total: 100, recent: -1, want: 100}, {uncounted: true, recent: 0, want: 100}, {total: 110, recent: 110, want: 110}, {total: 111, recent: 1, want: 111}}},
		"not seen for one scan":   {"tasks", []look{{total: 100, recent: -1, want: 100}, {total: 60, back: true, want: 100}, {total: 70, recent: 10, want: 110}}},
		"not seen for long":       {"tasks", []look{{total: 100, recent: -1, want: 100}, {total: 60, back: true, after: 2 * forgetAfter, want: 60}}},
	} {
		c, now := counters{}, still()
		for i, l := range tc.looks {
			now = now.Add(time.Second + l.after)
			c.forget(now)
			n := func(v int64) observe.Counts {
				return observe.Counts{Span: time.Hour, Counted: !l.uncounted, Voluntary: v, Involuntary: 2 * v, RunQueueWait: time.Duration(v), CPU: time.Duration(v)}
			}
			p := observe.Process{Started: 1, Total: n(l.total)}
			p.PID = 1
			switch {
			case l.back:
				p.Recent = new(p.Total)
			case l.recent >= 0:
				p.Recent = new(n(l.recent))
				p.Recent.Span = time.Second
			}
			s := c.add(p, tc.source, now)
			if s.Voluntary != l.want || s.Involuntary != 2*l.want || s.Wait != time.Duration(l.want) || s.Counted == l.uncounted {
				t.Errorf("%s, scan %d: %+v, want %d", name, i, s, l.want)
			}
		}
	}
}

// TestCountersOfAnother gives a PID to another process.
func TestCountersOfAnother(t *testing.T) {
	c := counters{}
	p := observe.Process{Started: 1, Total: observe.Counts{CPU: time.Hour, Counted: true, Voluntary: 1e6}}
	c.add(p, observe.Taskstats, still())
	p.Started, p.Total = 2, observe.Counts{CPU: time.Second, Counted: true, Voluntary: 3}
	if s := c.add(p, observe.Taskstats, still()); s.CPU != time.Second || s.Voluntary != 3 {
		t.Errorf("%+v", s)
	}
}

func TestForget(t *testing.T) {
	c := counters{}
	for pid := range 1000 {
		p := observe.Process{}
		p.PID = pid
		c.add(p, observe.Taskstats, still().Add(time.Duration(pid)*time.Second))
	}
	c.forget(still().Add(999 * time.Second))
	if len(c) != int(forgetAfter/time.Second)+1 {
		t.Errorf("%d kept", len(c))
	}
}
