package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// usageOf is what the kernel counted over one stretch of a trial; nil where nothing
// was.
type usageOf func(*journal.Trial) *journal.Usage

// ofTrial is that of the closed loop, or of a batch program's runs.
func ofTrial(t *journal.Trial) *journal.Usage { return &t.Usage }

// ofOpenLoop is that of the open loop; a journal of the first version has none.
func ofOpenLoop(t *journal.Trial) *journal.Usage {
	for i := range t.Phases {
		if p := &t.Phases[i]; p.Mode == journal.ModeOpen {
			return p.Usage
		}
	}
	return nil
}

// counted reads one number off a Usage; nil where it has none.
type counted func(*journal.Usage) *float64

func (of usageOf) figure(f counted) figure {
	return func(t *journal.Trial) *float64 {
		if u := of(t); u != nil {
			return f(u)
		}
		return nil
	}
}

// rate is a counter by the second that it spans.
func (of usageOf) rate(f counted) figure {
	return of.figure(func(u *journal.Usage) *float64 {
		x := f(u)
		if x == nil || u.MeasuredSeconds <= 0 {
			return nil
		}
		return new(*x / u.MeasuredSeconds)
	})
}

// evidence is the medians of what the kernel counted. Usable is the CPUs that
// all replicas of the setting together could have used.
func (of usageOf) evidence(trials []*journal.Trial, machine, replicas, usable float64) Evidence {
	e := Evidence{
		CPUs: middle(trials, of.rate(cpuSeconds)),
		VoluntaryPerSecond: middle(trials, of.rate(func(u *journal.Usage) *float64 {
			if u.ContextSwitches == nil {
				return nil
			}
			return new(float64(u.ContextSwitches.Voluntary))
		})),
		InvoluntaryPerSecond: middle(trials, of.rate(func(u *journal.Usage) *float64 {
			if u.ContextSwitches == nil {
				return nil
			}
			return new(float64(u.ContextSwitches.Involuntary))
		})),
		RunQueueWaitRatio: middle(trials, of.rate(func(u *journal.Usage) *float64 { return u.RunQueueWaitSeconds })),
		ThreadsMax: middle(trials, of.figure(func(u *journal.Usage) *float64 {
			if u.ThreadsMax == nil {
				return nil
			}
			return new(float64(*u.ThreadsMax))
		})),
		ThrottledPeriodsRatio: middle(trials, of.figure(func(u *journal.Usage) *float64 { return share(u.Cgroup) })),
		ThrottledRatio: over(middle(trials, of.rate(func(u *journal.Usage) *float64 {
			if u.Cgroup == nil {
				return nil
			}
			return &u.Cgroup.ThrottledSeconds
		})), replicas),
		StealRatio: over(middle(trials, of.rate(stealSeconds)), machine),
		OtherCPUs:  middle(trials, of.rate(otherSeconds)),
		BesideCPUs: middle(trials, of.rate(func(u *journal.Usage) *float64 { return u.BesideCPUSeconds })),
		MachineBusy: middle(trials, of.figure(func(u *journal.Usage) *float64 {
			if u.HostUse == nil || u.MeasuredSeconds <= 0 {
				return nil
			}
			return &u.HostUse.BusyRatio
		})),
	}
	e.CPUUtilisation = over(e.CPUs, usable)
	of.memoryEvidence(&e, trials)
	return e
}

// loadEvidence adds what the load cost, over the whole trial.
func (e *Evidence) loadEvidence(trials []*journal.Trial) {
	e.LoadCPUs = middle(trials, func(t *journal.Trial) *float64 {
		if t.Load == nil || t.MeasuredSeconds <= 0 {
			return nil
		}
		return new(t.Load.CPUSeconds / t.MeasuredSeconds)
	})
	e.SendLagP99 = middle(trials, func(t *journal.Trial) *float64 {
		if t.Load == nil {
			return nil
		}
		return t.Load.SendLagP99Seconds
	})
	for _, t := range trials {
		if t.Valid && t.Load != nil {
			e.Dropped += t.Load.Dropped
		}
	}
}

// cpuEach is the CPU time of one request in the loop of that mode.
func cpuEach(mode journal.Mode) figure {
	return func(t *journal.Trial) *float64 {
		for i := range t.Phases {
			p := &t.Phases[i]
			if p.Mode != mode || p.AchievedPerSecond <= 0 {
				continue
			}
			u := p.Usage
			if u == nil && mode == journal.ModeClosed {
				u = &t.Usage
			}
			if u == nil || u.CPUSeconds == nil || u.MeasuredSeconds <= 0 {
				return nil
			}
			return new(u.CPUSeconds.Total() / u.MeasuredSeconds / p.AchievedPerSecond)
		}
		return nil
	}
}

func cpuSeconds(u *journal.Usage) *float64 {
	if u.CPUSeconds == nil {
		return nil
	}
	return new(u.CPUSeconds.Total())
}

func stealSeconds(u *journal.Usage) *float64 {
	if u.HostUse == nil {
		return nil
	}
	return &u.HostUse.StealSeconds
}

// medianRate is the median of a counter by the second that it spans.
func medianRate(trials []*journal.Trial, f counted) *float64 {
	return middle(trials, usageOf(ofTrial).rate(f))
}

func middle(trials []*journal.Trial, f figure) *float64 {
	v := values(trials, f)
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	return new(median(v))
}

func over(x *float64, by float64) *float64 {
	if x == nil || by <= 0 {
		return nil
	}
	return new(*x / by)
}
