package observe

import (
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
	return c.each(float64(c.MajorFaults), true)
}

// HeldPs is how many Ps these page faults held, on average.
func (c Counts) HeldPs() (ps float64, known bool) {
	if c.Held == nil {
		return 0, false
	}
	return c.Held.Ps()
}

// HeldPs is how many of its Ps: of an estimate, no more than there are.
func (p *Process) HeldPs() (ps float64, known bool) {
	ps, known = p.Last().HeldPs()
	if p.Live != nil {
		ps = min(ps, float64(*p.Live))
	}
	return ps, known
}

// Queued is how many goroutines could run and waited for a P, on average, by the
// runtime's own count.
func (c Counts) Queued() (goroutines float64, known bool) {
	if c.Latency == nil {
		return 0, false
	}
	return c.each(c.Latency.Sum()*goproc.LatencyPeriod, true)
}

// faults is what the rules judge of page faults; nil where nobody looked.
func (p *Process) faults() *rule.Faults {
	held, known := p.HeldPs()
	if !known {
		return nil
	}
	f := &rule.Faults{Held: held}
	if n, known := p.Last().Queued(); known {
		f.Queued = &n
	}
	return f
}
