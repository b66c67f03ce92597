package sched

import "slices"

// doubt is a line that was given to one of two processes, as it is nearer to its
// ticks. It is settled by the next line of the other: were the first its own, that
// next one would have to go on from where taker stood before.
type doubt struct {
	taker, other *process
	before       tally // of the taker: its ticks and their time alone
	line         int64
}

// nearer is the one of two whose ticks grew less, in doubt.
func (l *processes) nearer(a, b *process, s *Sample) *process {
	if b.growth(s) <= a.growth(s) {
		a, b = b, a
	}
	l.doubt = &doubt{taker: a, other: b, before: tally{prev: slices.Clone(a.prev), ticksAt: a.ticksAt}, line: s.Line}
	return a
}

// settle ends a doubt by a line of p.
func (l *processes) settle(p *process, s *Sample) {
	d := l.doubt
	if d == nil || p != d.other {
		return
	}
	l.doubt = nil
	if d.before.mayGoOn(s) {
		l.mix(d.line, d.taker, d.other)
	}
}
