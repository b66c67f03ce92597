package memlimit

import (
	"context"
	"time"
)

// period is the time between two checks. A check takes 0.2 to 0.4 ms.
const period = 10 * time.Second

// Start is what importing package auto calls. It only ever lowers GOMEMLIMIT: a lower
// limit that code has set stays. If it has set a limit, a goroutine follows the memory
// limits every ten seconds, because the value could become wrong after a resize, until
// ctx ends or code sets another value. If the limits are removed, GOMEMLIMIT returns to
// its previous value. Otherwise Start changes nothing and starts no goroutine.
//
// It returns the same errors as Set.
func Start(ctx context.Context, opts ...Option) error {
	f := follower{config: configure(opts)}
	follow, err := f.start()
	if follow {
		go func() {
			ticker := time.NewTicker(period)
			defer ticker.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
					if !f.step() {
						return
					}
				}
			}
		}()
	}
	return err
}

// follower is Start between two looks.
type follower struct {
	config
	before, ours int64
}

// start looks for the first time. There is something to follow if the number is ours
// now.
func (f *follower) start() (follow bool, err error) {
	if err := f.rule.Check(); err != nil {
		return false, err
	}
	f.before = f.sys.limit(-1)
	r, err := f.decide(f.before)
	if r.Action == Changed && r.Bytes > f.before {
		r.Action, r.Bytes = Kept, f.before
	}
	f.take(r)
	f.log(r)
	return r.Action == Changed, err
}

func (f *follower) take(r Result) {
	if r.Action == Changed {
		f.sys.limit(r.Bytes)
	}
	f.ours = r.Bytes
	if f.detail != nil {
		*f.detail = r
	}
}

// step looks again, unless code has set another number since.
func (f *follower) step() (follow bool) {
	if f.sys.limit(-1) != f.ours {
		return false
	}
	r, err := f.decide(f.ours)
	switch {
	case r.Decision.Standing == Unlimited && err == nil && f.ours != f.before,
		r.Action == Changed && r.Bytes > f.before:
		r.Action, r.Bytes = Changed, f.before
	}
	if r.Bytes == f.ours {
		return true
	}
	f.take(r)
	f.log(r)
	return true
}
