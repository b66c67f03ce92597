package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := For(ctx, 900*time.Millisecond); err != nil {
			t.Error(err)
		}
		if err := For(ctx, time.Minute); err != context.DeadlineExceeded || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		first, third := errors.New("first"), errors.New("third")
		err := All(3, func(i int) error {
			time.Sleep(time.Second)
			return []error{first, nil, third}[i]
		})
		if !errors.Is(err, first) || !errors.Is(err, third) || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		calls := 0
		stop := Every(time.Second, func() {
			time.Sleep(time.Millisecond)
			calls++
		})
		time.Sleep(3500 * time.Millisecond)
		stop()
		stop()
		if time.Sleep(time.Minute); calls != 3 {
			t.Errorf("%d calls", calls)
		}
	})
}
