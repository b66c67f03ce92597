// Package wait waits for a time, for several things at once, and between calls that are repeated.
package wait

import (
	"context"
	"errors"
	"sync"
	"time"
)

// For waits for a time. It returns the error of ctx if that ends before.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// All does n things at the same time, and returns what went wrong when all are done.
func All(n int, do func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Every calls a function again and again, so far apart, until stop is called, which returns when the
// last call has. It may be called again.
func Every(d time.Duration, do func()) (stop func()) {
	end := make(chan struct{})
	var calls sync.WaitGroup
	calls.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				do()
			}
		}
	})
	return sync.OnceFunc(func() {
		close(end)
		calls.Wait()
	})
}
