package maxprocs

import (
	"context"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/fit"
	"github.com/procfit/procfit/maxprocs/internal/watch"
)

// The defaults of Period and Hold. A check takes 0.1 ms, which is 1/100,000 of the
// period.
const (
	DefaultPeriod = 10 * time.Second
	DefaultHold   = 30 * time.Second
)

// Watch keeps GOMAXPROCS correct until ctx ends, and then returns its error. It starts no
// goroutine: call it in one of your own. It does not undo its changes. If the environment
// has a valid GOMAXPROCS at the first check, it logs that and returns nil. If code sets the
// variable later, nothing changes, as for the runtime.
//
// It follows what the runtime misses: limits of parent cgroups, a move to another cgroup
// and, before Go 1.25, any change of a limit. While the runtime's value is correct it
// changes nothing, so that the runtime's own updates continue. If a change has ended
// these updates, Watch restores them as soon as the runtime's default is correct.
//
// It uses a higher value immediately, because CPUs would otherwise be idle. The first
// check also uses a lower value immediately. Later, a lower value must last for the time
// of Hold, and Watch then uses the highest value seen during that time: each change stops
// the world, a limit that a controller moves up and down would otherwise be followed step
// by step, and a GOMAXPROCS that is too high for half a minute costs less than one that
// is too low. If something could not be read, Watch never raises the value, and logs what.
func Watch(ctx context.Context, opts ...Option) error {
	w := watcher{config: configure(opts), now: time.Now}
	return watch.Every(ctx, w.period, w.step)
}

// watcher is Watch with its clock, and its state between two checks.
type watcher struct {
	config
	now func() time.Time

	looked bool            // once at least
	low    watch.Hold[int] // less has been enough
	ours   bool            // we set a value, which ended the runtime's own updates
	last   int             // GOMAXPROCS after the last check
	missed string          // what could not be read then

	// refused is where the runtime's default was not what its rule foretells: it
	// sees its cgroup in another way than we do. It is not asked again before
	// something changes.
	refused sight

	leaves bool // Start's: what the runtime follows itself is left to it, and what others set stays
}

// step checks once. done means that the environment decides.
func (w *watcher) step() (done bool) {
	r, seen, done := w.look()
	switch {
	case done:
		w.log(r)
	case w.replaced(r.Before, seen):
		w.low.Clear()
		return false
	default:
		r = w.take(r, seen)
		if missed := seen.unknown.text(); missed != w.missed {
			if w.missed = missed; missed != "" && r.Action != Changed && r.Action != Automatic { // else take has logged it
				w.log(r)
			}
		}
		w.last = r.Procs
	}
	w.tell(r)
	return done
}

// replaced reports whether something else has set the value, which Start leaves. Where the
// runtime follows its limit again, its default may have become another one by itself.
func (w *watcher) replaced(now int, seen sight) bool {
	return w.leaves && now != w.last && (w.ours || now != seen.runtimeDefault(seen.affinity))
}

func (w *watcher) take(r Result, seen sight) Result {
	first := !w.looked
	if first { // the only look at the variable: the runtime does not read it again either
		env, set := r.Env, r.EnvSet
		w.looked, w.sys.env = true, func() (string, bool) { return env, set }
	}
	r.Action = Kept
	def := seen.runtimeDefault(seen.affinity)
	if w.leaves && w.follows(seen, def) {
		seen.want = def
	}
	theirs := w.sys.hasDefault && !seen.same(w.refused) && def == seen.want
	want := seen.want
	switch {
	case want >= r.Before:
		w.low.Clear()
		if want > r.Before && r.Unknown != nil {
			r.Action = NotRaised
			return r
		}
		if want == r.Before && !(w.ours && theirs) {
			return r
		}
	case first || w.hold <= 0:
	default:
		var lasted bool
		if want, lasted = w.low.Take(r.Before, want, w.hold, w.now()); !lasted {
			return r
		}
		theirs = theirs && want == seen.want
	}
	if r.Action = w.sys.apply(want, theirs); r.Action == Leased {
		return r
	}
	r.Procs = want
	if w.ours = r.Action == Changed; w.ours && theirs {
		w.refused = seen
	}
	if r.Action == Changed && want == r.Before {
		return r // unchanged: there is nothing to report
	}
	w.log(r)
	if w.onChange != nil && !(first && w.leaves) { // of its own change Start's caller knows when it returns
		w.onChange(r)
	}
	return r
}

// Start is what importing package auto calls. It is never worse than the runtime alone.
// It acts only if a limit that the runtime ignores is tighter than the runtime's value,
// or if an option requires another value. It then follows the limits as Watch does, in a
// goroutine that ends with ctx. Otherwise it changes nothing and starts no goroutine.
//
// If something else replaces the value of Start, such as the program, go test -cpu or
// procfit set, Start leaves the new value, and follows the limits again only if its own
// value comes back, as at the end of procfit set --for.
//
// The runtime ignores the limits of parent cgroups. Before Go 1.25, or if the go line of
// the main module is older, it ignores all limits. From Go 1.25 on it follows the limit
// of its own cgroup, but never chooses less than 2. Start therefore leaves a limit of one
// CPU to such a runtime: setting 1 would end its updates, and after a resize to 6 CPUs
// the program would use 1 until the next check of Watch.
//
// Whether the runtime follows its limit shows in the files that it holds open, not in its
// value: on two CPUs, a runtime that ignores a limit of one CPU uses 2, too.
//
// A value that Start has set could become wrong after a resize. So Start keeps following
// the limits in every version of Go in which it has set a value.
//
// It returns the error of the first check, as Set does.
func Start(ctx context.Context, opts ...Option) error {
	w := &watcher{config: configure(opts), now: time.Now}
	r, follow := w.start()
	if follow {
		go watch.After(ctx, w.period, w.step)
	}
	return toTell(r.Unknown)
}

// start is the first check. There is something to follow if it has changed the value.
func (w *watcher) start() (r Result, follow bool) {
	w.leaves = true
	r, seen, done := w.look()
	def := seen.runtimeDefault(seen.affinity)
	switch {
	case done:
	case r.Before == seen.want:
		r.Action = Kept
	case !w.demands(seen, r.Before) || r.Before == def && w.follows(seen, def):
		r.Action = Left
	default:
		if r = w.take(r, seen); r.Procs != r.Before {
			w.tell(r)
			// It is the caller's, and later checks are in another goroutine.
			w.last, w.missed, w.detail = r.Procs, seen.unknown.text(), nil
			return r, r.Action == Changed // take has logged it
		}
	}
	w.tell(r)
	w.log(r)
	return r, false
}

// demands reports whether a limit or an option demands another number.
func (w *watcher) demands(seen sight, now int) bool {
	if w.rule != (fit.Rule{}) || w.round != nil {
		return true
	}
	return seen.want < now && seen.cpus > 0 && seen.cpus < float64(seen.affinity)
}

// follows reports whether the runtime, whose own value is def, follows the limit that
// less than that would fit, and that it is the limit alone, and no option, which
// demands less: the runtime does not go below 2, which Max may forbid.
func (w *watcher) follows(seen sight, def int) bool {
	own := seen.leaf > 0 && seen.leaf == seen.cpus
	return !seen.blind && own && seen.want < def && seen.want == fit.Rule{}.Procs(seen.cpus, true) && w.rule.Clamp(def, true) == def
}
