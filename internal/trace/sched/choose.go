package sched

import "slices"

// sysmonSleep is how long sysmon sleeps at most, in milliseconds, and sysmonLate how
// late it may come for that on a machine that is not busy.
const (
	sysmonSleep = 10
	sysmonLate  = 15
)

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
		return last // of those that only started, it does not matter which
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

// may reports that the line can be p's next by the clock: no less passed than by the
// clocks of the others.
func (l *processes) may(p *process, s *Sample) bool {
	gap := s.Millis - p.last
	if gap < 0 || gap == 0 && !s.dying() && p.usual() != 1 || p.dying && p != l.current {
		return false
	}
	return l.clock-p.at <= gap+max(l.intervalOf(p), 200)
}

// fits reports that the line comes when p's next is due.
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

// doubt is a line that was given to one of two processes, as it is nearer to its
// ticks. It is settled by the next line of the other: were the first its own, that
// next one would have to continue from where taker stood before.
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

// maxTickRate is more goroutines than a P can start in a millisecond: one takes
// 50 ns at least.
const maxTickRate = 20_000

// mayGoOn reports that the sample's ticks can follow those of the process.
func (t *tally) mayGoOn(s *Sample) bool {
	passed := s.Millis - t.ticksAt
	for i, v := range s.SchedTicks[:min(len(s.SchedTicks), len(t.prev))] {
		if _, ok := grown(t.prev[i], v, passed); !ok {
			return false
		}
	}
	return true
}

// growth is how much all ticks grew to those of the sample.
func (t *tally) growth(s *Sample) (sum int64) {
	for i, v := range s.SchedTicks[:min(len(s.SchedTicks), len(t.prev))] {
		n, _ := grown(t.prev[i], v, s.Millis-t.ticksAt)
		sum += n
	}
	return sum
}

// grown is how much a P's ticks, 32 bits, grew in that many milliseconds; not ok
// where they cannot have come there in that time, 0 where one of them is not known.
func grown(from, to, passed int64) (n int64, ok bool) {
	if from < 0 || to < 0 {
		return 0, true
	}
	n = int64(uint32(to) - uint32(from))
	return n, n < 1<<31 && n <= (passed+sysmonLate)*maxTickRate
}
