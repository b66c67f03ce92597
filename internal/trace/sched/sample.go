package sched

import (
	"slices"
	"strconv"
)

// Absent is the value of a count that the line does not hold. The runtime prints
// no negative counts.
const Absent = -1

// Sample is the scheduler at one instant. See Fields for each field's meaning.
type Sample struct {
	Line   int64 // where the SCHED line is in the log, from 1
	Millis int64 // since the process's first sample

	Procs           int // gomaxprocs
	IdleProcs       int
	Threads         int
	SpinningThreads int
	NeedSpinning    int // 0 or 1
	IdleThreads     int
	GlobalQueue     int // runqueue

	// LocalQueues and SchedTicks are by P; nil where absent. With details, one of a
	// P whose line could not be read is Absent.
	LocalQueues []int
	SchedTicks  []int64 // 32 bits in the runtime: they wrap

	UnknownKeys int     // keys of the SCHED line that this package does not know
	Detail      *Detail // nil without scheddetail
}

// Detail is what scheddetail=1 adds.
type Detail struct {
	GCWaiting   int // 0 or 1
	IdleLocked  int // nmidlelocked
	StopWait    int
	SysmonWait  int // 0 or 1
	ProcStatus  []ProcStatus
	Threads     ThreadCounts
	Goroutines  GoroutineCounts
	LinesBroken int // P, M and G lines that break off, left out of the counts
}

// ThreadCounts are the M lines, counted; an M may be in several of them.
type ThreadCounts struct {
	Total    int
	WithProc int
	Spinning int
	Blocked  int // parked on a note; Absent in Go 1.2, and wrong until Go 1.6
	Locked   int // locked to a goroutine
	// OffProc run a goroutine without a P: a system call or cgo.
	OffProc int
	Dying   int // in a fatal panic, which printed the sample
}

// GoroutineCounts are the G lines, counted.
type GoroutineCounts struct {
	Live     int // all but the dead, which the runtime keeps for reuse
	ByStatus [goroutineStatuses]int
	// Reasons are of those that wait, in order of appearance; the last may be
	// OtherReason.
	Reasons []Reason
}

// Reason is why goroutines wait, in the runtime's words.
type Reason struct {
	Name  string
	Count int
}

// OtherReason stands for all reasons that are unprintable, overlong or too many.
const OtherReason = "(other)"

// QueuedLocal is the sum of the local queues, Absent if none is known.
func (s *Sample) QueuedLocal() int64 {
	sum := int64(Absent)
	for _, q := range s.LocalQueues {
		if q >= 0 {
			sum = max(sum, 0) + int64(q)
		}
	}
	return sum
}

// Clone copies a sample, to keep it past the next Scan.
func (s *Sample) Clone() *Sample {
	c := *s
	c.LocalQueues = slices.Clone(s.LocalQueues)
	c.SchedTicks = slices.Clone(s.SchedTicks)
	if s.Detail != nil {
		d := *s.Detail
		d.ProcStatus = slices.Clone(d.ProcStatus)
		d.Goroutines.Reasons = slices.Clone(d.Goroutines.Reasons)
		c.Detail = &d
	}
	return &c
}

// slot is a sample with the memory that it uses again for the next one.
type slot struct {
	Sample
	queues []int
	ticks  []int64
	detail Detail
}

func (s *slot) reset() {
	s.Sample = Sample{
		Procs: Absent, IdleProcs: Absent, Threads: Absent, SpinningThreads: Absent,
		NeedSpinning: Absent, IdleThreads: Absent, GlobalQueue: Absent,
	}
	s.queues, s.ticks = s.queues[:0], s.ticks[:0]
}

// detailed is the sample's detail, empty when it is first asked for.
func (s *slot) detailed() *Detail {
	if s.Detail == nil {
		s.Detail = &s.detail
		s.detail = Detail{
			GCWaiting: Absent, IdleLocked: Absent, StopWait: Absent, SysmonWait: Absent,
			ProcStatus: s.detail.ProcStatus[:0],
			Threads:    ThreadCounts{Blocked: Absent},
			Goroutines: GoroutineCounts{Reasons: s.detail.Goroutines.Reasons[:0]},
		}
	}
	return s.Detail
}

// ProcStatus is the status of a P (runtime2.go); Absent where its line could not
// be read.
type ProcStatus int

const (
	ProcIdle ProcStatus = iota
	ProcRunning
	ProcSyscall // until Go 1.25
	ProcGCStop
	ProcDead
)

func (p ProcStatus) String() string {
	names := [...]string{"idle", "running", "syscall", "gcstop", "dead"}
	if p >= 0 && int(p) < len(names) {
		return names[p]
	}
	return "status " + strconv.Itoa(int(p))
}

// GoroutineStatus is the status of a G (runtime2.go) without its scan bit.
type GoroutineStatus int

const (
	GoroutineIdle      GoroutineStatus = 0
	GoroutineRunnable  GoroutineStatus = 1
	GoroutineRunning   GoroutineStatus = 2
	GoroutineSyscall   GoroutineStatus = 3
	GoroutineWaiting   GoroutineStatus = 4
	GoroutineDead      GoroutineStatus = 6
	GoroutineCopyStack GoroutineStatus = 8
	GoroutinePreempted GoroutineStatus = 9  // since Go 1.14
	GoroutineLeaked    GoroutineStatus = 10 // since Go 1.26
	GoroutineDeadExtra GoroutineStatus = 11 // since Go 1.26
	GoroutineUnknown   GoroutineStatus = 12 // any other number

	goroutineStatuses = 13
	scanBit           = 0x1000 // the collector is scanning the stack
)

func (g GoroutineStatus) String() string {
	names := [goroutineStatuses]string{
		GoroutineIdle: "idle", GoroutineRunnable: "runnable", GoroutineRunning: "running",
		GoroutineSyscall: "syscall", GoroutineWaiting: "waiting", GoroutineDead: "dead",
		GoroutineCopyStack: "copystack", GoroutinePreempted: "preempted",
		GoroutineLeaked: "leaked", GoroutineDeadExtra: "deadextra", GoroutineUnknown: "unknown",
	}
	if g >= 0 && int(g) < len(names) && names[g] != "" {
		return names[g]
	}
	return "status " + strconv.Itoa(int(g))
}
