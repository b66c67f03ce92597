// Package traffic watches a program under its own traffic: what is seen of it from outside,
// and where it has the Meter of package maxprocs/live, its requests, their latency from
// arrival and the CPU time of each. It sends no load and changes nothing.
package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/maxprocs/live"
)

// Watched is what a program did between two readings of its Meter.
type Watched struct {
	PID          int
	Port         int // where it listens, or the first of several; 0: not known
	GoVersion    string
	Procs        int     // GOMAXPROCS at the end
	Limit        float64 // CPUs; 0: none is known
	Duration     time.Duration
	Changed      bool // GOMAXPROCS changed meanwhile
	live.Metrics      // what was counted meanwhile
	Metered      bool // it has a Meter: else nothing is known of its requests
	Stamped      bool // latency counts from the kernel's receipt
	// Seen is what was seen from outside meanwhile, by the names of package verdict/live.
	Seen map[string]float64
}

// Watch reads the Meter, waits, and reads it again. A context that ends while it waits ends
// the wait: what was counted until then is kept. begun is told the GOMAXPROCS before.
func Watch(ctx context.Context, pid int, d time.Duration, begun func(procs int)) (Watched, error) {
	w := Watched{PID: pid}
	var programs observe.Reader
	counts := func() (live.Metrics, error) {
		used, err := procstat.ReadCPUTime(pid)
		if err != nil && procstat.HasEnded(pid) {
			err = fmt.Errorf("process %d: %w", pid, meter.ErrGone)
		}
		return live.Metrics{CPU: used.Seconds()}, err
	}
	p, err := new(meter.Reader).Open(pid)
	switch {
	case err == nil:
		defer p.Close()
		if _, err := p.Metrics(); err == nil { // else it allows leases alone
			counts, w.Metered = p.Metrics, true
		}
	case !errors.Is(err, meter.ErrNone):
		return w, err
	}
	before, err := programs.Live(pid)
	if err != nil {
		return w, err
	}
	from, err := counts()
	began := time.Now() // with a reading that no setting of the clock changes
	if err != nil {
		return w, err
	}
	begun(before.Procs)
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	to, err := counts()
	w.Duration = time.Since(began)
	if err != nil {
		return w, err
	}
	now, err := programs.Live(pid)
	if err != nil {
		return w, err
	}
	if w.Metrics, err = meter.Between(from, to, w.Duration, max(now.NumCPU, now.Procs)); err != nil {
		return w, fmt.Errorf("process %d: %w", pid, err)
	}
	if limits, err := observe.Limits(pid); err == nil {
		for _, l := range limits {
			if w.Limit == 0 || l.CPUs < w.Limit {
				w.Limit = l.CPUs
			}
		}
	}
	w.GoVersion, w.Procs, w.Changed = now.GoVersion, now.Procs, now.Procs != before.Procs
	w.Stamped = w.Arrival.Count() > 0
	return w, nil
}

// latency is that of requests: from arrival where it is known, else of the handlers.
func (w Watched) latency() live.Histogram {
	if w.Stamped {
		return w.Arrival
	}
	return w.Handler
}

func (w Watched) rate() float64 { return float64(w.Requests) / w.Duration.Seconds() }
