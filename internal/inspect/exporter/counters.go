package exporter

import (
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// forgetAfter is how long a process that is not seen keeps its counters, for the
// case that it comes back: one that could not be read for a moment.
const forgetAfter = 5 * time.Minute

// sums are the counters of one process as they are exported. They never fall.
type sums struct {
	CPU, Wait              time.Duration
	Voluntary, Involuntary int64

	Counted bool // by this scan: Wait and the switches are known
	seen    time.Time
}

// counters keeps the sums of all processes between scans.
type counters map[observe.Identity]*sums

// add counts what a scan saw of a process, once a scan.
func (c counters) add(p observe.Process, source observe.Source, at time.Time) sums {
	id := p.Identity()
	s := c[id]
	if s == nil {
		s = new(sums)
		c[id] = s
	}
	before := *s
	s.seen, s.Counted = at, p.Total.Counted
	s.CPU = max(s.CPU, p.Total.CPU)
	switch {
	case !p.Total.Counted:
	case source != observe.Taskstats && p.Recent != nil && before.Counted:
		s.Wait += p.Recent.RunQueueWait
		s.Voluntary += p.Recent.Voluntary
		s.Involuntary += p.Recent.Involuntary
	default:
		// The kernel's sum can be above the truth for an instant, while a thread
		// ends (kernel/taskstats.c counts it twice), and fall again.
		s.Wait = max(s.Wait, p.Total.RunQueueWait)
		s.Voluntary = max(s.Voluntary, p.Total.Voluntary)
		s.Involuntary = max(s.Involuntary, p.Total.Involuntary)
	}
	return *s
}

// forget drops the processes that have not been seen for long.
func (c counters) forget(now time.Time) {
	for id, s := range c {
		if now.Sub(s.seen) > forgetAfter {
			delete(c, id)
		}
	}
}
