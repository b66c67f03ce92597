// Package maxprocs sets GOMAXPROCS to match the CPU limits and the affinity of the
// program: [Set] once, [Watch] for as long as the program runs, and [Start] only if the
// runtime alone does not do it. All three take the same options.
//
// # Model
//
// The value is the tightest limit of all cgroups from the program's own to the root, or
// the affinity if that is lower, minus what Reserve keeps for others. It is rounded up,
// or down with a reserve, and is at least 1; options change this. A valid GOMAXPROCS in
// the environment is kept. This is the policy Fit of package facts, which gives every
// reason and also works for other processes and other policies.
//
// Importing package auto calls Start. Package slogger logs to log/slog, and package
// metrics exports the numbers to Prometheus.
//
// # Limits
//
//   - A limit that cannot be read or is not valid is reported as an error; use errors.Is
//     to distinguish the causes, see ErrMalformed. The known limits may then lower
//     GOMAXPROCS, but never raise it.
//   - Parent cgroups outside a container's cgroup namespace or bind mount cannot be seen
//     from inside the container.
//   - Outside Linux the affinity is runtime.NumCPU and there are no limits. The value
//     then changes only by an option, or if code has set another value.
package maxprocs

import (
	"math"
	"runtime"
	"syscall"

	"github.com/procfit/procfit/maxprocs/internal/fit"
	"github.com/procfit/procfit/maxprocs/internal/gort"
	"github.com/procfit/procfit/maxprocs/internal/lease"
)

// Set sets GOMAXPROCS to match the program's CPU limits and affinity, and returns a
// function that undoes it. It accepts the same arguments as Set of
// go.uber.org/automaxprocs/maxprocs.
//
// It keeps a valid GOMAXPROCS in the environment. If the value is already correct, Set
// changes nothing, so that a runtime that keeps it up to date (Go 1.25 and later)
// continues to do so. Any change ends these updates, also for a limit that is set later;
// the Logger reports this if the program's own cgroup has a limit now. If the value before
// was the runtime's default, undo returns to that default; otherwise it restores the value.
//
// It returns an error if a limit could not be read or is not valid, see ErrMalformed. In
// this case it lowers GOMAXPROCS if the known limits require it, but never raises it.
func Set(opts ...Option) (undo func(), err error) {
	c := configure(opts)
	r, undo := c.set()
	c.tell(r)
	c.log(r)
	return undo, toTell(r.Unknown)
}

func (c *config) tell(r Result) {
	if c.detail != nil {
		*c.detail = r
	}
}

func (c *config) log(r Result) {
	if c.printf != nil {
		defer func() { _ = recover() }() // a log line must not end a program
		c.printf("maxprocs: %s", r)
	}
}

// system is what Set and Watch read and change.
type system struct {
	limits     func() limits
	env        func() (string, bool)
	affinity   func() int
	procs      func(int) int // as runtime.GOMAXPROCS
	setDefault func()
	hasDefault bool
}

func live() system {
	return system{
		limits: func() limits { return findLimits("") },
		env:    func() (string, bool) { return syscall.Getenv("GOMAXPROCS") }, affinity: affinity,
		procs: runtime.GOMAXPROCS, setDefault: gort.SetDefault, hasDefault: gort.HasDefault,
	}
}

// sight is what one check sees, and what follows from it.
type sight struct {
	limits
	affinity int
	want     int // the recommended value
}

func (s sight) same(as sight) bool {
	return s.cpus == as.cpus && s.file == as.file && s.leaf == as.leaf && s.blind == as.blind && s.unknown.text() == as.unknown.text() &&
		s.affinity == as.affinity && s.want == as.want
}

// look reads. done means that the environment sets GOMAXPROCS.
func (c *config) look() (r Result, seen sight, done bool) {
	s := c.sys
	r = Result{Before: s.procs(0), Affinity: s.affinity()}
	r.Procs = r.Before
	if r.Env, r.EnvSet = s.env(); r.EnvSet && gort.ValidEnv(r.Env) {
		r.Action = KeptEnv
		return r, seen, true
	}
	seen.limits, seen.affinity = s.limits(), r.Affinity
	r.Limit, r.File = seen.cpus, seen.file
	if seen.unknown != nil {
		r.Unknown = seen.unknown
	}
	seen.want = c.procs(seen.cpus, seen.affinity)
	r.followed = s.hasDefault && seen.leaf > 0 && !seen.blind && r.Before == seen.runtimeDefault(r.Affinity)
	return r, seen, false
}

func (c *config) set() (r Result, undo func()) {
	undo = func() {}
	r, seen, done := c.look()
	before, theirs := r.Before, seen.runtimeDefault(r.Affinity)
	switch {
	case done:
	case seen.want == before:
		r.Action = Kept
	case r.Unknown != nil && seen.want > before:
		r.Action = NotRaised
	default:
		if r.Action = c.sys.apply(seen.want, theirs == seen.want); r.Action == Leased {
			break
		}
		r.Procs = seen.want
		// Then it was the default of a runtime that reads limits, or of one that does not, or
		// the same value set by code.
		byDefault := c.sys.hasDefault && (before == theirs || before == r.Affinity)
		undo = func() {
			lease.Unless(func() {
				if byDefault {
					c.sys.setDefault()
				} else {
					c.sys.procs(before)
				}
			})
		}
	}
	return r, undo
}

// apply sets the value, unless an experiment has GOMAXPROCS: by the runtime's own default,
// if that is expected to be the same and is.
func (s system) apply(want int, theirs bool) Action {
	done := Leased
	lease.Unless(func() {
		if s.hasDefault && theirs {
			s.setDefault()
			if done = Automatic; s.procs(0) == want {
				return
			}
		}
		done = Changed
		s.procs(want)
	})
	return done
}

// limits is what the limit files say.
type limits struct {
	cpus    float64 // the tightest; 0: none is known
	file    string
	leaf    float64 // of the program's own cgroup; 0: none is known
	blind   bool    // the runtime ignores the limit of the program's own cgroup
	unknown *unknown
}

// runtimeDefault is what the runtime chooses: the limit of the own cgroup rounded up, at
// least 2, and at most the affinity; or the affinity, if it ignores that limit.
func (l limits) runtimeDefault(affinity int) int {
	if l.leaf <= 0 || l.blind {
		return affinity
	}
	return min(fit.Int(math.Max(2, math.Ceil(l.leaf))), affinity)
}
