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
	g := &d.Goroutines
	noteCount(&st.Goroutines, g.Live)
	noteCount(&st.Runnable, g.ByStatus[goroutineRunnable])
	noteCount(&st.Running, g.ByStatus[goroutineRunning])
	noteCount(&st.InSyscall, g.ByStatus[goroutineSyscall])
	noteCount(&st.Waiting, g.ByStatus[goroutineWaiting])
	noteCount(&st.OffProcThreads, d.Threads.OffProc)
	noteCount(&st.LockedThreads, d.Threads.Locked)
	for _, r := range g.Reasons {
		have := t.reasons[r.Name]
		if have == nil {
			if len(t.reasons) >= maxReasonStats {
				continue
			}
			have = &ReasonStats{Name: r.Name, System: isSystemWait(r.Name)}
			t.reasons[r.Name] = have
		}
		have.Mean += float64(r.Count) // a sum until segment divides it
		have.Max = max(have.Max, r.Count)
	}
}

func (t *tally) detailStats() *DetailStats {
	d := *t.seg.Detail
	d.Reasons = []ReasonStats{}
	for _, l := range []**Level{
		&d.Goroutines, &d.Runnable, &d.Running, &d.InSyscall, &d.OffProcThreads, &d.LockedThreads, &d.Waiting,
	} {
		*l = (*l).clone()
	}
	for _, r := range t.reasons {
		c := *r
		c.Mean /= float64(d.Samples)
		d.Reasons = append(d.Reasons, c)
	}
	sorting.Stable(d.Reasons, func(a, b ReasonStats) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Name, b.Name))
	})
	return &d
}

// names keeps one string for each wait reason, so that counting them allocates
// nothing. The runtime knows fewer than 60.
type names struct{ known map[string]string }

const (
	maxNames   = 256 // in a log
	maxReasons = 64  // in a sample
	maxName    = 64  // bytes
)

func (t *names) count(reasons *[]Reason, name []byte) {
	list := *reasons
	for i := range list {
		if list[i].Name == string(name) {
			list[i].Count++
			return
		}
	}
	kept := t.keep(name)
	if len(list) >= maxReasons-1 {
		kept = otherReason
	}
	if kept == otherReason {
		for i := range list {
			if list[i].Name == otherReason {
				list[i].Count++
				return
			}
		}
	}
	*reasons = append(list, Reason{Name: kept, Count: 1})
}

func (t *names) keep(name []byte) string {
	if s, ok := t.known[string(name)]; ok {
		return s
	}
	if len(t.known) >= maxNames || len(name) > maxName {
		return otherReason
	}
	for _, c := range name {
		if c < ' ' || c > '~' {
			return otherReason // the log may be hostile, and a terminal obeys escapes
		}
	}
	if t.known == nil {
		t.known = make(map[string]string)
	}
	s := string(name)
	t.known[s] = s
	return s
}
