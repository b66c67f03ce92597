package sched

import "slices"

// Order is how the processes of a log follow each other.
type Order string

// The orders of processes.
const (
	OrderOne     Order = "one"     // there is one, or none
	OrderInTurn  Order = "in-turn" // each fell silent before the next had gone on for long
	OrderAtOnce  Order = "at-once" // one went on after another began
	OrderUnknown Order = "unknown" // too few lines of each to tell
)

// silent tells that p would have written again were it still there.
func (l *processes) silent(p *process) bool {
	n := l.intervalOf(p)
	return p.dying || n > 0 && 2*(l.clock-p.at) >= 3*n
}

// lost tells that one line in eight goes on from none: then the others are hardly
// given to the right ones.
func (l *processes) lost(samples int64) bool {
	return l.strays >= minStrays && l.strays*8 >= samples
}

func (l *processes) order() Order {
	switch {
	case l.begun < 2:
		return OrderOne
	case l.atOnce:
		return OrderAtOnce
	case l.unproven || slices.ContainsFunc(l.open, func(p *process) bool { return p != l.current && !l.silent(p) }):
		return OrderUnknown
	}
	return OrderInTurn
}
