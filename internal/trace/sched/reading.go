package sched

import (
	"fmt"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// The severities of a Reading. A trace informs: nothing in it is an error.
const (
	Info    = "info"
	Warning = "warning"
)

type Reading struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Text     string `json:"text"`             // what was seen, with its numbers
	Advice   string `json:"advice,omitempty"` // what it means and what to do
}

// minSamples is the fewest from which shares are read: with 10, one that is seen
// as 80% may be 44 to 97% (95% interval), and samples in a row are not even
// independent.
const minSamples = 10

// Readings puts a summary into words: first what qualifies the rest, then what
// the longest segment says.
func Readings(s *Summary) []Reading {
	all := []Reading{}
	put := func(r *Reading) {
		if r != nil {
			all = append(all, *r)
		}
	}
	put(readError(s))
	put(unread(s))
	put(several(s))
	if s.Interleaved() {
		return all // a figure of several processes is one of none
	}
	put(changed(s))
	put(few(s))
	if s.Main == nil || s.Main.Samples < minSamples {
		return all
	}
	put(idle(&s.Main.Stats, s.Run))
	for _, rule := range []func(*Stats) *Reading{
		busy, idleQueued, queueSkew, blockedThreads, locks, waits,
	} {
		put(rule(&s.Main.Stats))
	}
	if s.Skipped.Count*20 <= s.Counts.Samples { // else the gap may be what could not be read
		put(late(&s.Main.Stats, s.Run))
	}
	return all
}

func readError(s *Summary) *Reading {
	if s.ReadError == "" {
		return nil
	}
	return &Reading{ID: "read-error", Severity: Warning,
		Text: fmt.Sprintf("the log could not be read beyond byte %d: %s", s.Counts.Bytes, s.ReadError)}
}

func unread(s *Summary) *Reading {
	if s.Skipped.Count == 0 {
		return nil
	}
	r := &Reading{ID: "unread", Severity: Info,
		Text:   fmt.Sprintf("%s could not be read; %s could", phrase.CountOf(s.Skipped.Count, "line of a trace", "lines of a trace"), phrase.Count(s.Counts.Samples, "sample")),
		Advice: "other output came between the runtime's writes, or the log is cut off; procfit skips those lines",
	}
	if len(s.Skipped.First) > 0 {
		r.Text += "; the first: " + s.Skipped.First[0].String()
	}
	if s.Skipped.Count*10 > s.Counts.Samples {
		r.Severity = Warning
	}
	return r
}

// inherited is what to do about a log of several processes.
const inherited = "trace one process: build the program and run the binary, since `go run` and `go test` pass GODEBUG to the go command and the compiler too, and every program passes it to the programs that it starts"

// several: which of the processes in the log the rest is about, or that it cannot be about one.
func several(s *Summary) *Reading {
	switch {
	case s.Main == nil || s.SegmentCount < 2 && !s.Main.Mixed:
		return nil
	case s.Main.Mixed:
		return &Reading{ID: "interleaved", Severity: Warning,
			Text:   fmt.Sprintf("several processes write to this log at the same time: line %d is the first that shows it, and their lines cannot be separated", s.Unclear),
			Advice: inherited}
	}
	rest := fmt.Sprintf("the results are of the process with the most samples, in lines %d to %d", s.Main.FirstLine, s.Main.LastLine)
	if s.Main.Samples == 0 {
		rest = "none wrote a second line"
	}
	return &Reading{ID: "processes", Severity: Info, Text: fmt.Sprintf("the log has %d processes, one after the other; %s", s.SegmentCount, rest)}
}

func changed(s *Summary) *Reading {
	if s.ChangeCount == 0 || len(s.Changes) == 0 {
		return nil
	}
	c := s.Changes[0]
	r := &Reading{ID: "gomaxprocs-changed", Severity: Info,
		Text:   fmt.Sprintf("GOMAXPROCS changed from %d to %d by %d ms (line %d)", c.From, c.To, c.Millis, c.Line),
		Advice: "the program set it (runtime.GOMAXPROCS, automaxprocs), or Go 1.25 and newer followed the CPU limit; `procfit explain` shows which",
	}
	if s.ChangeCount > 1 {
		r.Text += fmt.Sprintf(", and %s more", times(s.ChangeCount-1))
	}
	return r
}

func few(s *Summary) *Reading {
	if s.Main == nil || s.Counts.Samples == 0 {
		return &Reading{ID: "no-samples", Severity: Warning,
			Text:   fmt.Sprintf("no sample in %s", phrase.Count(s.Counts.Lines, "line")),
			Advice: s.Run.oftener("run the program with GODEBUG=schedtrace=1000 and read its standard error"),
		}
	}
	if s.Main.Samples >= minSamples {
		return nil
	}
	return &Reading{ID: "few-samples", Severity: Warning,
		Text:   fmt.Sprintf("only %s of one process after its start: too few to judge", phrase.Count(s.Main.Samples, "sample")),
		Advice: fmt.Sprintf("%s: at least %d samples, better 60", s.Run.oftener("trace for longer or at shorter intervals, for example with GODEBUG=schedtrace="+shorter(s.Main)), minSamples),
	}
}

// oftener is how a command that procfit ran gives more samples; ofLog is said of a log.
func (r Run) oftener(ofLog string) string {
	twentieth := max(time.Millisecond, (r.Wall / 20).Truncate(time.Millisecond)) // a run like this one then has 20
	switch {
	case r.Interval <= 0:
		return ofLog
	case r.Interval <= time.Millisecond:
		return "give the program more to do"
	case r.Wall <= 0, twentieth >= r.Interval:
		return "trace it for longer, or at shorter intervals with --interval " + max(time.Millisecond, min(10*time.Millisecond, r.Interval/10)).String()
	}
	return fmt.Sprintf("trace it again with --interval %s, as it took %s", twentieth, number.Short(number.Seconds(r.Wall.Seconds())))
}

// shorter is the setting of schedtrace that gives a process as long as this one 20 samples:
// one that wrote less than two, or ran for less than two seconds, needs the runtime's shortest.
func shorter(p *Segment) string { return phrase.If(p.ToMillis-p.FromMillis < 20*100, "10", "100") }

func times(n int64) string { return phrase.If(n == 1, "once", phrase.Count(n, "time")) }

func share(part, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(part) / float64(n)
}

// procsList is "P 0", "Ps 0 and 1", "Ps 0, 1 and 5".
func procsList(ids []int) string {
	return phrase.If(len(ids) == 1, "P ", "Ps ") + phrase.And(phrase.Each(ids, strconv.Itoa))
}

// userWaits are the wait reasons of the program's own goroutines, and how many
// wait so on average.
func userWaits(st *Stats) (reasons []ReasonStats, sum float64) {
	if st.Detail == nil || st.Detail.Samples < minSamples {
		return nil, 0
	}
	for _, r := range st.Detail.Reasons {
		if !r.System {
			reasons = append(reasons, r)
			sum += r.Mean
		}
	}
	return reasons, sum
}

// locks: a quarter of the waiting goroutines, and four at least, wait for a lock
// of package sync.
func locks(st *Stats) *Reading {
	reasons, sum := userWaits(st)
	var held float64
	for _, r := range reasons {
		if isLockWait(r.Name) {
			held += r.Mean
		}
	}
	if held < 4 || held < sum/4 {
		return nil
	}
	return &Reading{ID: "lock-waits", Severity: Warning,
		Text:   fmt.Sprintf("%s of %s waiting goroutines wait for a sync.Mutex or sync.RWMutex, over %d samples", number.Amount(held), number.Amount(sum), st.Detail.Samples),
		Advice: "only one goroutine at a time can hold a lock: more Ps do not shorten that queue and may lengthen it. Take a mutex profile",
	}
}

// waits: what most of the waiting goroutines wait for, where four at least do.
func waits(st *Stats) *Reading {
	reasons, sum := userWaits(st)
	if len(reasons) == 0 || reasons[0].Mean < 4 || reasons[0].Mean < sum/2 || isLockWait(reasons[0].Name) {
		return nil
	}
	return &Reading{ID: "waits", Severity: Info,
		Text: fmt.Sprintf("%s of %s waiting goroutines wait in %q, over %d samples", number.Amount(reasons[0].Mean), number.Amount(sum), reasons[0].Name, st.Detail.Samples)}
}

// The rules below are given at least minSamples samples. Each names its threshold;
// they say where a human would start to remark on it, and are no more exact.

// allProcs is "all 8 Ps", or "all Ps" where their number changed.
func allProcs(st *Stats) string {
	if st.Procs.Min != st.Procs.Max {
		return "all Ps"
	}
	switch st.Procs.Max {
	case 1:
		return "the one P"
	case 2:
		return "both Ps"
	}
	return fmt.Sprintf("all %s Ps", number.Amount(st.Procs.Max))
}

// busy: no idle P in four samples of five. It is CPU-bound where in half of them
// goroutines wait, one for two Ps at least.
func busy(st *Stats) *Reading {
	if st.Procs.count() == 0 || st.IdleProcs.count() == 0 || st.Queued.count() == 0 {
		return nil
	}
	part := share(st.AllBusy, st.IdleProcs.N)
	if part < 0.8 {
		return nil
	}
	seen := fmt.Sprintf("%s busy in %s of %d samples", allProcs(st), number.Share(part), st.IdleProcs.N)
	if crowded := share(*st.Crowded, st.Queued.N); crowded < 0.5 || st.Queued.Mean < max(1, st.Procs.Mean/2) {
		wait := fmt.Sprintf("almost no goroutine waits: %s on average", number.Amount(st.Queued.Mean))
		if crowded > 0 {
			wait = fmt.Sprintf("goroutines wait in %s of them: %s on average, at most %s", number.Share(crowded), number.Amount(st.Queued.Mean), number.Amount(st.Queued.Max))
		}
		return &Reading{ID: "busy", Severity: Info,
			Text:   seen + ", and " + wait,
			Advice: "there is about as much work as there are Ps; one goroutine per P can wait without being counted (runnext). `procfit sweep` shows whether another GOMAXPROCS is better",
		}
	}
	return &Reading{ID: "cpu-bound", Severity: Warning,
		Text:   fmt.Sprintf("%s and %s goroutines waiting on average: CPU-bound at this GOMAXPROCS", seen, number.Amount(st.Queued.Mean)),
		Advice: "`procfit sweep` shows whether more Ps help: they do if CPUs are free, but not if the CPU limit is used up (a P whose thread is throttled counts as busy). Otherwise reduce the work: take a CPU profile",
	}
}

// idle: at least half of the Ps idle in most samples, and less than a goroutine in the queues; none
// if all are busy in a tenth of the samples. Why they are is not in a trace: code in C and system
// calls need no P.
func idle(st *Stats, run Run) *Reading {
	if st.IdleMedian == nil || st.IdleShare.count() == 0 || st.Queued.count() == 0 || st.Queued.Mean >= 1 {
		return nil
	}
	if part := share(st.AllIdle, st.IdleShare.N); part >= 0.9 {
		r := &Reading{ID: "all-idle", Severity: Info,
			Text:   fmt.Sprintf("%s idle in %s of %d samples: almost no Go code needs a P", allProcs(st), number.Share(part), st.IdleShare.N),
			Advice: "the program waits, has no load, or works without a P: in C, in system calls or in other processes. If it has no load, trace it under a realistic load",
		}
		if used := run.computes(); used != "" {
			r.Text += ", though " + used
			r.Advice = "it works without a P: in C, in system calls or in other processes that it starts. GOMAXPROCS does not limit that"
		}
		return r
	}
	part := share(st.HalfIdle, st.IdleShare.N)
	bursts := st.Queued.Max > 0 && share(st.AllBusy, st.IdleShare.N) >= 0.1 // which may want more
	if part < 0.6 || st.Procs.Max < 2 || bursts {
		return nil
	}
	r := &Reading{ID: "idle-procs", Severity: Info,
		Text:   fmt.Sprintf("%s of %s Ps idle in the median sample, at least half of them in %s of %d: GOMAXPROCS is not what limits it", number.Amount(*st.IdleMedian), number.Amount(st.Procs.Mean), number.Share(part), st.IdleShare.N),
		Advice: "the program has no more work to run in parallel, or it waits for something else (the network, a disk, a lock, more load): more Ps gain nothing. Fewer may be enough; `procfit sweep` shows whether they are",
	}
	if one := share(st.OneBusy, st.IdleShare.N); one >= 0.9 {
		r.Text += fmt.Sprintf(". Only one is busy in %s of them", number.Share(one))
		r.Advice = "it is serial: only one P at a time has work, so more Ps gain nothing. If the work can be split, they help; a CPU profile shows what the work is"
	}
	return r
}

// computes is words for a command that used half a CPU or more; empty for others.
func (r Run) computes() string {
	if r.Wall <= 0 || r.CPU < r.Wall/2 {
		return ""
	}
	return fmt.Sprintf("the command used %s of CPU time in %s", number.Duration(r.CPU), number.Duration(r.Wall))
}

// idleQueued: an idle P next to queued goroutines in half of the samples.
func idleQueued(st *Stats) *Reading {
	if st.IdleQueued == nil {
		return nil
	}
	part := share(*st.IdleQueued, st.Queued.N)
	if part < 0.5 {
		return nil
	}
	return &Reading{ID: "idle-and-queued", Severity: Info,
		Text:   fmt.Sprintf("idle Ps although goroutines wait, in %s of %d samples, %s goroutines on average", number.Share(part), st.Queued.N, number.Amount(st.Queued.Mean)),
		Advice: "work comes in short bursts, and threads wake up only after it arrives; if this happens all the time, the kernel runs the threads late (a CPU limit, a busy machine)",
	}
}

// queueSkew: a quarter of the Ps hold four fifths of what is queued on Ps. One of
// two or three Ps must hold nine tenths.
func queueSkew(st *Stats) *Reading {
	sums := make([]float64, len(st.PerProc))
	for i, p := range st.PerProc {
		sums[i] = p.Queue.sum()
	}
	if len(sums) < 2 || st.LocalQueues.count() == 0 || st.LocalQueues.Mean < 1 || st.LocalQueues.Mean*float64(st.LocalQueues.N) < 50 {
		return nil
	}
	least := 0.8
	if len(sums) < 4 {
		least = 0.9
	}
	ids, held := top(sums, least)
	if len(ids) == 0 || len(ids) > max(1, len(sums)/4) { // 0: only Ps without figures of their own have queues
		return nil
	}
	verb := phrase.If(len(ids) == 1, "holds", "hold")
	r := &Reading{ID: "queue-skew", Severity: Info,
		Text:   fmt.Sprintf("%s %s %s of the goroutines queued on Ps (%s of %s on average, over %d samples)", procsList(ids), verb, number.Share(held), number.Amount(held*st.LocalQueues.Mean), number.Amount(st.LocalQueues.Mean), st.LocalQueues.N),
		Advice: "a goroutine waits in the queue of the P that started or woke it until that P runs it, or a P without work takes half of the queue: while all Ps are busy, this costs latency there, but no throughput. Look for one goroutine that starts or wakes all others",
	}
	if idleQueued(st) != nil {
		r.Severity = Warning
	}
	return r
}

// blockedThreads: two threads a P, and eight at least, are neither idle nor on a
// P. Half of the limit of 10,000 threads is a warning.
func blockedThreads(st *Stats) *Reading {
	off := st.OffProcThreads
	if off.count() == 0 || off.Mean < max(8, 2*st.Procs.mean()) {
		return nil
	}
	r := &Reading{ID: "blocked-threads", Severity: Info,
		Text:   fmt.Sprintf("%s threads on average, at most %s, and about %s of them are neither idle nor on one of the %s Ps", number.Amount(st.Threads.Mean), number.Amount(st.Threads.Max), number.Amount(off.Mean), number.Amount(st.Procs.Mean)),
		Advice: "they are blocked in system calls (files, DNS through cgo) or run C, or are locked to goroutines that wait. They need no P, and GOMAXPROCS does not limit them",
	}
	if st.Threads.Max >= 5000 {
		r.Severity = Warning
		r.Advice += "; a Go program dies at 10,000 threads (debug.SetMaxThreads): limit how many goroutines may block at once"
	}
	return r
}

// millis is a time that the runtime counted in milliseconds.
func millis(x float64) string { return number.Short(number.Seconds(x / 1e3)) }

// late: a gap of three intervals, and 200 ms over one. It is a warning where a
// tenth of the time went by so.
func late(st *Stats, run Run) *Reading {
	iv := st.IntervalMillis
	if iv.count() < minSamples || st.IntervalMedian == nil {
		return nil
	}
	due, usual := *st.IntervalMedian, "one comes every %s"
	// A program may have set an interval of its own: then none comes near ours.
	if asked := float64(run.Interval) / float64(time.Millisecond); asked > 0 && iv.Min < 2*asked && asked < due {
		due, usual = asked, "one was asked for every %s"
	}
	if iv.Max < 3*due || iv.Max-due < 200 {
		return nil
	}
	r := &Reading{ID: "late-samples", Severity: Info,
		Text:   fmt.Sprintf("no sample for %s, where "+usual, millis(iv.Max), millis(due)),
		Advice: "a thread that needs no P writes the samples: either the kernel did not let the process run (a CPU limit, a stopped or overloaded machine), nobody read its standard error, or lines were lost",
	}
	if iv.Mean-due >= iv.Mean/10 {
		r.Severity = Warning
		r.Text += fmt.Sprintf(", and every %s on average", millis(iv.Mean))
	}
	return r
}
