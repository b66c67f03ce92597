// Package steer changes the GOMAXPROCS of a running Go program from outside, without a line
// of code in it: it has the program call runtime.GOMAXPROCS.
//
// The model. The runtime has a protocol by which a debugger calls a function in a goroutine
// (runtime.debugCallV2, from Go 1.17 on amd64 and 1.18 on arm64; runtime/asm_*.s and
// runtime/debugcall.go have it, InjectDebugCall in the runtime's own tests is its reference). A
// tracer stops one thread where it runs compiled code of the program, saves all its
// registers, and lets it go on in debugCallV2. That traps and asks, with a status in a
// register: make the call now (0), it has returned (1), it has panicked (2), it is refused
// (8), restore the registers (16). All other threads run on.
//
// What the protocol leaves to the debugger is decided in package files place.go (where a call
// is safe, which is where the runtime itself would preempt the goroutine) and call_linux.go
// (which thread traps, and that the flags are as before). Offsets in the runtime's records
// are a table by release, offsets.go; a release that is not in it is refused.
//
// The tracer is a process of its own (Stage), since a tracer that dies between the first
// change of a register and status 16 leaves a trap that ends the program. It ignores every
// signal that can be ignored, makes one call, and leaves the program by its own end: then
// the kernel lets all threads go without stopping them. A Guard is one more process, which
// traces nothing. It has a tracer set a value for a while, and another one give the old value
// back, also when procfit has died.
//
// Which program is meant is decided before anything is read of it (Identify), and asked again
// before each call. Memory is written through a file that the kernel keeps with the program
// that it was opened on, so that nothing is written after exec.
//
// Limits: Linux, amd64 and arm64. A program whose threads are all in the kernel or in C, and
// which reads and writes nothing for 10 s, is left alone. A program that ignores SIGTRAP is
// refused, since the kernel would end that by the first trap. Nothing is known of plugins,
// whose code is in tables of their own.
package steer

import (
	"errors"
	"fmt"
	"time"
)

// Most is the largest GOMAXPROCS that Set sets: each P takes memory, the runtime crashes at numbers
// near 2³¹, and no machine of Linux has more CPUs that a program could use.
const Most = 4096

// Waits is how long a call waits for a program in which no Go code runs.
const Waits = 10 * time.Second

// Value is a GOMAXPROCS and whether the runtime follows the limits of the program.
type Value struct {
	Procs int
	// Auto has the runtime follow them again, which it does from Go 1.25 on. Procs is then
	// what it is to start from.
	Auto bool
}

// Program is one program in one process: after exec, also of the same file, it is another.
type Program struct {
	PID        int
	Started    uint64 // in ticks since boot, so that no other process that has the PID later is meant
	Dev, Inode uint64 // of its executable
	// Told is a sum of what the kernel told the program at its exec (the auxiliary vector),
	// with addresses that it chooses at random each time.
	Told [32]byte
}

type Request struct {
	Program
	Value Value
	// Idle is called once if no Go code was seen to run at first, which a call has to wait for.
	Idle func() `json:"-"`
}

// part is the hidden first argument of a tracer or a guard. It is in ps, so it says what the
// process is. A guard's is followed by the process that the value is lent to, until when, and when that
// process started.
type part string

const (
	tracerPart part = "(tracer)"
	guardPart  part = "(guard)"
)

// Loan is a value for a while.
type Loan struct {
	Request
	Before Value // what is given back, unless the first call finds another number
	For    time.Duration
	Spare  time.Duration // of For: beyond what is planned, and not shown
}

type Result struct {
	Old  int   // what runtime.GOMAXPROCS returned; with Auto by SetDefaultGOMAXPROCS what was read before
	New  int   // what was read afterwards; 0: it cannot be read in this program
	Auto *bool // whether the runtime follows the limits now; nil: not known, or it never does
	// Held is how long the goroutine of the call stood still; Stopped is from the call to
	// its return, within which the world was stopped.
	Held, Stopped time.Duration
	Threads       int
	AfterRead     bool // the place was found after a read or a write
}

// Why is why nothing was changed.
type Why string

const (
	NotLinked    Why = "not_linked"
	TooOld       Why = "too_old"
	Unknown      Why = "unknown_release"
	OtherMachine Why = "other_machine"
	Traced       Why = "traced"
	Denied       Why = "denied"
	NoPlace      Why = "no_place"
	Refused      Why = "refused"
	Halted       Why = "halted"
	NoTraps      Why = "ignores_traps"
	Late         Why = "late" // the call may still be on its way
	Unwanted     Why = "unwanted"
	Taken        Why = "taken"
	Lent         Why = "lent"
	Ended        Why = "ended"
	Executed     Why = "executed"
	Replaced     Why = "replaced"
	Unreadable   Why = "unreadable"
	Unsupported  Why = "unsupported"
	Lost         Why = "lost" // the tracer is gone, and with it what is known of the program
	Broken       Why = "broken"
)

// Refusal is that a program was not changed, or with Lost, Broken and Late that it may have been.
type Refusal struct {
	PID    int
	Why    Why
	Detail string
}

// sentences are the reasons in words; %s is the detail.
var sentences = map[Why]string{
	NotLinked:    "runtime.GOMAXPROCS is not linked into the program (%s), so there is nothing to call: set it in its environment and restart it",
	TooOld:       "it is built with %s: calls from outside need Go 1.17 (amd64) or Go 1.18 (arm64)",
	Unknown:      "it is built with %s, and where that release keeps the state of its threads is not known to this procfit: nothing is guessed",
	OtherMachine: "it is built for %s: only programs for the processor that procfit itself is built for can be called",
	Traced:       "%s traces it already, and a process has one tracer: detach that first",
	Denied:       "the kernel refuses to trace it (%s): run procfit as root, or with CAP_SYS_PTRACE, and for a program of another user CAP_DAC_OVERRIDE too",
	NoPlace:      "for %s it ran no Go code where a call is safe, as when it is idle: send it requests while procfit tries again",
	Refused:      "its runtime refuses a call at each place that was tried: %s",
	Halted:       "it is stopped (%s): let it continue first, with kill -CONT",
	NoTraps:      "it ignores SIGTRAP, which a call needs%s",
	Late:         "the call is not over after %s, as when the program is frozen: do not end that process, which ends with the call",
	Unwanted:     "interrupted before the call began%s: nothing was changed",
	Taken:        "it uses GOMAXPROCS=%s by now, which something else has set: it is left alone",
	Lent:         "another procfit lends it a value until %s: wait, or end that procfit with Ctrl-C",
	Ended:        "it has ended%s",
	Executed:     "it became another program by exec%s",
	Replaced:     "another process has its PID now%s",
	Unreadable:   "%s",
	Unsupported:  "%s",
	Lost:         "the process that made the call is gone (%s), and the program may end by SIGTRAP: check it",
	Broken:       "the call did not go as the runtime's protocol says (%s): check the program",
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("process %d: "+sentences[r.Why], r.PID, r.Detail)
}

// unsure reports whether the program may have been changed, or may be later.
func (r *Refusal) unsure() bool { return r.Why == Lost || r.Why == Broken || r.Why == Late }

// Because is why err says that nothing was changed; empty: it says something else.
func Because(err error) Why {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Why
	}
	return ""
}
