// Package sched reads what the Go runtime writes under
// GODEBUG=schedtrace=N, and says what it means.
//
// A Scanner turns a log into samples, one for each SCHED line, with the P, M and
// G lines of scheddetail=1 counted into the sample before them. Analyse adds them up
// into a Summary; Readings puts a summary into words; Fields explains every key. All of
// it works on a stream: memory does not grow with the log.
//
// The runtime prints each item with a write(2) of its own, so other output to
// standard error can fall between any two of them. A sample is therefore looked
// for anywhere in a line, at "SCHED", a number and "ms:", and one that breaks off
// is counted and quoted as Skipped, never guessed at. All other text is passed
// over and counted. What a version of Go does not print is Absent, never zero.
//
// The forms are those of Go 1.2 to 1.27, each tested with that version's own
// output, but for 1.3 and 1.8, which could not be had.
//
// What a trace cannot tell:
//
//   - A sample is an instant, taken by sysmon about every N milliseconds; what
//     happens between two is not seen. Counters are read without stopping the
//     program, so those of one line may differ by what changed meanwhile.
//   - Queues leave out the goroutine in a P's runnext slot (since Go 1.5), so one
//     goroutine a P can be waiting where the queue says 0.
//   - A P that is not idle may run the garbage collector, spin, sit in a short
//     system call, or hold a thread that the kernel does not run: busy Ps are not
//     CPU time.
//   - A line does not say which process wrote it. If several write one after the other,
//     the longest is shown; if at once, their clocks or counters show it (see analysis)
//     and nothing is made of their lines, or nothing shows it.
//   - A P is for Go code. What a program computes in C, or waits for in a system
//     call, does not show: idle Ps are not idle program.
//   - A sample with details ends where the next starts, so it is given out then.
package sched

const maxChanges = 64

// longer is the process with more samples, and the first where they have as many; nil is none.
func longer(a, b *tally) *tally {
	if a == nil || b != nil && b.seg.Samples > a.seg.Samples {
		return b
	}
	return a
}

// Analyse reads a log to its end. An error of the reader is the summary's
// ReadError, since what came before it was read.
func Analyse(sc *Scanner) *Summary {
	var a analysis
	sc.scan(a.add)
	s := &Summary{Counts: sc.counts, Skipped: sc.skipped, SegmentCount: a.begun, Unclear: a.unclear, Changes: []Change{}, Run: Run{LeftOut: sc.leftOut}}
	if sc.err != nil {
		s.ReadError = sc.err.Error()
	}
	if main := longer(a.main, a.current); main != nil {
		s.Main = main.segment()
		s.Main.Mixed = a.doubts >= enough
		s.ChangeCount, s.Changes = main.changeCount, append(s.Changes, main.changes...)
	}
	return s
}

// analysis adds samples up as they come, those of each process by themselves. Its
// memory is bounded by the number of Ps, not of samples.
//
// GODEBUG is inherited, so a log can hold lines of several processes, and a line does not say
// whose it is. Of one process the runtime (proc.go: schedtrace, sysmon) guarantees that:
//
//   - its first line says 0 ms, and no later one does, unless it panics at once;
//   - its clock advances;
//   - its schedticks do not fall, but for a wrap at 32 bits.
//
// So a line at 0 ms starts a process. If the clock or the ticks go back otherwise, or if a line is
// due of the process before and not of the one that has just started, several write at once, and
// their lines are not separated. Ticks that go back once may be a line that other output damaged,
// and so may a clock: that line is left out. If the next line continues it, a second log follows
// whose start is missing.
type analysis struct {
	main    *tally // the longest of those that are over
	current *tally // wrote the last line
	before  *tally // wrote until current started; nil: there is none
	back    *tally // of the last line, where its clock went back; nil: it did not
	begun   int64
	unclear int64 // the first line that several can have written; 0: there is none
	doubts  int   // of such lines; enough of them are no accident
}

// dying reports that a fatal panic printed the sample.
func (s *Sample) dying() bool { return s.Detail != nil && s.Detail.Dying > 0 }

// add keeps nothing of the sample.
func (a *analysis) add(s *Sample) {
	p, back := a.current, a.back
	a.back = nil
	switch {
	case p == nil || s.Millis == 0 && (p.last > 0 || p.dying == s.dying() || !p.mayGoOn(s)):
		a.start(&tally{})
	case back != nil && a.begun == 1 && a.doubts == 1 && back.last < s.Millis && s.Millis <= p.last:
		a.doubts, a.unclear = 0, 0
		a.start(back)
	case a.resumes(s):
		a.doubt(s, enough)
	case s.Millis < p.last:
		a.doubt(s, 1)
		a.back = &tally{}
		a.back.add(s)
		return
	case s.Millis == p.last && !s.dying() && p.seg.Samples > 0 || !p.mayGoOn(s):
		a.doubt(s, 1)
	}
	a.current.dying = s.dying()
	a.current.add(s)
}

// start has another process write the lines from here on.
func (a *analysis) start(p *tally) {
	a.main = longer(a.main, a.current)
	a.before, a.current, p.seg.Index = a.current, p, a.begun
	a.begun++
}

// doubt notes a line that several processes can have written.
func (a *analysis) doubt(s *Sample, weight int) {
	a.doubts += weight
	if a.unclear == 0 {
		a.unclear = s.Line
	}
}

// resumes reports that a line is due of the process before: the one that has just started would
// be late by several intervals.
func (a *analysis) resumes(s *Sample) bool {
	b := a.before
	if b == nil || b.dying || a.current.seg.Samples > 0 || b.interval() == nil {
		return false
	}
	late := 3*int64(*b.interval()) + sysmonLate
	return s.Millis > late && s.Millis > b.last && s.Millis-b.last <= late
}

const (
	enough = 2 // doubts

	// sysmonLate is how late sysmon may come on a machine that is not busy, in milliseconds.
	sysmonLate = 15
	// maxTickRate is more goroutines than a P can start in a millisecond: one takes 50 ns at
	// least.
	maxTickRate = 20_000
)

// mayGoOn reports that the sample's ticks can follow those of the process.
func (t *tally) mayGoOn(s *Sample) bool {
	for i, v := range s.SchedTicks[:min(len(s.SchedTicks), len(t.prev))] {
		if _, ok := grown(t.prev[i], v, s.Millis-t.ticksAt); !ok {
			return false
		}
	}
	return true
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
