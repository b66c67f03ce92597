// Package watch is what following a limit takes, of whatever it is a limit: looks at
// intervals, and patience with a change that can wait.
package watch

import (
	"cmp"
	"context"
	"time"
)

// Every calls step at once and then once a period, until step is done or ctx ends, whose
// error it returns.
func Every(ctx context.Context, period time.Duration, step func() (done bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if done := step(); done {
		return nil
	}
	return After(ctx, period, step)
}

// After is Every, but for the first step, which somebody has done.
func After(ctx context.Context, period time.Duration, step func() (done bool)) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if done := step(); done {
			return nil
		}
	}
}

// Hold is patience with a change. The zero value waits for nothing yet.
type Hold[N int | int64] struct {
	waits bool
	since time.Time
	near  N // of what was wanted meanwhile, that which is nearest to the value in use
}

// Take is whether what is wanted in place of the value in use has lasted, and what to use
// then: the nearest to that value of what was wanted meanwhile. If what is wanted comes to lie
// on the other side of the value in use, which somebody else may change, it starts again.
func (h *Hold[N]) Take(used, wanted N, lasts time.Duration, now time.Time) (N, bool) {
	switch {
	case !h.waits, cmp.Compare(h.near, used) != cmp.Compare(wanted, used):
		h.waits, h.since, h.near = true, now, wanted
	case wanted < used && wanted > h.near, wanted > used && wanted < h.near:
		h.near = wanted
	}
	if now.Sub(h.since) < lasts {
		return used, false
	}
	h.waits = false
	return h.near, true
}

// Waits reports whether a change is waited with.
func (h *Hold[N]) Waits() bool { return h.waits }

// Clear forgets the change: it is not wanted any more, or has been made.
func (h *Hold[N]) Clear() { h.waits = false }
