// Package observe finds out from outside which processes matter and what they
// run with: the one that listens, the busiest Go
// program, its live GOMAXPROCS; and all of it together as the Subject that package
// rule judges.
//
// Everything is read from /proc at one instant; processes come and go meanwhile,
// and one that is gone is left out, not an error. Needs Linux, and for processes
// of other users CAP_SYS_PTRACE.
package observe

import (
	"errors"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/rule"
)

// Latency is the scheduling latency of goroutines, the runtime's own histogram.
type Latency = goproc.Latency

// Inferred is the third way to know GOMAXPROCS, in addition to those of package goproc:
// what its runtime decides by its version, environment and limits.
const Inferred = "inferred"

// Process is a running Go program as one Scan saw it.
type Process struct {
	rule.Subject
	Findings []rule.Finding

	// LiveCause is why the live value could not be read; empty where it was.
	LiveCause Cause

	Started uint64 // in ticks since boot; with the PID it names one process
	Threads int

	Total  Counts  // since the process, for throttling the group, began
	Recent *Counts // since the Scan before; nil in the first
}

// Identity tells the process from others that have its PID later.
func (p *Process) Identity() Identity { return Identity{PID: p.PID, Started: p.Started} }

// ProcsSource says how the value of Procs is known: symbol, decoded or inferred;
// empty when it is not known.
func (p Process) ProcsSource() string {
	if p.Live != nil {
		return p.LiveSource
	}
	if _, known := p.Procs(); known {
		return Inferred
	}
	return ""
}

// Last is what was counted since the Scan before or, in the first, since the
// beginning.
func (p Process) Last() Counts {
	if p.Recent != nil {
		return *p.Recent
	}
	return p.Total
}

// Counts is what a process did over a span of time.
type Counts struct {
	Span time.Duration
	CPU  time.Duration // user and system, of all threads

	// Counted reports whether the next three are known. By taskstats they hold all
	// threads that ever were, else those that live, see Snapshot.Counters.
	Counted                bool
	RunQueueWait           time.Duration // of all threads; includes throttling
	Voluntary, Involuntary int64         // context switches

	MajorFaults int64              // page faults that had to read from a disk
	Held        *procstat.FaultUse // by these; nil: nobody looked

	// Throttling is that of the group whose limit held the process back most; nil
	// without a limit, or unreadable.
	Throttling *rule.Throttling
	Latency    *Latency // nil: not known

	// Groups is that of every group with a limit, from the process's own upwards;
	// only in Process.Total.
	Groups []rule.Throttling
}

// Switches is the context switches a second.
func (c Counts) Switches() (perSecond float64, known bool) {
	return c.each(float64(c.Voluntary+c.Involuntary), c.Counted)
}

// CPUs is the CPU time a second of time.
func (c Counts) CPUs() (cpus float64, known bool) {
	return c.each(c.CPU.Seconds(), true)
}

// each is a count for each second of the span.
func (c Counts) each(n float64, known bool) (perSecond float64, yes bool) {
	if !known || c.Span <= 0 {
		return 0, false
	}
	return n / c.Span.Seconds(), true
}

// Waiting is how many threads could run and waited for a CPU, on average; those of
// a group that is throttled are among them.
func (c Counts) Waiting() (threads float64, known bool) {
	return c.each(c.RunQueueWait.Seconds(), c.Counted)
}

// LatencyAt is a quantile of the scheduling latency, in seconds; not known too
// when nothing was scheduled.
func (c Counts) LatencyAt(q float64) (seconds float64, known bool) {
	if c.Latency == nil {
		return 0, false
	}
	return c.Latency.Quantile(q)
}

// Unreadable is a process that may or may not be Go's, or in
// whose state nothing can be read for another reason than its end.
type Unreadable struct {
	PID    int
	Name   string // any bytes
	Reason string // the whole, with what to do
	Cause  Cause
	Detail string // the reason without what is the process's own
}

// What processes and the machine used over a span of time, as package procstat
// measures it.
type (
	Sampler = procstat.Sampler
	Span    = procstat.Span
	Use     = procstat.Use
	CPU     = procstat.CPU
	Stat    = procstat.Stat
	// Identity names a process for as long as the machine runs.
	Identity = procstat.Identity
)

// ReadStat reads what the kernel says of a process at once.
func ReadStat(pid int) (Stat, error) { return procstat.ReadStat(pid) }

// Source is where context switches and run-queue wait come from.
type Source = procstat.Source

// Taskstats is complete; the others miss what threads did just before their end.
const Taskstats = procstat.Taskstats

// Decoded is how the live GOMAXPROCS of a stripped program is found.
const Decoded = string(goproc.Decoded)

// GC is what the garbage collector of a program has done.
type GC = goproc.GC

// ErrNotGo is in the errors of Reader where the process runs no Go program.
var ErrNotGo = goproc.ErrNotGo

// NotGo reports whether a file is known not to be a Go program.
func NotGo(path string) bool {
	_, err := goproc.Open(path)
	return errors.Is(err, ErrNotGo)
}

// ErrGone is in the errors of Reader where the process has ended.
var ErrGone = goproc.ErrGone

// NewSampler opens the kernel's counters; Close it.
func NewSampler() (*Sampler, error) { return procstat.NewSampler() }

// CPUTime reads the CPU time since boot of some CPUs, of all when none is named.
// What others used over a span is the Busy of CPU.Since without what is known to
// have run there. An offline CPU is an error.
func CPUTime(cpus ...int) (CPU, error) { return procstat.ReadCPU(cpus...) }

// TreeCPU is the CPU time of processes and of those of their children that have ended
// and were waited for. What cannot be read, as it is gone, counts nothing. A process of
// one thread is counted exactly, others in ticks of 10 ms.
func TreeCPU(pids []int) time.Duration {
	sum := time.Duration(0)
	for _, pid := range pids {
		s, err := procstat.ReadStat(pid)
		if err != nil {
			continue
		}
		ran, _ := procstat.Ran(pid)
		sum += max(ran, s.User+s.System) + s.Reaped.User + s.Reaped.System
	}
	return sum
}

// MemoryOf is the memory of processes together; false where none can be read. What they
// share counts for each.
func MemoryOf(pids []int) (sum procstat.Memory, ok bool) {
	for _, pid := range pids {
		if m, err := procstat.ReadMemory(pid); err == nil {
			sum.Resident, sum.Peak, ok = sum.Resident+m.Resident, sum.Peak+m.Peak, true
		}
	}
	return sum, ok
}
