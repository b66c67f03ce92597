package observe

import (
	"context"
	"os"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/program/rule"
)

// How long Watched looks at a process, and how long it waits for a page fault.
const (
	watchSpan = time.Second
	faultWait = 100 * time.Millisecond
)

// Watched adds to a Subject which programs share its limits, what page faults do to its process
// and, if that was throttled earlier, how it is throttled now, as a second shows it. It returns
// early if its process has no page faults and was never throttled. What is not known is not added.
func Watched(ctx context.Context, s rule.Subject) rule.Subject {
	first, err := procstat.ReadStat(s.PID)
	if err != nil {
		return s
	}
	scanner, err := NewScanner()
	if err != nil {
		return s
	}
	defer scanner.Close()
	scanner.Except = os.Getpid()
	look := func() *Process {
		snap, err := scanner.ScanNamed(ctx, []int{s.PID}, func(string) bool { return false })
		if err != nil || len(snap.Processes) != 1 || snap.Processes[0].Started != first.Started {
			return nil
		}
		return &snap.Processes[0]
	}
	p := look()
	if p == nil {
		return s
	}
	s.Shared, s.Together = p.Shared, p.Together
	throttled := s.Throttling != nil && s.Throttling.ThrottledPeriods > 0
	faults := first.MajorFaults > 0 && wait.For(ctx, faultWait) == nil
	if faults {
		now, err := procstat.ReadStat(s.PID)
		faults = err == nil && now.MajorFaults != first.MajorFaults
	}
	if !throttled && !faults || wait.For(ctx, watchSpan) != nil {
		return s
	}
	if p = look(); p == nil {
		return s
	}
	if faults {
		s.Faults = p.Faults
	}
	if now := p.Recent.Throttling; now != nil && now.ThrottledPeriods > 0 {
		s.Throttling = now
	}
	return s
}
