package core

import (
	"math"
	"runtime"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
	"github.com/procfit/procfit/maxprocs/internal/gort"
)

// endsUpdates: the runtime follows its own group's limit as long as GOMAXPROCS
// is never set (in programs whose main module says go 1.25 or later).
const endsUpdates = gort.HasDefault

// Set makes GOMAXPROCS what fits the program's CPU limits and affinity, and
// returns a function that undoes it.
//
// It leaves a valid GOMAXPROCS in the environment in force. Where the value is
// right already it touches nothing, so that a runtime that keeps it up to date
// (Go 1.25 and later) goes on doing so; any other change ends that, and the
// Logger is told. The undo restores that state where the value before was the
// runtime's default, and else the value.
//
// It returns an error when a limit could not be read or made no sense. Then it
// has lowered GOMAXPROCS if what is known demands it, and not raised it.
func Set(opts ...Option) (undo func(), err error) {
	c := config{sys: live()}
	for _, o := range opts {
		o(&c)
	}
	r, undo := c.set()
	if c.detail != nil {
		*c.detail = r
	}
	if c.printf != nil {
		c.printf("maxprocs: %s", r.String())
	}
	if r.Unknown != "" {
		err = cgfs.Error("maxprocs: not all CPU limits are known: " + r.Unknown)
	}
	return undo, err
}

// system is what Set asks and changes.
type system struct {
	root       string // before every path; "" but in tests
	env        func() (string, bool)
	affinity   func() int
	procs      func(int) int // as runtime.GOMAXPROCS
	setDefault func()
	hasDefault bool
}

func live() system {
	return system{
		env: lookupEnv, affinity: affinity,
		procs: runtime.GOMAXPROCS, setDefault: gort.SetDefault, hasDefault: gort.HasDefault,
	}
}

func (c *config) set() (Result, func()) {
	s := c.sys
	r := Result{Before: s.procs(0), Affinity: s.affinity()}
	r.Procs = r.Before
	nothing := func() {}
	if r.Env, r.EnvSet = s.env(); r.EnvSet && gort.ValidEnv(r.Env) {
		r.Action = KeptEnv
		return r, nothing
	}
	found := findLimits(s.root)
	r.Limit, r.File, r.Unknown = found.cpus, found.file, found.unknown

	cpus := float64(r.Affinity)
	if r.Limit > 0 && r.Limit < cpus {
		cpus = r.Limit
	}
	want := c.procs(cpus)
	switch {
	case want == r.Before:
		r.Action = Kept
		return r, nothing
	case r.Unknown != "" && want > r.Before:
		r.Action = NotRaised
		return r, nothing
	}
	theirs := found.runtimeDefault(r.Affinity)
	undo := func() { s.procs(r.Before) }
	if s.hasDefault && (r.Before == theirs || r.Before == r.Affinity) {
		// It can only have been the default of a runtime that reads limits, or of
		// one that does not, or a value set to the same.
		undo = s.setDefault
	}
	r.Procs, r.Action = want, Changed
	if s.hasDefault && want == theirs {
		s.setDefault()
		if s.procs(0) == want {
			r.Action = Automatic
			return r, undo
		}
	}
	s.procs(want)
	return r, undo
}

// limits is what the files say.
type limits struct {
	cpus    float64 // the tightest; 0: none is known
	file    string
	leaf    float64 // of the program's own group; 0: none is known
	unknown string
}

// runtimeDefault is what Go 1.25 and later choose if the main module's go line
// is as new: the own group's limit rounded up and at least 2, within the
// affinity.
func (l limits) runtimeDefault(affinity int) int {
	if l.leaf <= 0 {
		return affinity
	}
	if n := toInt(math.Max(2, math.Ceil(l.leaf))); n < affinity {
		return n
	}
	return affinity
}
