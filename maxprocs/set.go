package maxprocs

import (
	"math"
	"runtime"

	"github.com/procfit/procfit/maxprocs/internal/fit"
	"github.com/procfit/procfit/maxprocs/internal/gort"
)

// Set makes GOMAXPROCS what fits the program's CPU limits and affinity, and
// returns a function that undoes it. It takes the arguments of the function of
// this name of go.uber.org/automaxprocs/maxprocs.
//
// It leaves a valid GOMAXPROCS in the environment in force. Where the value is
// right already it touches nothing, so that a runtime that keeps it up to date
// (Go 1.25 and later) goes on doing so; any other change ends that, and the
// Logger is told. The undo restores that state where the value before was the
// runtime's default, and else the value.
//
// It returns an error when a limit could not be read or made no sense: see
// ErrMalformed and its like. Then it has lowered GOMAXPROCS if what is known
// demands it, and not raised it.
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
		defer func() { _ = recover() }() // a program is not to end by a line of its log
		c.printf("maxprocs: %s", r)
	}
}

// system is what Set and Watch ask and change.
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
		env:    lookupEnv, affinity: affinity,
		procs: runtime.GOMAXPROCS, setDefault: gort.SetDefault, hasDefault: gort.HasDefault,
	}
}

// sight is what one look sees, and what follows from it.
type sight struct {
	limits
	affinity int
	want     int // what fits
}

func (s sight) same(as sight) bool {
	return s.cpus == as.cpus && s.file == as.file && s.leaf == as.leaf && s.unknown.text() == as.unknown.text() &&
		s.affinity == as.affinity && s.want == as.want
}

// look reads. It is done when the environment says what GOMAXPROCS shall be.
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
	// It followed its own group's limit if its value is what that gives and is not
	// what it would be without.
	r.followed = s.hasDefault && r.Before < r.Affinity && r.Before == seen.runtimeDefault(r.Affinity)
	return r, seen, false
}

func (c *config) set() (Result, func()) {
	s := c.sys
	nothing := func() {}
	r, seen, done := c.look()
	if done {
		return r, nothing
	}
	switch {
	case seen.want == r.Before:
		r.Action = Kept
		return r, nothing
	case r.Unknown != nil && seen.want > r.Before:
		r.Action = NotRaised
		return r, nothing
	}
	theirs := seen.runtimeDefault(r.Affinity)
	undo := func() { s.procs(r.Before) }
	if s.hasDefault && (r.Before == theirs || r.Before == r.Affinity) {
		// It can only have been the default of a runtime that reads limits, or of
		// one that does not, or a value set to the same.
		undo = s.setDefault
	}
	r.Procs, r.Action = seen.want, s.apply(seen.want, theirs == seen.want)
	return r, undo
}

// apply takes the number, by the runtime's own default where that is foretold to
// be the same and is.
func (s system) apply(want int, theirs bool) Action {
	if s.hasDefault && theirs {
		s.setDefault()
		if s.procs(0) == want {
			return Automatic
		}
	}
	s.procs(want)
	return Changed
}

// limits is what the files say.
type limits struct {
	cpus    float64 // the tightest; 0: none is known
	file    string
	leaf    float64 // of the program's own group; 0: none is known
	unknown *unknown
}

// runtimeDefault is what Go 1.25 and later choose if the main module's go line
// is as new: the own group's limit rounded up and at least 2, within the
// affinity.
func (l limits) runtimeDefault(affinity int) int {
	if l.leaf <= 0 {
		return affinity
	}
	if n := fit.Int(math.Max(2, math.Ceil(l.leaf))); n < affinity {
		return n
	}
	return affinity
}
