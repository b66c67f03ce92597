package trial

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// addUsage adds the counters of another run. The machine's are of all runs so far in each.
func addUsage(sum *journal.Usage, u journal.Usage) {
	first := sum.MeasuredSeconds == 0
	sum.HostUse = u.HostUse
	sum.MeasuredSeconds += u.MeasuredSeconds
	AddCounts(first, sum, u)
	addKnown(first, &sum.BesideCPUSeconds, u.BesideCPUSeconds, addSeconds)
	if u.ThreadsMax != nil && (sum.ThreadsMax == nil || *sum.ThreadsMax < *u.ThreadsMax) {
		sum.ThreadsMax = u.ThreadsMax
	}
	if m := u.Memory; m != nil {
		peak := &Of(&sum.Memory).PeakRSSBytes
		*peak = max(*peak, m.PeakRSSBytes)
	}
	if u.GC != nil {
		all := Of(&sum.GC)
		heap := max(all.HeapBytes, u.GC.HeapBytes) // one run after the other
		all.Add(*u.GC)
		all.HeapBytes = heap
	}
	if u.Cgroup != nil {
		Of(&sum.Cgroup).Add(*u.Cgroup)
	}
	for _, l := range u.OuterLimits {
		i := slices.IndexFunc(sum.OuterLimits, func(have journal.OuterLimit) bool { return have.Group == l.Group && have.CPUs == l.CPUs })
		if i < 0 {
			sum.OuterLimits = append(sum.OuterLimits, l)
			continue
		}
		sum.OuterLimits[i].Cgroup.Add(l.Cgroup)
	}
}

// AddCounts adds what the kernel counted of other processes; first: there were none before.
func AddCounts(first bool, sum *journal.Usage, u journal.Usage) {
	addKnown(first, &sum.CPUSeconds, u.CPUSeconds, func(sum *journal.CPUSeconds, u journal.CPUSeconds) {
		sum.User, sum.System = sum.User+u.User, sum.System+u.System
	})
	addKnown(first, &sum.ContextSwitches, u.ContextSwitches, func(sum *journal.ContextSwitches, u journal.ContextSwitches) {
		sum.Voluntary, sum.Involuntary = sum.Voluntary+u.Voluntary, sum.Involuntary+u.Involuntary
	})
	addKnown(first, &sum.PageFaults, u.PageFaults, (*journal.PageFaults).Add)
	addKnown(first, &sum.RunQueueWaitSeconds, u.RunQueueWaitSeconds, addSeconds)
}

func addSeconds(sum *float64, more float64) { *sum += more }

// addKnown adds one part to a sum, which is not known where that of one part is not.
func addKnown[T any](first bool, sum **T, one *T, add func(sum *T, one T)) {
	switch {
	case one == nil:
		*sum = nil
	case first:
		*sum = new(*one)
	case *sum != nil:
		add(*sum, *one)
	}
}

// SumAll adds up what is known of each; nil where that of one is not.
func SumAll[T any](list []*T, add func(sum *T, one T)) *T {
	if len(list) == 0 || slices.Contains(list, nil) {
		return nil
	}
	sum := new(T)
	for _, one := range list {
		add(sum, *one)
	}
	return sum
}

// Of is what a pointer leads to. One that leads nowhere gets a zero value.
func Of[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// Count writes into a Usage what the kernel counted of the target's processes.
func Count(u *journal.Usage, use observe.Use) {
	if use.Processes == 0 {
		return
	}
	u.CPUSeconds = &journal.CPUSeconds{User: use.User.Seconds(), System: use.System.Seconds()}
	u.ThreadsMax = &use.ThreadsMax
	u.PageFaults = &journal.PageFaults{Major: use.MajorFaults}
	if _, known := use.Faults.Ps(); known {
		u.PageFaults.HeldSeconds = new(use.Faults.Held.Seconds())
	}
	if use.Uncounted == 0 { // else those of the others would be less than the target's
		u.ContextSwitches = &journal.ContextSwitches{Voluntary: use.Voluntary, Involuntary: use.Involuntary}
		u.RunQueueWaitSeconds = new(use.RunQueueWait.Seconds())
	}
}

// Throttled is the accounting of a group over a stretch of a trial.
func Throttled(span facts.Throttling) journal.Cgroup {
	return journal.Cgroup{
		Periods: span.Periods, ThrottledPeriods: span.ThrottledPeriods, ThrottledSeconds: span.Throttled.Seconds(),
		Bursts: span.Bursts, BurstSeconds: span.Burst.Seconds(),
	}
}

// LimitsSince is what CPU limits did between two readings, each by the name of its group.
func LimitsSince(before, now []observe.Limit, name func(dir string) string) (list []journal.OuterLimit) {
	for i, l := range now {
		if span, ok := l.Since(before[i]); ok {
			list = append(list, journal.OuterLimit{Group: name(l.Dir), CPUs: l.CPUs, BurstCPUs: l.Burst, Cgroup: Throttled(span)})
		}
	}
	return list
}

// MemoryOf is the memory of a server's processes.
func MemoryOf(pids []int) *journal.Memory {
	m, ok := observe.MemoryOf(pids)
	if !ok {
		return nil
	}
	return &journal.Memory{RSSBytes: &m.Resident, PeakRSSBytes: m.Peak}
}

// GCOf is what a garbage collector did in a time.
func GCOf(s observe.GC, over time.Duration) journal.GC {
	g := journal.GC{Cycles: s.Cycles, PauseSeconds: s.Pause.Seconds(), HeapBytes: s.Heap, SpanSeconds: over.Seconds()}
	if s.CPU != nil {
		g.CPUSeconds, g.BusySeconds = new(s.CPU.Collecting.Seconds()), new(s.CPU.Busy.Seconds())
	}
	return g
}

// Collected is what a program's garbage collector has done since began, before which it had done that; nil: it is not known.
func Collected(reader *observe.Reader, pid int, before *observe.GC, began time.Time) *journal.GC {
	now, err := reader.GC(pid)
	if err != nil {
		return nil
	}
	since, ok := now.Since(before, began)
	if !ok {
		return nil
	}
	return new(GCOf(since, time.Since(began)))
}

// NoProgram is the Reading where no Go program was found among the target's processes:
// each can be read and none is Go, or one cannot be read, since it has ended say.
func NoProgram(reader *observe.Reader, pids []int) Reading {
	var gone, unread error
	for _, pid := range pids {
		switch _, err := reader.Program(pid); {
		case err == nil: // it has become one in this moment, or has ended
			unread = cmp.Or(unread, errors.New("the program has ended"))
		case errors.Is(err, observe.ErrGone):
			gone = err
		case !errors.Is(err, observe.ErrNotGo):
			unread = cmp.Or(unread, err)
		}
	}
	if err := cmp.Or(unread, gone); err != nil {
		return Reading{Ended: unread == nil, Err: fmt.Errorf("procfit cannot read any Go program among the target's processes: %w", err)}
	}
	return Reading{NoGo: len(pids) > 0, Err: errors.New("none of the target's processes is a Go program")}
}

// Names are the names of processes, each once.
func Names(pids []int) (list []string) {
	for _, pid := range pids {
		if found, err := observe.Stand(pid); err == nil && !slices.Contains(list, found.Name) {
			list = append(list, found.Name)
		}
	}
	return list
}
