package exec

import (
	"cmp"
	"slices"
	"time"
)

// IsMain reports that it is the main goroutine, the first that the runtime makes.
func (g Goroutine) IsMain() bool { return g.ID == 1 }

// Tally sums up goroutines that are not distinguished.
type Tally struct {
	Goroutines int64         `json:"goroutines"` // that ran
	Running    time.Duration `json:"running_ns"`
}

// Add counts a goroutine, if it ran.
func (t *Tally) Add(g Goroutine) {
	if g.Spans > 0 {
		t.Goroutines++
		t.Running += g.Running
	}
}

// Longest parts a list: kept are the n that ran longest, the main goroutine always
// among them, and rest are the others, both in the order of the list. Of two that
// ran equally long the one that appeared first is kept.
func Longest(list []Goroutine, n int, ran func(Goroutine) time.Duration) (kept, rest []Goroutine) {
	if len(list) <= n {
		return list, nil
	}
	ranked := make([]int, len(list))
	for i := range ranked {
		ranked[i] = i
	}
	slices.SortFunc(ranked, func(i, j int) int {
		a, b := list[i], list[j]
		switch {
		case a.IsMain() && !b.IsMain():
			return -1
		case b.IsMain() && !a.IsMain():
			return 1
		}
		return cmp.Or(cmp.Compare(ran(b), ran(a)), cmp.Compare(a.order, b.order), cmp.Compare(i, j))
	})
	long := make([]bool, len(list))
	for _, i := range ranked[:n] {
		long[i] = true
	}
	for i, g := range list {
		if long[i] {
			kept = append(kept, g)
		} else {
			rest = append(rest, g)
		}
	}
	return kept, rest
}

// keep puts what is known of a goroutine into the trace, if it may be one of those
// that ran longest. As many again as are kept may wait there for the next choice.
func (b *builder) keep(g *goroutine) {
	if g.Runtime {
		b.trace.Runtime.Add(g.Goroutine)
	}
	if g.Running <= b.least && !g.IsMain() {
		b.drop(g.Goroutine)
		return
	}
	b.trace.Goroutines = append(b.trace.Goroutines, g.Goroutine)
	if len(b.trace.Goroutines) >= 2*b.MaxGoroutines {
		b.choose()
	}
}

// choose drops all but those that ran longest.
func (b *builder) choose() {
	kept, rest := Longest(b.trace.Goroutines, b.MaxGoroutines, func(g Goroutine) time.Duration { return g.Running })
	b.trace.Goroutines = kept
	for _, g := range rest {
		b.least = max(b.least, g.Running)
		b.drop(g)
	}
}

func (b *builder) drop(g Goroutine) {
	if !g.Runtime {
		b.trace.Dropped.Add(g)
	}
}
