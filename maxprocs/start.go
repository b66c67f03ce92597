package maxprocs

import (
	"context"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/fit"
)

// Start is what the import of package auto calls: it is never worse than the
// runtime alone. It acts only where a limit that the runtime ignores is tighter
// than the runtime's value, or where an option demands another one, and then
// follows what it sees as Watch does, in a goroutine that ends with ctx. Else it
// changes nothing and starts no goroutine.
//
// The runtime ignores the limits of ancestors, and before Go 1.25, or in a program
// whose main module says so, all limits. It reads its own group's from Go 1.25 on,
// follows that and never goes below 2: there a limit of one CPU is left to it. A
// number of ours, 1, would end its updates, and after a resize to 6 CPUs the
// program would run with 1, or until the next look of Watch.
//
// A number that Start has set would be as wrong after a resize if nobody followed
// it. So it follows in every version of Go where it has set one.
//
// It returns the error of the first look, as Set does.
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

// start looks for the first time. There is something to follow if the number is
// ours now.
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

// demands tells that a limit or an option demands another number.
func (w *watcher) demands(seen sight, now int) bool {
	if w.rule != (fit.Rule{}) || w.round != nil {
		return true
	}
	return seen.want < now && seen.cpus > 0 && seen.cpus < float64(seen.affinity)
}

// probe learns whether the runtime reads no limit or has been given a number: its
// own default is then what is foretold, or is not.
func (w *watcher) probe(now, def int) {
	if w.sys.hasDefault && now > def {
		w.sys.setDefault()
		w.blind = w.sys.procs(0) != def
	}
}

// foretold is the runtime's own value.
func (w *watcher) foretold(seen sight) int {
	if w.leaves && w.blind {
		return seen.affinity
	}
	return seen.runtimeDefault(seen.affinity)
}

// follows tells that the runtime, whose own value is def, follows the limit that
// less than that would fit, and that it is the limit alone, and no option, which
// demands less: the runtime does not go below 2.
func (w *watcher) follows(seen sight, def int) bool {
	own := seen.leaf > 0 && seen.leaf == seen.cpus
	return !w.blind && own && seen.want < def && seen.want == fit.Rule{}.Procs(seen.cpus, true)
}
