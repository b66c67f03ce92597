// Package exec reads a Go execution trace (runtime/trace, go test -trace) of
// Go 1.11 to 1.27 into what each P ran: for each goroutine its spans, and which
// goroutines left the P that they were made ready on.
//
// What a trace says for certain: when a goroutine was made, woken, started, stopped
// and why, and on which P each of that happened. It has no event for a queue nor
// for a steal. Which queue a goroutine stood in follows from how it became ready,
// by the rules of the runtime (proc.go):
//
//   - Made by a go statement, or woken by a goroutine or a timer, on P a: in the
//     queue of a. When it starts on b ≠ a, b or another P took it from there: it
//     was Stolen. This is inferred, by exclusion: a's queue holds 256, and what is
//     beyond goes to the global queue, so where 128 or more stood in a's queue, or
//     GOMAXPROCS changed meanwhile, it is Unclear. (128 and not 256, since a P
//     without work takes up to 128 at once from elsewhere.) Between a and b there
//     may have been a third P, which took it with others and lost it again.
//   - Woken by the network poller or with others by the collector (runtime.GC waits
//     for it), or from a wait that started before the trace: in the queue of P a or, if
//     Ps were idle, in the global one. Begun on b ≠ a it is Unclear.
//   - Preempted, or yielding: in the global queue. (One that hands a sync.Mutex
//     over yields to its own P's queue; it cannot be distinguished.) Back from a
//     system call that lost its P, or woken by a thread without a P: in the global
//     queue, or started on an idle P at once. All these are Global.
//
// A P that runs a goroutine is busy here, though its thread may wait for a CPU.
//
// A trace is read one generation, about a second, at a time; of the spans the first
// ones are kept, of the goroutines that ended those that ran longest, and of the
// others the sums. So memory is bounded, but for the goroutines that live at one
// time; traces of Go 1.21 and before are of a form that has to be read whole. A trace that is cut off loses the generation
// that it ends in, in a short trace all of it.
package exec

import (
	"cmp"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/show/sorting"
)

// NoProc stands for no P, or one that is not known.
const NoProc = -1

// Origin is how a goroutine came to the P that it starts on.
type Origin string

// The origins; see the package comment for what each is inferred from.
const (
	Own     Origin = "own"     // became ready on this P
	Stolen  Origin = "stolen"  // taken from the queue of another P
	Unclear Origin = "unclear" // made ready on another P; stolen, or from the global queue
	Global  Origin = "global"  // from the global queue
	Unknown Origin = "unknown" // ready before the trace started
	Return  Origin = "return"  // back from a system call, having kept its P: not a start
)

// Trace is an execution trace, read. Times are since its first event.
type Trace struct {
	Events   int64         `json:"events"` // without those that the reader makes up
	Duration time.Duration `json:"duration_ns"`

	Procs []Proc `json:"procs"` // by number
	// Goroutines are in the order of their appearance, main and those of
	// GoroutineCount that ran longest; Spans in the order of their ends, the first of
	// SpanCount; Steals in the order of their starts, the first of StealCount, with
	// those that are Unclear.
	Goroutines     []Goroutine `json:"goroutines"`
	GoroutineCount int64       `json:"goroutine_count"`
	Dropped        Tally       `json:"dropped"` // not in Goroutines, nor the runtime's own
	Runtime        Tally       `json:"runtime"` // the runtime's own, in Goroutines or not
	Spans          []Span      `json:"spans"`
	SpanCount      int64       `json:"span_count"`
	Steals         []Steal     `json:"steals"`
	StealCount     int64       `json:"steal_count"`

	Starts Starts `json:"starts"`
	Flows  []Flow `json:"flows"` // from P to P, by number
	// ProcChanges is how often GOMAXPROCS changed.
	ProcChanges int `json:"gomaxprocs_changes"`
}

// Starts counts how often a goroutine started to run, by where it came from.
type Starts struct {
	Own     int64 `json:"own"`
	Stolen  int64 `json:"stolen"`
	Unclear int64 `json:"unclear"`
	Global  int64 `json:"global"`
	Unknown int64 `json:"unknown"`
}

func (s Starts) All() int64 { return s.Own + s.Stolen + s.Unclear + s.Global + s.Unknown }

func (s *Starts) add(o Origin) {
	switch o {
	case Own:
		s.Own++
	case Stolen:
		s.Stolen++
	case Unclear:
		s.Unclear++
	case Global:
		s.Global++
	case Unknown:
		s.Unknown++
	}
}

type Proc struct {
	ID       int           `json:"id"`
	Running  time.Duration `json:"running_ns"` // of goroutines, the runtime's own among them
	Runtime  time.Duration `json:"runtime_ns"` // the part of these
	Syscalls time.Duration `json:"syscall_ns"` // held by a goroutine in a system call
	Starts   Starts        `json:"starts"`
	Lost     int64         `json:"lost"` // stolen from it
}

type Goroutine struct {
	ID      int64         `json:"id"`
	Name    string        `json:"name"`    // what it logged first, or its function; may be empty
	Func    string        `json:"func"`    // may be empty
	Runtime bool          `json:"runtime"` // one of the runtime's own
	Seen    time.Duration `json:"seen_ns"` // made, or first seen

	// The first start: where it was made ready, where it started, when, and from
	// where it came. FirstProc is NoProc if it never started, or ran as the trace started.
	ReadyProc   int           `json:"ready_proc"`
	FirstProc   int           `json:"first_proc"`
	FirstStart  time.Duration `json:"first_start_ns"`
	FirstWait   time.Duration `json:"first_wait_ns"` // from ready to running
	FirstOrigin Origin        `json:"first_origin,omitempty"`

	Running time.Duration `json:"running_ns"`
	Spans   int64         `json:"spans"`
	Steals  int64         `json:"steals"` // how often it was stolen
	Procs   []ProcTime    `json:"procs"`  // in the order of first use

	order int64
}

type ProcTime struct {
	Proc    int           `json:"proc"`
	Running time.Duration `json:"running_ns"`
}

// Span is a goroutine on a P without a break.
type Span struct {
	Goroutine int64         `json:"goroutine"`
	Proc      int           `json:"proc"` // NoProc where the trace does not tell
	Start     time.Duration `json:"start_ns"`
	End       time.Duration `json:"end_ns"`
	Origin    Origin        `json:"origin"`
	Stop      string        `json:"stop"`    // why it ended, in the runtime's words; empty: with the trace
	Runtime   bool          `json:"runtime"` // of one of the runtime's own goroutines
}

// Steal is a start on another P than the one that it was made ready on.
type Steal struct {
	Goroutine int64         `json:"goroutine"`
	From      int           `json:"from"`
	To        int           `json:"to"`
	Ready     time.Duration `json:"ready_ns"`
	Start     time.Duration `json:"start_ns"`
	Unclear   bool          `json:"unclear"` // it may have come by the global queue
}

type Flow struct {
	From    int   `json:"from"`
	To      int   `json:"to"`
	Stolen  int64 `json:"stolen"`
	Unclear int64 `json:"unclear"`
}

// Busy is the share of the trace in which a P ran goroutines.
func (t *Trace) Busy(p Proc) float64 {
	if t.Duration <= 0 {
		return 0
	}
	return min(1, float64(p.Running)/float64(t.Duration))
}

// Fairness is how evenly the goroutines of one function ran.
type Fairness struct {
	Func        string
	Goroutines  int
	Running     time.Duration // of all
	Least, Most time.Duration // that one of them ran
	// Jain is Jain's fairness index of how long each ran: 1 if all ran for the same time, 1/n if one
	// of n ran alone (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984).
	Jain float64
}

// Fairness has each function that several goroutines ran, without the runtime's own: those that
// ran longest first. It is empty if goroutines are missing in the trace.
func (t *Trace) Fairness() (list []Fairness) {
	if t.Dropped.Goroutines > 0 {
		return nil
	}
	ran := map[string][]time.Duration{}
	for _, g := range t.Goroutines {
		if !g.Runtime && g.Func != "" && g.Spans > 0 {
			ran[g.Func] = append(ran[g.Func], g.Running)
		}
	}
	for name, all := range ran {
		a := Fairness{Func: name, Goroutines: len(all), Least: slices.Min(all), Most: slices.Max(all)}
		squares := 0.0
		for _, d := range all {
			a.Running += d
			squares += d.Seconds() * d.Seconds()
		}
		if len(all) < 2 || squares == 0 {
			continue
		}
		a.Jain = a.Running.Seconds() * a.Running.Seconds() / squares / float64(len(all))
		list = append(list, a)
	}
	sorting.Stable(list, func(a, b Fairness) int { return cmp.Or(cmp.Compare(b.Running, a.Running), cmp.Compare(a.Func, b.Func)) })
	return list
}
