package sched

import "strconv"

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
