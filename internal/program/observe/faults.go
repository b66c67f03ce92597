package observe

import (
	"context"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/rule"
)

// held ends the look at page faults since the Scan before, and returns what it saw.
func (s *Scanner) held() (all map[Identity]procstat.FaultUse) {
	if s.faults != nil {
		all, s.faults = s.faults.Stop(), nil
	}
	return all
}

// FaultRate is the page faults a second that had to read from a disk.
func (c Counts) FaultRate() (perSecond float64, known bool) {
	if c.Span <= 0 {
		return 0, false
	}
	return float64(c.MajorFaults) / c.Span.Seconds(), true
}

// HeldPs is how many Ps these page faults held, on average.
func (c Counts) HeldPs() (ps float64, known bool) {
	if c.Held == nil {
		return 0, false
	}
	return c.Held.Ps()
}

// Queued is how many goroutines could run and waited for a P, on average, by the
// runtime's own count.
func (c Counts) Queued() (goroutines float64, known bool) {
	if c.Latency == nil || c.Span <= 0 {
		return 0, false
	}
	return c.Latency.Sum() * goproc.LatencyPeriod / c.Span.Seconds(), true
}

// faults is what the rules judge of page faults; nil where nobody looked.
func (c Counts) faults() *rule.Faults {
	held, known := c.HeldPs()
	if !known {
		return nil
	}
	f := &rule.Faults{Held: held}
	if n, known := c.Queued(); known {
		f.Queued = &n
	}
	return f
}

// How long WithFaults looks at a process that has page faults, and how long it waits for
// one.
const (
	faultSpan = time.Second
	faultWait = 100 * time.Millisecond
)

// WithFaults adds to a Subject what page faults do to its process, as a second shows it.
// It returns early where the process has none, and what it was given where that is not
// known.
func WithFaults(ctx context.Context, s rule.Subject) rule.Subject {
	first, err := procstat.ReadStat(s.PID)
	if err != nil || first.MajorFaults == 0 {
		return s
	}
	scanner, err := NewScanner()
	if err != nil {
		return s
	}
	defer scanner.Close()
	if _, err := scanner.Scan(ctx, s.PID); err != nil || !wait(ctx, faultWait) {
		return s
	}
	if now, err := procstat.ReadStat(s.PID); err != nil || now.MajorFaults == first.MajorFaults || !wait(ctx, faultSpan-faultWait) {
		return s
	}
	snap, err := scanner.Scan(ctx, s.PID)
	if err != nil || len(snap.Processes) != 1 || snap.Processes[0].Started != first.Started {
		return s
	}
	s.Faults = snap.Processes[0].Faults
	return s
}

// wait reports whether that time has passed before the end of ctx.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
