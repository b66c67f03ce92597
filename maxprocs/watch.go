package maxprocs

import (
	"context"
	"time"
)

// The defaults of Period and Hold. A look costs 0.1 ms, one in 100,000 of the
// period.
const (
	DefaultPeriod = 10 * time.Second
	DefaultHold   = 30 * time.Second
)

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
// A lower one is taken at once by the first look. Later it must hold, and then
// the highest seen meanwhile is taken: each change stops the world, a limit that
// a controller moves up and down would otherwise be followed step by step, and
// too many Ps for half a minute cost less than too few. Where something could
// not be read, nothing is raised.
func Watch(ctx context.Context, opts ...Option) error {
	c := configure(opts)
	ticker := time.NewTicker(c.period)
	defer ticker.Stop()
	w := watcher{config: c, now: time.Now}
	return w.run(ctx, ticker.C)
}

// watcher is Watch with its clock, and what it keeps between two looks.
type watcher struct {
	config
	now func() time.Time

	looked bool // once at least
	low    bool // less has been enough: since when, and the most that was needed meanwhile
	since  time.Time
	most   int
	ours   bool // a number of ours ended the runtime's own updates

	// refused is where the runtime's default was not what its rule foretells: it
	// sees its group in another way than we do. It is not asked again before
	// something changes.
	refused sight

	leaves bool // Start's: what the runtime follows itself is left to it
	blind  bool // the runtime is known to follow no limit
}

func (w *watcher) run(ctx context.Context, ticks <-chan time.Time) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done := w.step(); done {
			return nil
		}
		if err := wait(ctx, ticks); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, ticks <-chan time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-ticks:
		return nil
	}
}

// step looks once. It is done when the environment decides.
func (w *watcher) step() (done bool) {
	r, seen, done := w.look()
	if done {
		w.tell(r)
		return true
	}
	w.tell(w.take(r, seen))
	return false
}

// take does what follows from a look.
func (w *watcher) take(r Result, seen sight) Result {
	first := !w.looked
	w.looked = true
	r.Action = Kept
	def := w.foretold(seen)
	if w.leaves && w.follows(seen, def) {
		seen.want = def
	}
	theirs := w.sys.hasDefault && !seen.same(w.refused) && def == seen.want
	want := seen.want
	switch {
	case want >= r.Before:
		w.low = false
		if want > r.Before && r.Unknown != nil {
			r.Action = NotRaised
			return r
		}
		if want == r.Before && !(w.ours && theirs) {
			return r
		}
	case first || w.hold <= 0:
	default:
		if want = w.held(want); want == 0 {
			return r
		}
		theirs = theirs && want == seen.want
	}
	r.Procs, r.Action = want, w.sys.apply(want, theirs)
	if w.ours = r.Action == Changed; w.ours && theirs {
		w.refused, w.blind = seen, true
	}
	if r.Action == Changed && want == r.Before {
		return r // as it was: there is nothing to tell
	}
	w.changed(r)
	return r
}

// held is the lower number to take now, or 0 as long as it must still hold.
func (w *watcher) held(want int) int {
	if !w.low {
		w.low, w.since, w.most = true, w.now(), want
		return 0
	}
	if want > w.most {
		w.most = want
	}
	if w.now().Sub(w.since) < w.hold {
		return 0
	}
	w.low = false
	return w.most
}

func (w *watcher) changed(r Result) {
	w.log(r)
	if w.onChange != nil {
		w.onChange(r)
	}
}
