package trial

import (
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const (
	engineLimit = 0.90 // of a CPU in the busiest engine thread
	machineFull = 0.95 // of all CPU time
	loadShare   = 0.05 // of all CPU time: below it the load disturbs little
)

// warnOfLimits warns of what, besides the program, was the limit. loadHere says that the
// load ran on the target's machine.
func warnOfLimits(t *journal.Trial, loadHere bool) {
	l := t.Load
	if l != nil && l.ThreadBusiestRatio != nil && *l.ThreadBusiestRatio >= engineLimit {
		warn(t, journal.Warning{Code: journal.WarnLoadLimited, Value: l.ThreadBusiestRatio})
	}
	if l != nil && t.HostUse != nil && loadHere && t.HostUse.BusyRatio >= machineFull && t.MeasuredSeconds > 0 {
		if cpus := l.CPUSeconds / t.MeasuredSeconds; cpus >= loadShare {
			warn(t, journal.Warning{Code: journal.WarnLoadTook, Value: &cpus})
		}
	}
	if t.Saturated {
		warn(t, journal.Warning{Code: journal.WarnSaturated, Value: carriedShare(t)})
	}
	if contest.Late(t) {
		warn(t, journal.Warning{Code: journal.WarnSentLate, Value: new(*l.SendLagP99Seconds)})
	}
}

// carriedShare is the share of the rate that the open loop achieved.
func carriedShare(t *journal.Trial) *float64 {
	for _, p := range t.Phases {
		if p.Mode == journal.ModeOpen && p.RatePerSecond != nil && *p.RatePerSecond > 0 {
			return new(p.AchievedPerSecond / *p.RatePerSecond)
		}
	}
	return nil
}
