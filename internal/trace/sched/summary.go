package sched

import (
	"fmt"
	"time"
)

// Summary is a trace added up. What no sample held is nil.
type Summary struct {
	Counts  Counts  `json:"counts"`
	Skipped Skipped `json:"skipped"`
	// ReadError is why the log could not be read to its end; empty if it was.
	ReadError string `json:"read_error,omitempty"`

	// SegmentCount is how many processes started, or existed when the log starts. Main is
	// what the one with the most samples wrote; nil without samples.
	SegmentCount int64    `json:"segment_count"`
	Main         *Segment `json:"main"`

	// Unclear is the first line that several processes can have written; 0 where there
	// is none.
	Unclear int64 `json:"-"`

	// Changes are of Main's GOMAXPROCS, the first maxChanges of ChangeCount.
	ChangeCount int64    `json:"change_count"`
	Changes     []Change `json:"changes"`

	Run Run `json:"-"`
}

// Run is what is known of the run that wrote a trace, next to the trace. Its zero
// value says that nothing is.
type Run struct {
	Interval  time.Duration // that was asked for
	CPU, Wall time.Duration // of the command and what it waited for, its shutdown included
	LeftOut   int64         // samples that came after the end was asked for
}

// Interleaved reports that several processes wrote at once.
func (s *Summary) Interleaved() bool { return s.Main != nil && s.Main.Mixed }

// Segment is what one process wrote.
type Segment struct {
	Index      int64 `json:"index"` // from 0, in the order of their starts
	FirstLine  int64 `json:"first_line"`
	LastLine   int64 `json:"last_line"`
	FromMillis int64 `json:"from_ms"`
	ToMillis   int64 `json:"to_ms"`
	Mixed      bool  `json:"mixed"` // some of its lines may be another process's
	Stats
}

type Change struct {
	Line   int64 `json:"line"` // of the first sample with the new value
	Millis int64 `json:"ms"`
	From   int   `json:"from"`
	To     int   `json:"to"`
}

// Stats are of the samples of one process, but for those at 0 ms, which are taken
// as the process starts and are not part of its work.
type Stats struct {
	Samples        int64 `json:"samples"`
	StartupSamples int64 `json:"startup_samples"` // not used in any other field; 2 of a process that panics at once

	IntervalMillis *Level   `json:"interval_ms"`        // between one sample and the next
	IntervalMedian *float64 `json:"interval_median_ms"` // of the first 10,000

	Procs      *Level   `json:"gomaxprocs"`
	IdleProcs  *Level   `json:"idle_procs"`
	IdleShare  *Level   `json:"idle_share"` // of GOMAXPROCS, 0 to 1
	IdleMedian *float64 `json:"idle_procs_median"`
	// AllBusy and AllIdle count samples with no idle P and with no other; HalfIdle
	// those where at least half are; IdleQueued those with an idle P and a queue, of
	// the samples of Queued.
	AllBusy    int64  `json:"all_busy_samples"`
	AllIdle    int64  `json:"all_idle_samples"`
	HalfIdle   int64  `json:"half_idle_samples"`
	IdleQueued *int64 `json:"idle_and_queued_samples"`
	// OneBusy counts samples with one P that is not idle, Crowded those with one
	// goroutine for two Ps in the queues, and one at least, of the samples of Queued.
	OneBusy int64  `json:"one_busy_samples"`
	Crowded *int64 `json:"crowded_samples"`

	Threads     *Level `json:"threads"`
	IdleThreads *Level `json:"idle_threads"`
	// OffProcThreads are neither idle nor on a P, sysmon aside: in a system call or
	// cgo, waiting for the network, or locked to a goroutine that waits. An estimate:
	// threads − idlethreads − busy Ps − 1, not below 0.
	OffProcThreads *Level `json:"off_proc_threads"`
	Spinning       *Level `json:"spinning_threads"`

	GlobalQueue *Level     `json:"global_queue"`
	LocalQueues *Level     `json:"local_queues"` // their sum
	Queued      *Level     `json:"queued"`       // global and local
	Misplaced   *Level     `json:"misplaced_share"`
	PerProc     []ProcLoad `json:"per_proc"`        // of the first maxTracked
	Untracked   int        `json:"untracked_procs"` // Ps beyond these

	TicksPerSecond *float64 `json:"sched_ticks_per_second"` // all tracked Ps

	Detail *DetailStats `json:"detail"` // nil without scheddetail
}

type ProcLoad struct {
	Proc       int      `json:"proc"`
	Queue      *Level   `json:"queue"`
	QueueShare *float64 `json:"queue_share"` // of all that was queued on tracked Ps
	Ticks      *int64   `json:"sched_ticks"` // goroutines that it started to run
	TickShare  *float64 `json:"sched_tick_share"`
}

// DetailStats are of the samples with details.
type DetailStats struct {
	Samples        int64         `json:"samples"`
	Goroutines     *Level        `json:"goroutines"` // live
	Runnable       *Level        `json:"runnable"`   // runnext included
	Running        *Level        `json:"running"`
	InSyscall      *Level        `json:"in_syscall"`
	Waiting        *Level        `json:"waiting"`
	OffProcThreads *Level        `json:"threads_in_syscall"` // that run a goroutine without a P
	Reasons        []ReasonStats `json:"wait_reasons"`       // the most frequent first
	LinesBroken    int64         `json:"lines_broken"`
}

// ReasonStats is a wait reason over the samples with details.
type ReasonStats struct {
	Name   string  `json:"name"`
	Mean   float64 `json:"mean"` // goroutines, over all of these samples
	Max    int     `json:"max"`
	System bool    `json:"system"` // only the runtime's own goroutines wait so
}

const (
	maxProblems = 20
	maxQuote    = 120 // bytes
)

// Skipped is what started as a sample, or as a line of its details, and could not
// be read. Mostly other output fell in between, or the log ends there.
type Skipped struct {
	Count int64     `json:"count"`
	First []Problem `json:"first"` // at most maxProblems
}

type Problem struct {
	Line int64  `json:"line"`
	Text string `json:"text"` // clipped to maxQuote bytes, raw: print it quoted
	Why  string `json:"why"`
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d: %q %s", p.Line, p.Text, p.Why)
}

func (s *Skipped) add(line int64, text []byte, why string) {
	s.Count++
	if len(s.First) >= maxProblems {
		return
	}
	quote := string(text)
	if len(text) > maxQuote { // its beginning, and where it breaks off
		quote = quote[:maxQuote/3] + "…" + quote[len(quote)-maxQuote*2/3:]
	}
	s.First = append(s.First, Problem{Line: line, Text: quote, Why: why})
}
