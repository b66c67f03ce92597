// Package memlimit sets GOMEMLIMIT to match the memory limits of the program's cgroups:
// [Set] once, [Watch] for as long as the program runs, and [Start] only if that lowers it,
// as importing package auto does. All three take the same options.
//
// # Model
//
// The limit is the tightest of all cgroups from the program's own to the root, as package
// facts reads them: memory.max and memory.high on cgroup v2, memory.limit_in_bytes and
// the lowest limit of all parent cgroups on v1. [Decide] takes a share of it, 90% by
// default, and gives every reason; it changes nothing itself. A valid GOMEMLIMIT in the
// environment is kept.
//
// GOMEMLIMIT is a soft limit on the memory that the Go runtime manages. The remaining 10%
// are for what the runtime does not know: memory of C libraries, mapped files, thread
// stacks of the system, kernel buffers of the cgroup, and other processes in it.
//
// # Limits
//
//   - A limit that cannot be read or is not valid is reported as an error. The known
//     limits may then lower GOMEMLIMIT, but never raise it.
//   - Without any limit nothing changes, because the program shares the memory of the
//     machine with others.
//   - If the live heap exceeds the limit, the runtime collects continuously, but uses at
//     most half of the CPU time for this. The kernel still kills the program above its
//     own limit.
//   - Set does not follow later changes of the limit; Watch and Start do. They notice a
//     lower limit within a period of 0.1 s, and the heap can grow during that time: a
//     program that allocates 1 GB/s needs more than 0.1 GB between its heap and the new
//     limit. What the heap has already grown to when the limit is lowered is the kernel's
//     matter: cgroup v1 refuses the limit, v2 kills.
//   - Outside Linux there are no limits, and nothing changes.
package memlimit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

// The kinds of errors that Set and Start return, for errors.Is. Watch returns only
// ErrOption, and the error of its context.
var (
	ErrOption     = errors.New("an option is invalid")
	ErrNoRoom     = errors.New("the headroom leaves no memory")
	ErrUnreadable = errors.New("a memory limit cannot be read")
	ErrMalformed  = errors.New("a memory limit is malformed")
)

// Action is what was done.
type Action string

const (
	KeptEnv   Action = "kept_env"   // the environment sets it
	Kept      Action = "kept"       // it was already correct, or there is no limit
	Changed   Action = "changed"    // it was changed
	NotRaised Action = "not_raised" // the known limits allow more, but not all limits are known
)

// Result is what was found and done.
type Result struct {
	Action   Action
	Bytes    int64 // GOMEMLIMIT now; NoLimit: none
	Before   int64 // GOMEMLIMIT before
	Facts    facts.Memory
	Decision Decision // that of Runtime if the environment decides
}

// String is the result on one line.
func (r Result) String() string {
	s := "GOMEMLIMIT=" + Format(r.Bytes) + ": "
	switch r.Action {
	case KeptEnv:
	case Kept:
		s += "kept; "
	case Changed:
		s += "was " + Format(r.Before) + "; "
	case NotRaised:
		s += "not raised, because not all limits are known; "
	}
	s += strings.Join(r.Decision.Reasons, "; ")
	if e := r.Facts.Env; e.State == facts.Known && r.Action != KeptEnv {
		why := "sets no limit, so it is ignored"
		if Runtime(r.Facts).Standing == ByEnv {
			why = "was set too late, or code has set another"
		}
		s += fmt.Sprintf("; GOMEMLIMIT=%q in the environment %s", e.Raw, why)
	}
	return s
}

// Set sets GOMEMLIMIT to match the program's memory limits, and returns a function that
// restores the previous value.
//
// It keeps a valid GOMEMLIMIT in the environment, also "off". If code has put it there
// after the start, the runtime has not read it, and Set does not keep it. If no limit is
// known it changes nothing.
//
// It returns an error and changes nothing if an option is invalid or if the headroom
// leaves no memory. It also returns an error if a limit could not be read or is not
// valid; it then lowers GOMEMLIMIT if the known limits require it, but never raises it.
func Set(opts ...Option) (undo func(), err error) {
	c := configure(opts)
	undo = func() {}
	if err := c.check(); err != nil {
		return undo, err
	}
	before := c.sys.limit(-1)
	r, err := c.decide(before, before, c.sys.read())
	if r.Action == Changed {
		c.sys.limit(r.Bytes)
		undo = func() { c.sys.limit(before) }
	}
	if c.detail != nil {
		*c.detail = r
	}
	c.log(r)
	return undo, err
}

func (c *config) check() error {
	if c.zero {
		return c.rule.wrongRatio()
	}
	return c.rule.Check()
}

func (c *config) log(r Result) {
	if c.printf != nil {
		defer func() { _ = recover() }() // a log line must not end a program
		c.printf("memlimit: %s", r.String())
	}
}

// system is what Set, Watch and Start read and change.
type system struct {
	read    func() facts.Memory
	changed func(facts.Memory) bool // as Memory.Changed
	limit   func(int64) int64       // as debug.SetMemoryLimit
}

// decide is what to do about the value before. A limit in the environment that is not the value at
// first is not the runtime's, which has read the variable before any code ran, or no longer.
func (c *config) decide(first, before int64, m facts.Memory) (Result, error) {
	r := Result{Action: Kept, Bytes: before, Before: before, Facts: m}
	if r.Decision = Runtime(r.Facts); r.Decision.Standing == ByEnv && first == r.Decision.Bytes {
		r.Action = KeptEnv
		return r, nil
	}
	r.Decision = Decide(r.Facts, c.rule)
	err := missing(r.Facts)
	switch want := r.Decision.Bytes; {
	case r.Decision.Standing == NoRoom:
		return r, fmt.Errorf("memlimit: %w: %s allows %d bytes, and the headroom is %d bytes", ErrNoRoom, r.Decision.File, r.Decision.Limit, c.rule.Headroom)
	case r.Decision.Standing != Limited || want == before:
	case want > before && err != nil:
		r.Action = NotRaised
	default:
		r.Action, r.Bytes = Changed, want
	}
	return r, err
}

func missing(m facts.Memory) error {
	var all []error
	for _, f := range m.Missing() {
		kind := ErrUnreadable
		if f.State == facts.Malformed {
			kind = ErrMalformed
		}
		all = append(all, fmt.Errorf("%w: %s", kind, f.Error))
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("memlimit: not all memory limits are known: %w", errors.Join(all...))
}
