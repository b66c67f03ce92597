// Package memlimit sets GOMEMLIMIT to match the memory limits of the program's cgroups:
// [Set] once, and [Start] also when they change, as importing package auto does.
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
//   - Set does not follow later changes of the limit; Start does. A check takes 0.2 to
//     0.4 ms, every ten seconds.
//   - Outside Linux there are no limits, and nothing changes.
package memlimit

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

// The kinds of errors that Set returns, for errors.Is.
var (
	ErrOption     = errors.New("an option is invalid")
	ErrNoRoom     = errors.New("the headroom leaves no memory")
	ErrUnreadable = errors.New("a memory limit cannot be read")
	ErrMalformed  = errors.New("a memory limit is malformed")
)

// Action is what Set did.
type Action string

const (
	KeptEnv   Action = "kept_env"   // the environment sets it
	Kept      Action = "kept"       // it was already correct, or there is no limit
	Changed   Action = "changed"    // it was changed
	NotRaised Action = "not_raised" // the known limits allow more, but not all limits are known
)

// Result is what Set found and did.
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
		s += fmt.Sprintf("; GOMEMLIMIT=%q in the environment sets no limit, so it is ignored", e.Raw)
	}
	return s
}

// Set sets GOMEMLIMIT to match the program's memory limits, and returns a function that
// restores the previous value.
//
// It keeps a valid GOMEMLIMIT in the environment, also "off". If no limit is known it
// changes nothing.
//
// It returns an error and changes nothing if an option is invalid or if the headroom
// leaves no memory. It also returns an error if a limit could not be read or is not
// valid; it then lowers GOMEMLIMIT if the known limits require it, but never raises it.
func Set(opts ...Option) (undo func(), err error) {
	c := configure(opts)
	nothing := func() {}
	if err := c.rule.Check(); err != nil {
		return nothing, err
	}
	before := c.sys.limit(-1)
	r, err := c.decide(before)
	undo = nothing
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

func (c *config) log(r Result) {
	if c.printf != nil {
		defer func() { _ = recover() }() // a log line must not end a program
		c.printf("memlimit: %s", r.String())
	}
}

// system is what Set reads and changes.
type system struct {
	read  func() facts.Memory
	limit func(int64) int64 // as debug.SetMemoryLimit
}

func (c *config) decide(before int64) (Result, error) {
	r := Result{Action: Kept, Bytes: before, Before: before, Facts: c.sys.read()}
	if r.Decision = Runtime(r.Facts); r.Decision.Standing == ByEnv {
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

// missing is what could not be read, as an error.
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

// Option changes what Set does. A nil Option is ignored.
type Option func(*config)

type config struct {
	rule   Rule
	printf func(string, ...any)
	detail *Result
	sys    system
}

// Ratio is the share of the limit to use, above 0 and at most 1. The default is
// DefaultRatio, or 1 with Headroom.
func Ratio(share float64) Option {
	return func(c *config) {
		if c.rule.Ratio = share; share == 0 {
			c.rule.Ratio = -1 // 0 was set, which is not valid
		}
	}
}

// Headroom reserves bytes for what the Go runtime does not manage: memory of C libraries,
// mapped files, other processes under the same limit. It replaces the default ratio; if
// Ratio is set too, both apply.
func Headroom(bytes int64) Option { return func(c *config) { c.rule.Headroom = bytes } }

// Logger sets a function such as log.Printf, which gets one line with what was done and
// why. By default nothing is logged. A logger that panics loses its line, but does not
// end the program.
func Logger(printf func(format string, args ...any)) Option {
	return func(c *config) { c.printf = printf }
}

// Detail fills r with what was found and done.
func Detail(r *Result) Option { return func(c *config) { c.detail = r } }

func configure(opts []Option) config {
	c := config{sys: live()}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

func live() system { return system{read: facts.ReadMemory, limit: debug.SetMemoryLimit} }
