package sched

// absent is the value of a count that the line does not hold. The runtime prints
// no negative counts.
const absent = -1

// Sample is the scheduler at one instant. See Fields for each field's meaning.
type Sample struct {
	Line   int64 // where the SCHED line is in the log, from 1
	Millis int64 // since the process's first sample

	Procs           int // gomaxprocs
	IdleProcs       int
	Threads         int
	SpinningThreads int
	IdleThreads     int
	GlobalQueue     int // runqueue

	// LocalQueues and SchedTicks are by P; nil where absent. With details, one of a
	// P whose line could not be read is Absent.
	LocalQueues []int64
	SchedTicks  []int64 // 32 bits in the runtime: they wrap

	Detail *Detail // nil without scheddetail
}

// Detail is what is counted in the lines that scheddetail=1 adds.
type Detail struct {
	OffProc int // threads that run a goroutine without a P: in a system call or cgo
	Dying   int // threads in a fatal panic, which printed the sample

	Goroutines int    // all but the dead, which the runtime keeps for reuse
	ByStatus   [5]int // idle, runnable, running, in a system call, waiting
	// Reasons counts those that wait, by why in the runtime's words, or otherReason.
	Reasons     map[string]int
	LinesBroken int // P, M and G lines that break off, left out of the counts
}

// otherReason stands for all reasons that are unprintable, overlong or too many.
const otherReason = "(other)"

// QueuedLocal is the sum of the local queues, Absent if none is known.
func (s *Sample) QueuedLocal() int64 {
	sum := int64(absent)
	for _, q := range s.LocalQueues {
		if q >= 0 {
			sum = max(sum, 0) + q
		}
	}
	return sum
}

// slot is a sample with the memory that it uses again for the next one.
type slot struct {
	Sample
	queues, ticks []int64
	detail        Detail
}

func (s *slot) reset() {
	s.Sample = Sample{
		Procs: absent, IdleProcs: absent, Threads: absent, SpinningThreads: absent,
		IdleThreads: absent, GlobalQueue: absent,
	}
	s.queues, s.ticks = s.queues[:0], s.ticks[:0]
}

// detailed is the sample's detail, empty when it is first asked for.
func (s *slot) detailed() *Detail {
	if s.Detail == nil {
		s.Detail = &s.detail
		clear(s.detail.Reasons)
		s.detail = Detail{Reasons: s.detail.Reasons}
	}
	return s.Detail
}

// The status of a G (runtime2.go).
const (
	goroutineRunnable  = 1
	goroutineRunning   = 2
	goroutineSyscall   = 3
	goroutineWaiting   = 4
	goroutineDead      = 6
	goroutineDeadExtra = 11 // since Go 1.26

	scanBit = 0x1000 // is added while the collector scans the stack
)

// Field explains a key of a trace.
type Field struct {
	Name  string `json:"name"`
	Where string `json:"where"` // the line: SCHED, P, M or G
	Unit  string `json:"unit"`
	// Since and Until are the first and the last Go version that print it. Go 1.3
	// could not be had: what is here since 1.4 may be of 1.3.
	Since   string `json:"since"`
	Until   string `json:"until,omitempty"` // empty: to this day
	Detail  bool   `json:"detail"`          // only with scheddetail=1
	Meaning string `json:"meaning"`
}

// Fields explains every key, in the order of the lines. The meanings are those of
// the runtime's source (proc.go: schedtrace; runtime2.go) from Go 1.2 to 1.27.
func Fields() []Field {
	return append(headerFields(), detailFields()...)
}

func headerFields() []Field {
	const sched = "SCHED"
	return []Field{
		{Name: "SCHED", Where: sched, Unit: "milliseconds", Since: "1.2",
			Meaning: "Time since the first such line of this process. The runtime prints that one when the process starts, so it always says 0ms. sysmon, a thread that needs no P, prints the others every schedtrace=N milliseconds, or up to about 10 ms later. A fatal panic prints one more, with details."},
		{Name: "gomaxprocs", Where: sched, Unit: "Ps", Since: "1.2",
			Meaning: "The number of Ps: how many threads can run Go code at one time. A thread in a system call or in C needs none."},
		{Name: "idleprocs", Where: sched, Unit: "Ps", Since: "1.2",
			Meaning: "Ps with nothing to do. The others run Go code, the garbage collector or the scheduler, or belong to a thread in a short system call. A busy P whose thread the kernel does not run, as under a CPU quota, counts as busy."},
		{Name: "threads", Where: sched, Unit: "threads", Since: "1.2",
			Meaning: "Threads (Ms) of the runtime, including idle ones, those in system calls and in C, and sysmon. Until Go 1.9 all that were ever created; since 1.10 only those that still exist. Idle threads are kept. The program dies at 10,000 (debug.SetMaxThreads)."},
		{Name: "spinningthreads", Where: sched, Unit: "threads", Since: "1.4",
			Meaning: "Threads that hold a P, have no work, and search the other Ps' queues before they park. They use CPU. A thread starts to spin only if fewer than half of the busy Ps are spinning."},
		{Name: "needspinning", Where: sched, Unit: "0 or 1", Since: "1.20",
			Meaning: "1 when a thread that had given up its P saw work and found no idle P to do it with. A thread that runs out of work then searches again before it parks. Often 1 while all Ps are busy; this is not a problem."},
		{Name: "idlethreads", Where: sched, Unit: "threads", Since: "1.2",
			Meaning: "Threads that are parked because they have no work. Threads that are blocked in system calls, wait for the network, or are locked to a waiting goroutine are not counted."},
		{Name: "runqueue", Where: sched, Unit: "goroutines", Since: "1.2",
			Meaning: "Length of the global queue of runnable goroutines: those that were preempted or yielded, the overflow of a full local queue (256 since Go 1.4), and those that became ready on a thread without a P. Each P checks it every 61st time it schedules, and when its own queue is empty."},
		{Name: "[…]", Where: sched, Unit: "goroutines by P", Since: "1.2",
			Meaning: "Length of each P's own queue, from P 0 on. Since Go 1.5 a P also has a slot for one goroutine that runs next, runnext, which is not counted. Written [0 0] until Go 1.24, and [ 0 0 ] since."},
		{Name: "schedticks", Where: sched, Unit: "time slices by P", Since: "1.25",
			Meaning: "How many times each P started a time slice with a goroutine since the process started (32 bits). A goroutine that runs in the rest of its waker's time slice is not counted. The growth from line to line shows how much each P schedules, not how much CPU it uses: one long goroutine is one tick."},
		{Name: "gcwaiting", Where: sched, Unit: "0, 1; since 1.20 false, true", Since: "1.2", Detail: true,
			Meaning: "Something, mostly the garbage collector, is stopping the world or has stopped it."},
		{Name: "nmidlelocked", Where: sched, Unit: "threads", Since: "1.2", Detail: true,
			Meaning: "Threads locked to a goroutine (runtime.LockOSThread) that wait for it to become runnable. They are not in idlethreads. It can be -1 for an instant, mostly as the program starts."},
		{Name: "nmspinning", Where: sched, Unit: "threads", Since: "1.2", Until: "1.2", Detail: true,
			Meaning: "The name of spinningthreads in Go 1.2."},
		{Name: "stopwait", Where: sched, Unit: "Ps", Since: "1.2", Detail: true,
			Meaning: "Ps that have not stopped yet while the world is being stopped; 2147483647 in a program that is dying."},
		{Name: "sysmonwait", Where: sched, Unit: "0, 1; since 1.20 false, true", Since: "1.2", Detail: true,
			Meaning: "sysmon is in a deep sleep. Always 0 in the lines that sysmon itself prints."},
	}
}

func detailFields() []Field {
	fields := []Field{
		{Name: "status", Where: "P", Unit: "0 to 4", Since: "1.2",
			Meaning: "0 idle; 1 running; 2 in a system call (until Go 1.25: since 1.26 such a P says 1); 3 stopped for the garbage collector; 4 dead, left over from a larger GOMAXPROCS."},
		{Name: "schedtick", Where: "P", Unit: "time slices", Since: "1.2", Meaning: "As in schedticks."},
		{Name: "syscalltick", Where: "P", Unit: "system calls", Since: "1.2",
			Meaning: "A 32-bit counter of system calls on this P. It grows when a call returns and when a call loses its P, so a long call can count twice."},
		{Name: "m", Where: "P", Unit: "thread", Since: "1.2", Meaning: "The thread that holds this P; none is -1, and nil since Go 1.20."},
		{Name: "runqsize", Where: "P", Unit: "goroutines", Since: "1.2", Meaning: "Length of this P's queue, without runnext. Go 1.2 adds the queue's capacity, as in 0/128."},
		{Name: "gfreecnt", Where: "P", Unit: "goroutines", Since: "1.2", Meaning: "Dead goroutines that this P keeps for reuse."},
		{Name: "timerslen", Where: "P", Unit: "timers", Since: "1.14", Meaning: "Timers in this P's heap; the other Ps have the rest."},

		{Name: "p", Where: "M", Unit: "P", Since: "1.2", Meaning: "The P that this thread holds; none is -1, and nil since Go 1.20."},
		{Name: "curg", Where: "M", Unit: "goroutine", Since: "1.2", Meaning: "The goroutine that this thread runs. A thread with a goroutine but without a P is in a system call or in C."},
		{Name: "mallocing", Where: "M", Unit: "count", Since: "1.2", Meaning: "Not 0: the thread is in the allocator, or is dying."},
		{Name: "throwing", Where: "M", Unit: "count", Since: "1.2", Meaning: "Not 0: the runtime is ending the program by a fatal error on this thread."},
		{Name: "gcing", Where: "M", Unit: "0 or 1", Since: "1.2", Until: "1.4", Meaning: "The thread is collecting garbage; later replaced by preemptoff."},
		{Name: "preemptoff", Where: "M", Unit: "words", Since: "1.5", Meaning: "Why the goroutine on this thread must not be preempted; usually empty. It can contain spaces."},
		{Name: "locks", Where: "M", Unit: "count", Since: "1.2", Meaning: "Number of locks and other reasons in the runtime not to preempt this thread."},
		{Name: "dying", Where: "M", Unit: "count", Since: "1.2", Meaning: "Not 0: the thread is in a fatal panic."},
		{Name: "helpgc", Where: "M", Unit: "number", Since: "1.2", Until: "1.11", Meaning: "The thread's number among those that help to collect garbage."},
		{Name: "spinning", Where: "M", Unit: "0, 1; since 1.5 false, true", Since: "1.2", Meaning: "The thread looks for work; see spinningthreads."},
		{Name: "blocked", Where: "M", Unit: "0, 1; since 1.5 false, true", Since: "1.4", Meaning: "The thread is parked on a note: idle, or waiting for a lock of the runtime. Until Go 1.6 every line has the value of the thread that prints."},
		{Name: "lockedg", Where: "M", Unit: "goroutine", Since: "1.2", Meaning: "The goroutine that this thread is locked to (runtime.LockOSThread)."},

		{Name: "status", Where: "G", Unit: "number and words", Since: "1.2",
			Meaning: "0 idle, not yet set up; 1 runnable, in a queue or next to run; 2 running; 3 in a system call; 4 waiting; 6 dead, kept for reuse; 8 its stack is being moved; 9 preempted for the collector (since Go 1.14); 10 leaked, 11 dead and kept for C (since Go 1.26). 4096 is added while the collector scans its stack. In parentheses: why it waits or, if it does not wait, why it waited last."},
		{Name: "m", Where: "G", Unit: "thread", Since: "1.2", Meaning: "The thread that runs it."},
		{Name: "lockedm", Where: "G", Unit: "thread", Since: "1.2", Meaning: "The thread that it is locked to."},
	}
	for i := range fields {
		fields[i].Detail = true
	}
	return fields
}
