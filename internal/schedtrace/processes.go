package schedtrace

import "slices"

// GODEBUG is inherited, so a log can hold lines of several processes, in turn or at
// once, and a line does not say whose it is. It can be told from what the runtime
// (proc.go: schedtrace, sysmon) guarantees of one process:
//
//   - its first line says 0 ms, and no later one does, unless it panics at once;
//   - its clock goes on by schedtrace=N at least from line to line, and mostly by
//     little more (a fatal panic prints one line more, at any time, and the last);
//   - its schedticks do not fall, but for a wrap at 32 bits;
//   - GOMAXPROCS seldom changes.
//
// And all lines are in the order in which they were written: where one process's
// clock went on by a second, so did every other's.

const (
	// maxOpen is how many processes are held at once to be continued.
	maxOpen = 16
	// recentGaps are those whose median is a process's interval.
	recentGaps = 5
	// fewGaps are too few to know it by: the first is often long, as the program
	// starts.
	fewGaps = 3
	// sysmonSleep is how long sysmon sleeps at most, in milliseconds, and sysmonLate
	// how late it may come for that on a machine that is not busy.
	sysmonSleep = 10
	sysmonLate  = 15
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

// process is what one process wrote so far.
type process struct {
	tally
	series series

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

// processes tells which process wrote each line.
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
		closed = l.room()
		p = &process{at: l.clock, before: Absent}
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

// continued is the process that the line goes on; nil where it begins one.
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

// counted are those whose ticks go on with the line. Where they are none, fell is
// the one for which it is due: a line of it was another's, or is damaged.
func (l *processes) counted(may []*process, s *Sample) (on []*process, fell *process) {
	for _, p := range may {
		if l.fits(p, s) {
			fell = p
		}
	}
	return slices.DeleteFunc(may, func(p *process) bool { return !p.mayGoOn(s) }), fell
}

// choose is the likeliest of several. Where another is about as likely, both are
// mixed from then on.
func (l *processes) choose(may []*process, s *Sample) *process {
	var buf [maxOpen]*process
	fit := buf[:0]
	for _, p := range may {
		if l.fits(p, s) {
			fit = append(fit, p)
		}
	}
	if len(fit) == 0 {
		fit = l.closest(may, s)
	}
	last := fit[len(fit)-1]
	if len(fit) == 1 || !slices.ContainsFunc(fit, func(p *process) bool { return p.last > 0 }) {
		return last // of those that only began, it does not matter which
	}
	if !l.atOnce && slices.Contains(fit, l.current) {
		return l.current // nothing says yet that an earlier one is still there
	}
	if len(fit) == 2 && s.SchedTicks != nil && len(fit[0].prev) > 0 && len(fit[1].prev) > 0 {
		return l.nearer(fit[0], fit[1], s)
	}
	l.mix(s.Line, fit...)
	return last
}

// mix notes that a line may be of any of these.
func (l *processes) mix(line int64, list ...*process) {
	for _, p := range list {
		p.mixed = true
	}
	if l.unclear == 0 {
		l.unclear = line
	}
}

// may tells that the line can be p's next by the clock: no less passed than by the
// clocks of the others.
func (l *processes) may(p *process, s *Sample) bool {
	gap := s.Millis - p.last
	if gap < 0 || gap == 0 && !s.dying() && p.usual() != 1 || p.dying && p != l.current {
		return false
	}
	return l.clock-p.at <= gap+max(l.intervalOf(p), 200)
}

// fits tells that the line comes when p's next is due.
func (l *processes) fits(p *process, s *Sample) bool {
	gap, usual := s.Millis-p.last, l.intervalOf(p)
	if p.gomaxprocs != s.Procs || l.clock-p.at > gap+usual/2 {
		return false
	}
	if usual == 0 {
		return true
	}
	least := usual * 9 / 10
	if p.gapN > 1 {
		least = min(p.least, usual) - 2
	}
	if !l.atOnce && p != l.current { // nothing says yet that any comes back
		least = max(least, l.least-sysmonSleep)
	}
	return (s.dying() || gap >= least) && gap <= usual*8/5+sysmonLate
}

// closest are those that the line is the least late for, and those for which it is
// less than three times as late. It is early for none and has the GOMAXPROCS of
// each, unless that leaves none.
func (l *processes) closest(may []*process, s *Sample) []*process {
	may = unless(may, func(p *process) bool { return !s.dying() && s.Millis-p.last < l.intervalOf(p)*3/4 })
	may = unless(may, func(p *process) bool { return p.gomaxprocs != s.Procs })
	least := int64(maxMillis)
	for _, p := range may {
		least = min(least, s.Millis-p.last)
	}
	return slices.DeleteFunc(may, func(p *process) bool { return (s.Millis-p.last)/3 > least })
}

// unless leaves out those that are so, unless all are.
func unless(list []*process, so func(*process) bool) []*process {
	for _, p := range list {
		if !so(p) {
			return slices.DeleteFunc(list, so)
		}
	}
	return list
}

// intervalOf is what is usual of p, or, while it has shown little, of others if
// that is shorter: what p inherited is most likely the same.
func (l *processes) intervalOf(p *process) int64 {
	n := p.usual()
	if n == 0 || p.gapN < fewGaps && 0 < l.interval && l.interval < n {
		return l.interval
	}
	return n
}

// room makes room for one more. It lets go of those that have ended, or, of too
// many, the one that is silent the longest.
func (l *processes) room() (closed []*process) {
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

// dying tells that a fatal panic printed the sample.
func (s *Sample) dying() bool { return s.Detail != nil && s.Detail.Threads.Dying > 0 }
