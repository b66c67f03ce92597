package sched

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
)

// maxTracked Ps have figures of their own; the others count in the sums.
const maxTracked = 1024

// tally adds up the samples of one process.
type tally struct {
	seg   Segment
	last  int64 // Millis of the last sample, of startup too
	dying bool  // that is a fatal panic's
	any   bool

	gomaxprocs  int // of the last sample; Absent where it is not known
	changeCount int64
	changes     []Change // the first maxChanges
	intervals   []int64  // the first mostIntervals, in milliseconds

	idle    []int64 // samples by idle Ps, the last for maxTracked and more
	queues  []*Level
	ticks   []int64 // absent where not known
	prev    []int64 // the last ticks; Absent where not known
	ticksAt int64   // Millis of prev
	ticking int64   // milliseconds that ticks span
	reasons map[string]*ReasonStats
}

// mostIntervals is how many intervals between samples the median is of.
const mostIntervals = 10_000

func (t *tally) add(s *Sample) {
	if t.any {
		note(&t.seg.IntervalMillis, float64(s.Millis-t.last))
		if len(t.intervals) < mostIntervals {
			t.intervals = append(t.intervals, s.Millis-t.last)
		}
		t.change(s)
	} else {
		t.seg.FirstLine, t.seg.FromMillis = s.Line, s.Millis
	}
	if s.Procs >= 0 || !t.any {
		t.gomaxprocs = s.Procs
	}
	t.seg.LastLine, t.seg.ToMillis = s.Line, s.Millis
	t.tick(s)
	t.last, t.any = s.Millis, true
	if s.Millis == 0 {
		t.seg.StartupSamples++
		return
	}
	t.seg.Samples++
	t.procs(s)
	t.threads(s)
	t.queue(s)
	if s.Detail != nil {
		t.detail(s.Detail)
	}
}

func (t *tally) change(s *Sample) {
	if t.gomaxprocs < 0 || s.Procs < 0 || s.Procs == t.gomaxprocs {
		return
	}
	t.changeCount++
	if len(t.changes) < maxChanges {
		t.changes = append(t.changes, Change{Line: s.Line, Millis: s.Millis, From: t.gomaxprocs, To: s.Procs})
	}
}

func (t *tally) procs(s *Sample) {
	st := &t.seg.Stats
	noteCount(&st.Procs, s.Procs)
	noteCount(&st.IdleProcs, s.IdleProcs)
	if s.IdleProcs < 0 {
		return
	}
	at := min(s.IdleProcs, maxTracked)
	for len(t.idle) <= at {
		t.idle = append(t.idle, 0)
	}
	t.idle[at]++
	if s.IdleProcs == 0 {
		st.AllBusy++
	}
	if s.Procs <= 0 {
		return
	}
	note(&st.IdleShare, min(float64(s.IdleProcs)/float64(s.Procs), 1))
	if s.IdleProcs >= s.Procs {
		st.AllIdle++
	}
	if s.IdleProcs == s.Procs-1 {
		st.OneBusy++
	}
	if s.IdleProcs > 0 && s.IdleProcs >= s.Procs-s.IdleProcs {
		st.HalfIdle++
	}
}

func (t *tally) threads(s *Sample) {
	st := &t.seg.Stats
	noteCount(&st.Threads, s.Threads)
	noteCount(&st.IdleThreads, s.IdleThreads)
	noteCount(&st.Spinning, s.SpinningThreads)
	if s.Procs >= 0 && s.IdleProcs >= 0 && s.Threads >= 0 && s.IdleThreads >= 0 {
		busy := max(s.Procs-s.IdleProcs, 0)
		note(&st.OffProcThreads, float64(max(s.Threads-s.IdleThreads-busy-1, 0)))
	}
}

func (t *tally) queue(s *Sample) {
	st := &t.seg.Stats
	local := s.QueuedLocal()
	noteCount(&st.GlobalQueue, s.GlobalQueue)
	noteCount(&st.LocalQueues, local)
	if s.GlobalQueue >= 0 && local >= 0 {
		queued := float64(s.GlobalQueue) + float64(local)
		note(&st.Queued, queued)
		noteIf(&st.Crowded, queued >= max(1, float64(s.Procs)/2))
		if s.IdleProcs >= 0 {
			noteIf(&st.IdleQueued, s.IdleProcs > 0 && queued > 0)
		}
	}
	st.Untracked = max(st.Untracked, len(s.LocalQueues)-maxTracked)
	tracked := s.LocalQueues[:min(len(s.LocalQueues), maxTracked)]
	for i, q := range tracked {
		if i == len(t.queues) {
			t.queues = append(t.queues, nil)
		}
		noteCount(&t.queues[i], q)
	}
	if share, ok := s.misplaced(); ok {
		note(&st.Misplaced, share)
	}
}

// tick adds what the ticks, which wrap at 32 bits, grew by since the last sample.
func (t *tally) tick(s *Sample) {
	if s.SchedTicks == nil {
		return
	}
	passed := s.Millis - t.ticksAt
	if t.prev != nil {
		t.ticking += passed
	}
	t.ticksAt = s.Millis
	tracked := s.SchedTicks[:min(len(s.SchedTicks), maxTracked)]
	for i, v := range tracked {
		if i == len(t.prev) {
			t.prev, t.ticks = append(t.prev, absent), append(t.ticks, absent)
		}
		if n, ok := grown(t.prev[i], v, passed); ok && v >= 0 && t.prev[i] >= 0 {
			t.ticks[i] = max(t.ticks[i], 0) + n
		}
		if v >= 0 {
			t.prev[i] = v
		}
	}
}

// segment is all that the process wrote.
func (t *tally) segment() *Segment {
	g := &t.seg
	g.IdleMedian = median(t.idle)
	g.IntervalMedian = t.interval()
	g.PerProc = []ProcLoad{}
	t.perProc(g)
	if g.Detail != nil {
		t.endDetail()
	}
	return g
}

// interval is the median between one sample and the next; nil without any.
func (t *tally) interval() *float64 {
	n := len(t.intervals)
	if n == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(t.intervals))
	return new(float64(sorted[(n-1)/2]+sorted[n/2]) / 2)
}

func (t *tally) perProc(g *Segment) {
	var queued float64
	var ticks int64
	for _, q := range t.queues {
		queued += q.sum()
	}
	for _, n := range t.ticks {
		ticks += max(n, 0)
	}
	if t.ticking > 0 {
		g.TicksPerSecond = new(float64(ticks) / float64(t.ticking) * 1000)
	}
	for i := range max(len(t.queues), len(t.ticks)) {
		p := ProcLoad{Proc: i}
		if i < len(t.queues) {
			p.Queue = t.queues[i]
			if queued > 0 {
				p.QueueShare = new(t.queues[i].sum() / queued)
			}
		}
		if i < len(t.ticks) && t.ticks[i] >= 0 {
			p.Ticks = &t.ticks[i]
			if ticks > 0 {
				p.TickShare = new(float64(t.ticks[i]) / float64(ticks))
			}
		}
		g.PerProc = append(g.PerProc, p)
	}
}

// median is of values counted by value; nil without any.
func median(counts []int64) *float64 {
	var n int64
	for _, c := range counts {
		n += c
	}
	if n == 0 {
		return nil
	}
	at := func(rank int64) float64 {
		for v, c := range counts {
			if rank -= c; rank < 0 {
				return float64(v)
			}
		}
		return float64(len(counts) - 1)
	}
	return new((at((n-1)/2) + at(n/2)) / 2)
}

// isSystemWait reports that only the runtime's own goroutines wait so.
func isSystemWait(reason string) bool {
	return slices.Contains([]string{
		"force gc (idle)", "GC sweep wait", "GC scavenge wait", "GC worker (idle)", "GC worker (active)",
		"finalizer wait", "cleanup wait", "GOMAXPROCS updater (idle)", "trace reader (blocked)",
		"timer goroutine (idle)", // until Go 1.13
		"Concurrent GC wait",     // Go 1.5
		"mark wait (idle)",       // Go 1.5
	}, reason)
}

// isLockWait reports that the wait is for a lock of package sync. Until Go 1.19 all
// of these are "semacquire", which a sync.WaitGroup is too.
func isLockWait(reason string) bool {
	return slices.Contains([]string{"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}, reason)
}

func (t *tally) detail(d *Detail) {
	if t.seg.Detail == nil {
		t.seg.Detail = &DetailStats{}
		t.reasons = make(map[string]*ReasonStats)
	}
	st := t.seg.Detail
	st.Samples++
	st.LinesBroken += int64(d.LinesBroken)
	noteCount(&st.Goroutines, d.Goroutines)
	noteCount(&st.Runnable, d.ByStatus[goroutineRunnable])
	noteCount(&st.Running, d.ByStatus[goroutineRunning])
	noteCount(&st.InSyscall, d.ByStatus[goroutineSyscall])
	noteCount(&st.Waiting, d.ByStatus[goroutineWaiting])
	noteCount(&st.OffProcThreads, d.OffProc)
	for name, n := range d.Reasons {
		have := t.reasons[name]
		if have == nil {
			have = &ReasonStats{Name: name, System: isSystemWait(name)}
			t.reasons[name] = have
		}
		have.Mean += float64(n) // a sum until endDetail divides it
		have.Max = max(have.Max, n)
	}
}

// endDetail makes means of what detail has summed up.
func (t *tally) endDetail() {
	d := t.seg.Detail
	d.Reasons = []ReasonStats{}
	for _, r := range t.reasons {
		r.Mean /= float64(d.Samples)
		d.Reasons = append(d.Reasons, *r)
	}
	sorting.Stable(d.Reasons, func(a, b ReasonStats) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Name, b.Name))
	})
}

// names keeps one string for each wait reason, so that counting them allocates
// nothing. The runtime knows fewer than 60.
type names map[string]string

const (
	maxNames = 256 // in a log
	maxName  = 64  // bytes
)

func (t names) keep(name []byte) string {
	if s, ok := t[string(name)]; ok {
		return s
	}
	if len(t) >= maxNames || len(name) > maxName {
		return otherReason
	}
	for _, c := range name {
		if c < ' ' || c > '~' {
			return otherReason // the log may be hostile, and a terminal obeys escapes
		}
	}
	s := string(name)
	t[s] = s
	return s
}
