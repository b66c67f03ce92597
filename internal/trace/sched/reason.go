package sched

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
)

// maxReasonStats bounds the wait reasons of a log; a scanner's bound is lower.
const maxReasonStats = 2 * maxNames

// isSystemWait reports that only the runtime's own goroutines wait so.
func isSystemWait(reason string) bool {
	return slices.Contains([]string{
		"force gc (idle)", "GC sweep wait", "GC scavenge wait", "GC worker (idle)", "GC worker (active)",
		"finalizer wait", "cleanup wait", "GOMAXPROCS updater (idle)", "trace reader (blocked)",
		"timer goroutine (idle)", // until Go 1.13
		"Concurrent GC wait",     // Go 1.5
		"mark wait (idle)",       // Go 1.5
	}, reason)
}

// isLockWait reports that the wait is for a lock of package sync. Until Go 1.19 all
// of these are "semacquire", which a sync.WaitGroup is too.
func isLockWait(reason string) bool {
	return slices.Contains([]string{"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}, reason)
}

func (t *tally) detail(d *Detail) {
	if t.seg.Detail == nil {
		t.seg.Detail = &DetailStats{}
		t.reasons = make(map[string]*ReasonStats)
	}
	st := t.seg.Detail
	st.Samples++
	st.LinesBroken += int64(d.LinesBroken)
	noteCount(&st.Goroutines, d.Goroutines)
	noteCount(&st.Runnable, d.ByStatus[goroutineRunnable])
	noteCount(&st.Running, d.ByStatus[goroutineRunning])
	noteCount(&st.InSyscall, d.ByStatus[goroutineSyscall])
	noteCount(&st.Waiting, d.ByStatus[goroutineWaiting])
	noteCount(&st.OffProcThreads, d.OffProc)
	for _, r := range d.Reasons {
		have := t.reasons[r.Name]
		if have == nil {
			if len(t.reasons) >= maxReasonStats {
				continue
			}
			have = &ReasonStats{Name: r.Name, System: isSystemWait(r.Name)}
			t.reasons[r.Name] = have
		}
		have.Mean += float64(r.Count) // a sum until endDetail divides it
		have.Max = max(have.Max, r.Count)
	}
}

// endDetail makes means of what detail has summed up.
func (t *tally) endDetail() {
	d := t.seg.Detail
	d.Reasons = []ReasonStats{}
	for _, r := range t.reasons {
		r.Mean /= float64(d.Samples)
		d.Reasons = append(d.Reasons, *r)
	}
	sorting.Stable(d.Reasons, func(a, b ReasonStats) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Name, b.Name))
	})
}

// names keeps one string for each wait reason, so that counting them allocates
// nothing. The runtime knows fewer than 60.
type names map[string]string

const (
	maxNames   = 256 // in a log
	maxReasons = 64  // in a sample
	maxName    = 64  // bytes
)

func (t names) count(reasons *[]Reason, name []byte) {
	kept := t.keep(name)
	same := func(r Reason) bool { return r.Name == kept }
	at := slices.IndexFunc(*reasons, same)
	if at < 0 && len(*reasons) >= maxReasons-1 {
		kept = otherReason
		at = slices.IndexFunc(*reasons, same)
	}
	if at < 0 {
		*reasons = append(*reasons, Reason{Name: kept, Count: 1})
		return
	}
	(*reasons)[at].Count++
}

func (t names) keep(name []byte) string {
	if s, ok := t[string(name)]; ok {
		return s
	}
	if len(t) >= maxNames || len(name) > maxName {
		return otherReason
	}
	for _, c := range name {
		if c < ' ' || c > '~' {
			return otherReason // the log may be hostile, and a terminal obeys escapes
		}
	}
	s := string(name)
	t[s] = s
	return s
}
