package memlimit

import (
	"context"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/watch"
)

// The defaults of Period and Hold. A check takes about 20 µs, and that of every ten
// seconds, which also looks for another cgroup, 0.2 to 0.4 ms.
const (
	DefaultPeriod = 100 * time.Millisecond
	DefaultHold   = 10 * time.Second
)

// survey is the time between two checks that look for the cgroup too.
const survey = 10 * time.Second

// Watch keeps GOMEMLIMIT correct until ctx ends, and then returns its error. It starts no
// goroutine: call it in one of your own. It does not undo its changes. If the environment
// has a valid GOMEMLIMIT at the first check, which Set would keep, it logs that and returns
// nil; if an option is invalid, it returns ErrOption. If code sets the variable later,
// nothing changes, as for the runtime.
//
// It uses a lower value immediately, because the kernel kills a program whose heap grows
// beyond a limit that was lowered. The first check also uses a higher value immediately.
// Later, a higher value must last for the time of Hold, and Watch then uses the lowest
// value seen during that time: a limit that was raised for a moment would otherwise fill
// with garbage that the old limit has no room for. If something could not be read, Watch
// never raises the value, and logs what.
//
// GOMEMLIMIT is never above the limit: if the headroom leaves nothing of a lower limit,
// it is the limit itself. If all limits are removed, GOMEMLIMIT returns to its value
// before Watch. A GOMEMLIMIT that code sets meanwhile is replaced.
func Watch(ctx context.Context, opts ...Option) error {
	w := &watcher{config: configure(opts), now: time.Now}
	if err := w.check(); err != nil {
		return err
	}
	w.before = w.sys.limit(-1)
	return watch.Every(ctx, w.period, w.step)
}

// Start is what importing package auto calls. It only ever lowers GOMEMLIMIT: a lower
// limit that code has set stays. If it has set a limit, a goroutine follows the memory
// limits as Watch does, because the value could become wrong after a resize, until ctx
// ends or code sets another value. Otherwise Start changes nothing and starts no
// goroutine.
//
// It returns the same errors as Set.
func Start(ctx context.Context, opts ...Option) error {
	w := &watcher{config: configure(opts), now: time.Now}
	follow, err := w.start()
	if follow {
		go watch.After(ctx, w.period, w.step)
	}
	return err
}

// watcher is Watch and Start with their clock, and their state between two checks.
type watcher struct {
	config
	now func() time.Time

	facts    facts.Memory
	surveyed time.Time         // when they were last read as a whole; zero: never
	high     watch.Hold[int64] // more has been allowed
	before   int64             // GOMEMLIMIT before the first check
	ours     int64             // GOMEMLIMIT after the last one
	missed   string            // the error of the last one

	yields bool // Start's: it never exceeds before, and ends if code sets another value
}

// start is Start's first check. There is something to follow if it has changed the value.
func (w *watcher) start() (follow bool, err error) {
	if err := w.check(); err != nil {
		return false, err
	}
	w.yields, w.before = true, w.sys.limit(-1)
	w.look()
	r, err := w.decide(w.before, w.before, w.facts)
	if r.Bytes > w.before {
		r.Action, r.Bytes = Kept, w.before
	}
	w.take(r)
	w.detail = nil // it is the caller's, and later checks are in another goroutine
	w.fails(err)
	w.log(r)
	return r.Action == Changed, err
}

// step checks once. done means that the environment decides, or code where Start yields.
func (w *watcher) step() (done bool) {
	now, first := w.sys.limit(-1), w.surveyed.IsZero()
	if w.yields && now != w.ours {
		return true
	}
	if !w.look() && now == w.ours && !w.high.Waits() {
		return false
	}
	r, err := w.decide(w.before, now, w.facts)
	if r.Action == KeptEnv {
		w.take(r)
		w.log(r)
		return true
	}
	r.aim(w.wanted(r, err))
	if r.Bytes <= now {
		w.high.Clear()
	} else if !first && w.hold > 0 {
		if bytes, lasted := w.high.Take(now, r.Bytes, w.hold, w.now()); lasted {
			r.aim(bytes)
		} else {
			r.Action, r.Bytes = Kept, now
		}
	}
	w.take(r)
	if another := w.fails(err); another || r.Action == Changed {
		w.log(r)
	}
	if r.Action == Changed && w.onChange != nil {
		w.onChange(r)
	}
	return false
}

// fails reports whether there is an error, and another than at the last check.
func (w *watcher) fails(err error) bool {
	before := w.missed
	if w.missed = ""; err != nil {
		w.missed = err.Error()
	}
	return w.missed != "" && w.missed != before
}

// look reads the limits, and reports whether they may be others than before.
func (w *watcher) look() (other bool) {
	now := w.now()
	if !w.surveyed.IsZero() && now.Sub(w.surveyed) < survey && !w.sys.changed(w.facts) {
		return false
	}
	m := w.sys.read()
	if !w.surveyed.IsZero() {
		m.Env = w.facts.Env // the runtime does not read the variable again either
	}
	w.facts, w.surveyed = m, now
	return true
}

// wanted is the GOMEMLIMIT to have, after what Set would do: never above the limit, and
// the value of before where there is none any more.
func (w *watcher) wanted(r Result, err error) int64 {
	bytes := r.Bytes
	switch s := r.Decision.Standing; {
	case s == Unlimited && err == nil:
		bytes = w.before
	case s == NoRoom && r.Decision.Limit < bytes:
		bytes = r.Decision.Limit
	}
	if w.yields && bytes > w.before {
		bytes = w.before
	}
	return bytes
}

// aim makes the result one of this GOMEMLIMIT.
func (r *Result) aim(bytes int64) {
	switch r.Bytes = bytes; {
	case bytes != r.Before:
		r.Action = Changed
	case r.Action == Changed:
		r.Action = Kept
	}
}

func (w *watcher) take(r Result) {
	if r.Action == Changed {
		w.sys.limit(r.Bytes)
	}
	w.ours = r.Bytes
	if w.detail != nil {
		*w.detail = r
	}
}
