package maxprocs

import (
	"context"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/fit"
)

// Start is what importing package auto calls. It is never worse than the runtime alone.
// It acts only if a limit that the runtime ignores is tighter than the runtime's value,
// or if an option requires another value. It then follows the limits as Watch does, in a
// goroutine that ends with ctx. Otherwise it changes nothing and starts no goroutine.
//
// The runtime ignores the limits of parent cgroups. Before Go 1.25, or if the go line of
// the main module is older, it ignores all limits. From Go 1.25 on it follows the limit
// of its own cgroup, but never chooses less than 2. Start therefore leaves a limit of one
// CPU to such a runtime: setting 1 would end its updates, and after a resize to 6 CPUs
// the program would use 1 until the next check of Watch.
//
// A value that Start has set could become wrong after a resize. So Start keeps following
// the limits in every version of Go in which it has set a value.
//
// It returns the error of the first check, as Set does.
func Start(ctx context.Context, opts ...Option) error {
	w := &watcher{config: configure(opts), now: time.Now}
	r, follow := w.start()
	if follow {
		go func() {
			ticker := time.NewTicker(w.period)
			defer ticker.Stop()
			if wait(ctx, ticker.C) == nil {
				w.run(ctx, ticker.C)
			}
		}()
	}
	return toTell(r.Unknown)
}

// start is the first check. There is something to follow if it has changed the value.
func (w *watcher) start() (r Result, follow bool) {
	w.leaves, w.blind = true, !w.sys.hasDefault
	r, seen, done := w.look()
	def := w.foretold(seen)
	switch {
	case done:
	case r.Before == seen.want:
		r.Action = Kept
	case !w.demands(seen, r.Before) || r.Before == def && w.follows(seen, def):
		r.Action = Left
	default:
		if seen.want < r.Before {
			w.probe(r.Before, def)
		}
		if r = w.take(r, seen); r.Procs != r.Before {
			w.tell(r)
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

// probe finds out whether the runtime ignores limits or code has set a value: by
// comparing the runtime's own default with the expected one.
func (w *watcher) probe(now, def int) {
	if w.sys.hasDefault && now > def {
		w.sys.setDefault()
		w.blind = w.sys.procs(0) != def
	}
}

// foretold is the expected default of the runtime.
func (w *watcher) foretold(seen sight) int {
	if w.leaves && w.blind {
		return seen.affinity
	}
	return seen.runtimeDefault(seen.affinity)
}

// follows reports whether the runtime, whose own value is def, follows the limit that
// less than that would fit, and that it is the limit alone, and no option, which
// demands less: the runtime does not go below 2.
func (w *watcher) follows(seen sight, def int) bool {
	own := seen.leaf > 0 && seen.leaf == seen.cpus
	return !w.blind && own && seen.want < def && seen.want == fit.Rule{}.Procs(seen.cpus, true)
}
