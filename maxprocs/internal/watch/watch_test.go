package watch

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestHold(t *testing.T) {
	type look struct{ wanted, use int64 } // ten seconds apart; 0: it waits
	for name, tc := range map[string]struct {
		used  int64
		lasts time.Duration
		looks []look
	}{
		"down, to the most":        {8, 30 * time.Second, []look{{2, 0}, {4, 0}, {3, 0}, {1, 4}}},
		"up, to the least":         {1, 30 * time.Second, []look{{4, 0}, {2, 0}, {3, 0}, {8, 2}}},
		"and again from the start": {8, 10 * time.Second, []look{{2, 0}, {3, 3}, {1, 0}, {1, 1}}},
		"not at all":               {8, 0, []look{{2, 2}, {3, 3}}},
	} {
		var h Hold[int64]
		now := time.Unix(0, 0)
		for i, l := range tc.looks {
			use, over := h.Take(tc.used, l.wanted, tc.lasts, now)
			if over != (l.use != 0) || over && use != l.use || over == h.Waits() {
				t.Errorf("%s, look %d: %d, %t, waits %t; want %d", name, i, use, over, h.Waits(), l.use)
			}
			now = now.Add(10 * time.Second)
		}
	}
	var h Hold[int]
	h.Take(8, 2, time.Second, time.Unix(0, 0))
	h.Clear()
	if _, over := h.Take(8, 2, time.Second, time.Unix(9, 0)); over {
		t.Error("what was cleared went on")
	}
	// A runtime that follows a limit of its own lowers the value below what was wanted.
	h.Clear()
	h.Take(16, 12, 30*time.Second, time.Unix(0, 0))
	if use, over := h.Take(8, 6, 30*time.Second, time.Unix(30, 0)); over {
		t.Errorf("8 becomes %d, where 6 is wanted", use)
	}
	if use, over := h.Take(8, 6, 30*time.Second, time.Unix(60, 0)); !over || use != 6 {
		t.Errorf("after that: %d, %t", use, over)
	}
}

func TestSteps(t *testing.T) {
	steps := 0
	if err := Every(context.Background(), time.Millisecond, func() bool { steps++; return steps == 3 }); err != nil || steps != 3 {
		t.Errorf("%d steps, %v; want one at once and one a tick", steps, err)
	}
	if err := Every(context.Background(), time.Hour, func() bool { return true }); err != nil {
		t.Errorf("Every, done at once: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := Every(ctx, time.Hour, func() bool { cancel(); return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("Every: %v", err)
	}
	if err := After(ctx, time.Hour, func() bool { t.Error("a step after the end"); return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("After: %v", err)
	}
	first := true
	if err := After(context.Background(), time.Millisecond, func() bool { first = !first; return first }); err != nil {
		t.Errorf("After: %v", err)
	}
}
