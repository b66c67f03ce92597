package plan

import "time"

// pace foretells the remaining time from the trials so far.
type pace struct {
	each  time.Duration
	total time.Duration
	n     int
}

func (p *pace) add(d time.Duration) { p.total += d; p.n++ }

// remaining is that of so many trials; 0: not known.
func (p *pace) remaining(trials int) time.Duration {
	each := p.each
	if p.n > 0 {
		each = p.total / time.Duration(p.n)
	}
	return each * time.Duration(trials)
}
