package maxprocs

import (
	"context"
	"runtime"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/gort"
)

// The defaults of WatchOptions. A look costs 0.1 to 0.3 ms, one in 30,000 of
// the period.
const (
	DefaultPeriod = 10 * time.Second
	DefaultHold   = 30 * time.Second
)

// WatchOptions are the settings of Watch. The zero value is the default.
type WatchOptions struct {
	Fit    Fit
	Period time.Duration // between two looks; 0 is DefaultPeriod

	// Hold is how long a lower number must last before it is taken; 0 is
	// DefaultHold, below 0 it is taken at once.
	Hold time.Duration

	// OnChange is called, by the goroutine that called Watch, after each change.
	OnChange func(Change)
}

// Change is one change that Watch made, or that it gave back to the runtime.
type Change struct {
	Before, Procs int
	Automatic     bool // the runtime's default is right again, and it goes on by itself
	Decision      Decision
}

// Watch keeps GOMAXPROCS fitting until ctx ends, and then returns its error. It
// starts no goroutine: call it in one of yours. It does not undo what it did.
// Where the environment has a valid GOMAXPROCS it returns nil at once.
//
// It follows what the runtime misses: limits of ancestors, a move to another
// group, and before Go 1.25 any change of a limit. While the runtime's value is
// right it touches nothing, so that the runtime's own updates go on; once they
// have been ended, they are restored as soon as the runtime's default is right.
//
// A higher number is taken at once, since CPUs that may be used would lie idle.
// A lower one is taken at once by the first look. Later it must hold, and then the highest seen meanwhile is taken: each
// change stops the world, a limit that a controller moves up and down would
// otherwise be followed step by step, and too many Ps for half a minute cost
// less than too few. Where something could not be read, nothing is raised.
func Watch(ctx context.Context, o WatchOptions) error {
	if o.Period <= 0 {
		o.Period = DefaultPeriod
	}
	ticker := time.NewTicker(o.Period)
	defer ticker.Stop()
	return watcher{
		WatchOptions: o, ticks: ticker.C, now: time.Now, read: Read,
		procs: runtime.GOMAXPROCS, setDefault: gort.SetDefault, hasDefault: gort.HasDefault,
	}.run(ctx)
}

// watcher is Watch with all that it asks and changes.
type watcher struct {
	WatchOptions
	ticks      <-chan time.Time
	now        func() time.Time
	read       func() Facts
	procs      func(int) int // as runtime.GOMAXPROCS
	setDefault func()
	hasDefault bool
}

func (w watcher) run(ctx context.Context) error {
	if w.Hold == 0 {
		w.Hold = DefaultHold
	}
	var state watchState
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := w.read()
		if f.Env.State == Known && gort.ValidEnv(f.Env.Raw) {
			return nil
		}
		w.step(f, &state, first)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.ticks:
		}
	}
}

// watchState is what a watcher keeps between two looks.
type watchState struct {
	low   bool // less has been enough: since when, and the most that was needed meanwhile
	since time.Time
	most  int
	ours  bool // a number of ours ended the runtime's own updates
}

// step looks once. The first time a lower number is taken at once.
func (w watcher) step(f Facts, s *watchState, first bool) {
	d := Decide(f, w.Fit)
	before, want := w.procs(0), d.Procs
	theirs := w.hasDefault && Decide(f, Go{}).Procs == want
	switch {
	case want >= before:
		s.low = false
		if want > before && len(d.Unknown) > 0 {
			return
		}
		if want == before && !(s.ours && theirs) {
			return
		}
	case first || w.Hold < 0:
	case !s.low:
		s.low, s.since, s.most = true, w.now(), want
		return
	default:
		if want > s.most {
			s.most = want
		}
		if w.now().Sub(s.since) < w.Hold {
			return
		}
		theirs = theirs && want == s.most
		want, s.low = s.most, false
	}
	c := Change{Before: before, Procs: want, Decision: d}
	if theirs {
		w.setDefault()
		c.Automatic = w.procs(0) == want
	}
	if !c.Automatic {
		w.procs(want)
	}
	s.ours = !c.Automatic
	if w.OnChange != nil {
		w.OnChange(c)
	}
}
