package sched

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
)

// userWaits are the wait reasons of the program's own goroutines, and how many
// wait so on average.
func userWaits(st *Stats) (reasons []ReasonStats, sum float64) {
	if st.Detail == nil || st.Detail.Samples < minSamples {
		return nil, 0
	}
	for _, r := range st.Detail.Reasons {
		if !r.System {
			reasons = append(reasons, r)
			sum += r.Mean
		}
	}
	return reasons, sum
}

// locks: a quarter of the waiting goroutines, and four at least, wait for a lock
// of package sync.
func locks(st *Stats) *Reading {
	reasons, sum := userWaits(st)
	var held float64
	for _, r := range reasons {
		if isLockWait(r.Name) {
			held += r.Mean
		}
	}
	if held < 4 || held < sum/4 {
		return nil
	}
	return &Reading{ID: "lock-waits", Severity: Warning,
		Text:   fmt.Sprintf("%s of %s waiting goroutines wait for a sync.Mutex or sync.RWMutex, over %d samples", number.Amount(held), number.Amount(sum), st.Detail.Samples),
		Advice: "a lock lets one at a time go on: more Ps do not shorten that line, and may lengthen it. Take a mutex profile",
	}
}

// waits: what most of the waiting goroutines wait for, where four at least do.
func waits(st *Stats) *Reading {
	reasons, sum := userWaits(st)
	if len(reasons) == 0 || reasons[0].Mean < 4 || reasons[0].Mean < sum/2 || isLockWait(reasons[0].Name) {
		return nil
	}
	return &Reading{ID: "waits", Severity: Info,
		Text: fmt.Sprintf("%s of %s waiting goroutines wait in %q, over %d samples", number.Amount(reasons[0].Mean), number.Amount(sum), reasons[0].Name, st.Detail.Samples)}
}
