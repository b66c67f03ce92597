// Package traffic watches a program under its own traffic: by the Meter of package
// maxprocs/live that the program has, it knows the requests, their latency from arrival
// and the CPU time of each. It sends no load and changes nothing.
package traffic

import (
	"context"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/maxprocs/live"
)

// Watched is what a program did between two readings of its Meter.
type Watched struct {
	State    live.State // at the end
	Duration time.Duration
	Changed  bool // GOMAXPROCS changed meanwhile

	Requests, Failed, Panics uint64
	InFlight                 uint64  // at the end
	CPU, GCCPU               float64 // seconds
	GCCycles                 uint64
	Arrival, Handler         live.Histogram
	Stamped                  bool // latency counts from the kernel's receipt
	Streams, Hijacked        uint64
}

// Watch reads the Meter, waits, and reads it again. A context that ends while it waits ends
// the wait: what was counted until then is kept.
func Watch(ctx context.Context, c *meter.Client, d time.Duration, begun func(pid, procs int)) (Watched, error) {
	var w Watched
	before, err := c.State(ctx)
	if err != nil {
		return w, err
	}
	from, err := c.Metrics(ctx)
	if err != nil {
		return w, err
	}
	begun(before.PID, before.Procs)
	began := time.Now()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	last := context.WithoutCancel(ctx)
	to, err := c.Metrics(last)
	if err != nil {
		return w, err
	}
	if w.State, err = c.State(last); err != nil {
		return w, err
	}
	if len(to.Arrival.Counts) > mostBuckets || len(to.Handler.Counts) > mostBuckets {
		return w, fmt.Errorf("%s: its histogram has more buckets than one of maxprocs/live", c.Name())
	}
	if w.State.Started != before.Started || !grew(from, to) {
		return w, fmt.Errorf("%s: the program was restarted during the measurement", c.Name())
	}
	if apart := time.Duration(to.At-from.At) - time.Since(began); apart.Abs() > clocksApart {
		return w, fmt.Errorf("%s: its clock and the clock here differ by %v over the measurement; nothing can be counted per second", c.Name(), apart)
	}
	w.Duration, w.Changed = time.Duration(to.At-from.At), w.State.Procs != before.Procs || w.State.Switches != before.Switches
	w.Requests, w.Failed, w.Panics, w.InFlight = to.Requests-from.Requests, to.Failed-from.Failed, to.Panics-from.Panics, to.InFlight
	w.CPU, w.GCCPU, w.GCCycles = to.CPU-from.CPU, to.GCCPU-from.GCCPU, to.GCCycles-from.GCCycles
	w.Arrival, w.Handler = to.Arrival.Since(from.Arrival), to.Handler.Since(from.Handler)
	w.Streams, w.Hijacked = to.Streams-from.Streams, to.Hijacked-from.Hijacked
	w.Stamped = w.Arrival.Count() > 0
	return w, nil
}

// clocksApart is how far two clocks may differ over the measurement.
const clocksApart = 10 * time.Second

// mostBuckets is above what any Meter has: later ones would be of no duration.
const mostBuckets = 512

// grew reports whether a reading can come after another: nothing that is counted becomes
// less.
func grew(from, to live.Metrics) bool {
	for _, pair := range [][2]uint64{
		{from.Requests, to.Requests}, {from.Failed, to.Failed}, {from.Panics, to.Panics},
		{from.GCCycles, to.GCCycles}, {from.Streams, to.Streams}, {from.Hijacked, to.Hijacked},
	} {
		if pair[1] < pair[0] {
			return false
		}
	}
	for _, pair := range [][2]live.Histogram{{from.Arrival, to.Arrival}, {from.Handler, to.Handler}} {
		for i, n := range pair[0].Counts {
			if i >= len(pair[1].Counts) && n > 0 || i < len(pair[1].Counts) && pair[1].Counts[i] < n {
				return false
			}
		}
	}
	return to.At > from.At && to.CPU >= from.CPU && to.GCCPU >= from.GCCPU
}

// latency is that of requests: from arrival where it is known, else of the handlers.
func (w Watched) latency() live.Histogram {
	if w.Stamped {
		return w.Arrival
	}
	return w.Handler
}

// rate is requests per second.
func (w Watched) rate() float64 { return float64(w.Requests) / w.Duration.Seconds() }
