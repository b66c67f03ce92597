// Package traffic watches a program under its own traffic: by the Meter of package
// maxprocs/live that the program has, it knows the requests, their latency from arrival
// and the CPU time of each. It sends no load and changes nothing.
package traffic

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/live"
)

// Watched is what a program did between two readings of its Meter.
type Watched struct {
	State        live.State // at the end
	Duration     time.Duration
	Changed      bool // GOMAXPROCS changed meanwhile
	live.Metrics      // what was counted meanwhile
	Stamped      bool // latency counts from the kernel's receipt
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
	since, err := meter.Since(from, to, w.State)
	if err != nil || w.State.Started != before.Started {
		return w, fmt.Errorf("%s: %w", c.Name(), cmp.Or(err, meter.ErrRestarted))
	}
	if apart := time.Duration(to.At-from.At) - time.Since(began); apart.Abs() > clocksApart {
		return w, fmt.Errorf("%s: its clock and the clock here differ by %s over the measurement; nothing can be counted per second", c.Name(), number.Minutes(apart.Abs()))
	}
	w.Duration, w.Changed = time.Duration(to.At-from.At), w.State.Procs != before.Procs || w.State.Switches != before.Switches
	w.Metrics, w.Stamped = since, since.Arrival.Count() > 0
	return w, nil
}

// clocksApart is how far two clocks may differ over the measurement.
const clocksApart = 10 * time.Second

// latency is that of requests: from arrival where it is known, else of the handlers.
func (w Watched) latency() live.Histogram {
	if w.Stamped {
		return w.Arrival
	}
	return w.Handler
}

// rate is requests per second.
func (w Watched) rate() float64 { return float64(w.Requests) / w.Duration.Seconds() }
