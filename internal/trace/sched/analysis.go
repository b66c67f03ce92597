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
	if s.Skipped.First == nil {
		s.Skipped.First = []Problem{}
	}
	if main := longer(a.main, a.current); main != nil {
		s.Main = main.segment()
		s.Main.Mixed = a.doubts >= enough
		s.ChangeCount, s.Changes = main.changeCount, append(s.Changes, main.changes...)
	}
	return s
}
