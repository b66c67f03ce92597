package observe

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/maxprocs/facts"
)

// Limit is a cgroup with a CPU limit and how that has held its processes back.
type Limit struct {
	Dir              string // the group's
	CPUs             float64
	facts.Throttling       // since the group was made
	Err              error // why the throttling cannot be read, which is then 0
}

// Limits reads the limits around a process, whoever set them, from its own cgroup
// upwards to the topmost that can be seen from here. The error is ErrNoProcess,
// or says what could not be read, so that more limits may hold than are returned.
func Limits(pid int) ([]Limit, error) {
	f, err := new(facts.Reader).ReadPID(pid)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return limitsOf(f)
}

func limitsOf(f facts.Facts) ([]Limit, error) {
	unread := func(one facts.Fact) bool { return one.State == facts.Unreadable || one.State == facts.Malformed }
	var err error
	if unread(f.Cgroup.Fact) {
		err = fmt.Errorf("process %d: the CPU limits around it are not known: %s", f.PID, f.Cgroup.Error)
	}
	var all []Limit
	for _, l := range f.Limits {
		switch {
		case l.State == facts.Known:
			one := Limit{Dir: l.Dir, CPUs: l.CPUs}
			one.Throttling, one.Err = l.Throttling()
			all = append(all, one)
		case unread(l.Fact) && err == nil:
			err = fmt.Errorf("process %d: the CPU limit of %s is not known: %s", f.PID, l.Dir, l.Error)
		}
	}
	return all, err
}

// Reread reads the throttling of the same groups again, which takes a tenth of the
// time that Limits does and is fit for the beginning and the end of a phase.
func Reread(limits []Limit) []Limit {
	now := slices.Clone(limits)
	for i := range now {
		now[i].Throttling, now[i].Err = facts.ReadThrottling(now[i].Dir)
	}
	return now
}

// Since is how the cgroup was throttled since an earlier reading of the same group;
// false when it is another, was made again, or one of both was not readable.
func (l Limit) Since(before Limit) (facts.Throttling, bool) {
	if l.Err != nil || before.Err != nil || l.Dir != before.Dir {
		return facts.Throttling{}, false
	}
	return throttledSince(l.Throttling, before.Throttling)
}

func throttledSince(now, before facts.Throttling) (facts.Throttling, bool) {
	span := facts.Throttling{
		Periods:          now.Periods - before.Periods,
		ThrottledPeriods: now.ThrottledPeriods - before.ThrottledPeriods,
		Throttled:        now.Throttled - before.Throttled,
	}
	return span, min(span.Periods, span.ThrottledPeriods, int64(span.Throttled)) >= 0
}
