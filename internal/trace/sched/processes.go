package sched

import "slices"

// GODEBUG is inherited, so a log can hold lines of several processes, in turn or at
// once, and a line does not say whose it is. It follows from what the runtime
// (proc.go: schedtrace, sysmon) guarantees of one process:
//
//   - its first line says 0 ms, and no later one does, unless it panics at once;
//   - its clock continues by schedtrace=N at least from line to line, and mostly by
//     little more (a fatal panic prints one line more, at any time, and the last);
//   - its schedticks do not fall, but for a wrap at 32 bits;
//   - GOMAXPROCS seldom changes.
//
// And all lines are in the order in which they were written: where one process's
// clock continued by a second, so did every other's.

const (
	// maxOpen is how many processes are held at once to be continued.
	maxOpen = 16
	// minFlaps is how often GOMAXPROCS must go back to where it was, in one sample
	// of three, to be that of two processes.
	minFlaps = 5
	// minFalls is how often ticks must fall, in one sample of eight, to be those of
	// two processes. One may be a line that other output damaged.
	minFalls = 2
	// minStrays is how many processes must be without their first line for the log
	// to make no sense. One or two may be the ends of logs that were put together.
	minStrays = 3
)

// processes reports which process wrote each line.
type processes struct {
	open    []*process
	current *process // wrote the last line
	// clock is the least that can have passed since the log's first line, in
	// milliseconds.
	clock    int64
	interval int64 // of the process that last showed one; 0 before
	least    int64 // the shortest gap of any; 0 before
	begun    int64
	strays   int64 // of them, those whose first line was not seen, but for the log's first
	atOnce   bool
	unproven bool  // one that is no longer held may not have ended
	unclear  int64 // the first line that may be either of two processes'; 0 without
	doubt    *doubt
}

// writer is the process that wrote the sample's line, which is added to it by the
// caller; closed are those that need not be held any longer.
func (l *processes) writer(s *Sample) (p *process, closed []*process) {
	p = l.continued(s)
	if p == nil {
		closed = l.makeRoom()
		p = &process{at: l.clock, before: absent}
		p.seg.Index = l.begun
		if l.begun > 0 && s.Millis > 0 {
			l.strays++
		}
		l.begun++
		l.open = append(l.open, p)
	} else {
		l.atOnce = l.atOnce || p != l.current
		l.settle(p, s)
		l.advance(p, s)
	}
	p.dying = s.dying()
	l.current = p
	return p, closed
}

// advance moves the clocks on to the next line of p.
func (l *processes) advance(p *process, s *Sample) {
	gap := s.Millis - p.last
	l.clock = max(l.clock, p.at+gap)
	p.at = l.clock
	if s.dying() || gap == 0 {
		return
	}
	if p.least == 0 || gap < p.least {
		p.least = gap
	}
	if l.least == 0 || gap < l.least {
		l.least = gap
	}
	p.gaps[p.gapN%recentGaps] = gap
	p.gapN++
	if n := p.usual(); p.gapN >= fewGaps || l.interval == 0 || n < l.interval {
		l.interval = n
	}
	if s.Procs >= 0 && p.gomaxprocs >= 0 && s.Procs != p.gomaxprocs {
		if s.Procs == p.before {
			p.flaps++
		}
		p.before = p.gomaxprocs
		p.mixed = p.mixed || p.flaps >= minFlaps && p.flaps*3 >= p.seg.Samples
	}
}

// continued is the process that the line continues; nil where it starts one.
func (l *processes) continued(s *Sample) *process {
	if c := l.current; s.Millis == 0 {
		if c != nil && c.last == 0 && c.dying != s.dying() && c.mayGoOn(s) {
			return c
		}
		return nil
	}
	var buf [maxOpen]*process
	may := buf[:0]
	for _, p := range l.open {
		if l.may(p, s) {
			may = append(may, p)
		}
	}
	may, fell := l.counted(may, s)
	switch {
	case len(may) > 1:
		return l.choose(may, s)
	case len(may) == 1:
		return may[0]
	case fell != nil:
		fell.falls++
		fell.mixed = fell.mixed || fell.falls >= minFalls && fell.falls*8 >= fell.seg.Samples
		return fell
	}
	return nil
}

// counted are those whose ticks continue with the line. Where they are none, fell is
// the one for which it is due: a line of it was another's, or is damaged.
func (l *processes) counted(may []*process, s *Sample) (on []*process, fell *process) {
	for _, p := range may {
		if l.fits(p, s) {
			fell = p
		}
	}
	return slices.DeleteFunc(may, func(p *process) bool { return !p.mayGoOn(s) }), fell
}

// makeRoom makes room for one more. It lets go of those that have ended, or, of too
// many, the one that is silent the longest.
func (l *processes) makeRoom() (closed []*process) {
	l.open = slices.DeleteFunc(l.open, func(p *process) bool {
		gone := p.dying && p != l.current || l.interval > 0 && l.clock-p.at > 8*l.intervalOf(p)
		if gone {
			closed = append(closed, p)
		}
		return gone
	})
	if len(l.open) == maxOpen {
		p := slices.MinFunc(l.open, func(a, b *process) int { return int(min(1, max(-1, a.at-b.at))) })
		l.unproven = l.unproven || !l.silent(p)
		l.open = slices.DeleteFunc(l.open, func(q *process) bool { return q == p })
		closed = append(closed, p)
	}
	return closed
}

const (
	// recentGaps are those whose median is a process's interval.
	recentGaps = 5
	// fewGaps are too few to know it by: the first is often long, as the program
	// starts.
	fewGaps = 3
)

// process is what one process wrote so far.
type process struct {
	tally

	at     int64 // the log's clock at its last line
	least  int64 // its shortest gap in milliseconds, 0 without any
	gaps   [recentGaps]int64
	gapN   int
	dying  bool // its last line is a fatal panic's
	before int  // GOMAXPROCS before the last change
	flaps  int64
	falls  int64 // lines due of it whose ticks fell
	mixed  bool  // some of its lines may be another's
}

// usual is the median of the last gaps, 0 before the first.
func (p *process) usual() int64 {
	n := min(p.gapN, recentGaps)
	if n == 0 {
		return 0
	}
	sorted := p.gaps
	slices.Sort(sorted[:n])
	return sorted[(n-1)/2]
}

// dying reports that a fatal panic printed the sample.
func (s *Sample) dying() bool { return s.Detail != nil && s.Detail.Threads.Dying > 0 }

// Order is how the processes of a log follow each other.
type Order string

// The orders of processes.
const (
	orderOne     Order = "one"     // there is one, or none
	orderInTurn  Order = "in-turn" // each fell silent before the next had gone on for long
	orderAtOnce  Order = "at-once" // one continued after another started
	orderUnknown Order = "unknown" // too few lines of each to tell
)

// silent reports that p would have written again were it still there.
func (l *processes) silent(p *process) bool {
	n := l.intervalOf(p)
	return p.dying || n > 0 && 2*(l.clock-p.at) >= 3*n
}

// lost reports that one line in eight continues from none: then the others are hardly
// given to the right ones.
func (l *processes) lost(samples int64) bool {
	return l.strays >= minStrays && l.strays*8 >= samples
}

func (l *processes) order() Order {
	switch {
	case l.begun < 2:
		return orderOne
	case l.atOnce:
		return orderAtOnce
	case l.unproven || slices.ContainsFunc(l.open, func(p *process) bool { return p != l.current && !l.silent(p) }):
		return orderUnknown
	}
	return orderInTurn
}
