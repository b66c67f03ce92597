package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// usageOf is what the kernel counted over one stretch of a trial; nil where nothing
// was.
type usageOf func(*journal.Trial) *journal.Usage

// ofTrial is that of the closed loop, or of a batch program's runs.
func ofTrial(t *journal.Trial) *journal.Usage { return &t.Usage }

// ofOpenLoop is that of the open loop; nil where it was not counted.
func ofOpenLoop(t *journal.Trial) *journal.Usage {
	if p := t.Phase(journal.ModeOpen); p != nil {
		return p.Usage
	}
	return nil
}

// countedFigure reads one number off a Usage; nil where there is no such number.
type countedFigure func(*journal.Usage) *float64

func (of usageOf) figure(f countedFigure) figure {
	return func(t *journal.Trial) *float64 {
		if u := of(t); u != nil {
			return f(u)
		}
		return nil
	}
}

// rate is a counter by the second that it spans.
func (of usageOf) rate(f countedFigure) figure {
	return of.figure(func(u *journal.Usage) *float64 {
		x := f(u)
		if x == nil || u.MeasuredSeconds <= 0 {
			return nil
		}
		return new(*x / u.MeasuredSeconds)
	})
}

// evidence is the medians of what the kernel and the runtime counted. Usable is the CPUs
// that all replicas of the setting together could have used.
func (of usageOf) evidence(trials []*journal.Trial, machine, replicas, usable float64) Evidence {
	rate := func(f countedFigure) *float64 { return contest.Median(trials, of.rate(f)) }
	figure := func(f countedFigure) *float64 { return contest.Median(trials, of.figure(f)) }
	gc := func(f func(journal.GC) float64) *float64 {
		return figure(func(u *journal.Usage) *float64 {
			if u.GC == nil || u.GC.SpanSeconds <= 0 {
				return nil
			}
			return stat.Known(f(*u.GC)) // nothing divided by nothing is not known
		})
	}
	e := Evidence{
		CPUs:       rate(cpuSeconds),
		UserCPUs:   rate(userSeconds),
		SystemCPUs: rate(systemSeconds),
		VoluntaryPerSecond: rate(func(u *journal.Usage) *float64 {
			return part(u.ContextSwitches, func(c journal.ContextSwitches) float64 { return float64(c.Voluntary) })
		}),
		InvoluntaryPerSecond: rate(func(u *journal.Usage) *float64 {
			return part(u.ContextSwitches, func(c journal.ContextSwitches) float64 { return float64(c.Involuntary) })
		}),
		RunQueueWaitRatio:     rate(func(u *journal.Usage) *float64 { return u.RunQueueWaitSeconds }),
		FaultHeldPs:           rate(faultHeld),
		MajorFaultsPerSecond:  rate(majorFaults),
		ThreadsMax:            figure(func(u *journal.Usage) *float64 { return part(u.ThreadsMax, toFloat[int]) }),
		ThrottledPeriodsRatio: figure(func(u *journal.Usage) *float64 { return throttledShare(u.Cgroup) }),
		BurstPeriodsRatio:     figure(burstShare),
		ThrottledRatio: over(rate(func(u *journal.Usage) *float64 {
			return part(u.Cgroup, func(c journal.Cgroup) float64 { return c.ThrottledSeconds })
		}), replicas),
		StealRatio:  over(rate(stealSeconds), machine),
		OtherCPUs:   rate(otherSeconds),
		BesideCPUs:  rate(func(u *journal.Usage) *float64 { return u.BesideCPUSeconds }),
		MachineBusy: figure(machineBusy),
		PeakRSSBytes: figure(func(u *journal.Usage) *float64 {
			return part(u.Memory, func(m journal.Memory) float64 { return float64(m.PeakRSSBytes) })
		}),
		RSSBytes: figure(func(u *journal.Usage) *float64 {
			if u.Memory == nil {
				return nil
			}
			return part(u.Memory.RSSBytes, toFloat[int64])
		}),
		gcCycles:          figure(collections),
		GCCyclesPerSecond: gc(func(g journal.GC) float64 { return float64(g.Cycles) / g.SpanSeconds }),
		GCBusyRatio: gc(func(g journal.GC) float64 {
			if g.CPUSeconds == nil || stat.OrZero(g.BusySeconds) <= 0 {
				return math.NaN()
			}
			return *g.CPUSeconds / *g.BusySeconds
		}),
	}
	e.CPUUtilisation = over(e.CPUs, usable)
	return e
}

// collections are those of one replica in the stretch.
func collections(u *journal.Usage) *float64 {
	if u.GC == nil || u.GC.SpanSeconds <= 0 {
		return nil
	}
	return stat.Known(float64(u.GC.Cycles) / u.GC.SpanSeconds * u.MeasuredSeconds)
}

func toFloat[N int | int64](n N) float64 { return float64(n) }

func (e *Evidence) loadEvidence(trials []*journal.Trial) {
	e.LoadCPUs = contest.Median(trials, contest.LoadCPUs)
	for _, t := range trials {
		if t.Valid && t.Load != nil {
			e.Dropped += t.Load.Dropped
		}
	}
}

// CPUPerRequest is the CPU time of a request in the phase of this mode, in seconds; nil: it
// was not counted.
func CPUPerRequest(t *journal.Trial, mode journal.Mode) *float64 {
	i := slices.IndexFunc(t.Phases, func(p journal.Phase) bool { return p.Mode == mode && p.AchievedPerSecond > 0 })
	if i < 0 {
		return nil
	}
	u := t.Phases[i].Usage
	if u == nil && mode == ownLoop(t) {
		u = &t.Usage
	}
	if u == nil || u.CPUSeconds == nil || u.MeasuredSeconds <= 0 {
		return nil
	}
	return new(u.CPUSeconds.Total() / u.MeasuredSeconds / t.Phases[i].AchievedPerSecond)
}

// cpuEach is that of the loop whose usage is the trial's.
func cpuEach(t *journal.Trial) *float64 { return CPUPerRequest(t, ownLoop(t)) }

// ownLoop is that loop: the closed one, or the open one of a server that already ran, which
// has no other.
func ownLoop(t *journal.Trial) journal.Mode {
	if slices.ContainsFunc(t.Phases, func(p journal.Phase) bool { return p.Mode == journal.ModeClosed }) {
		return journal.ModeClosed
	}
	return journal.ModeOpen
}

func cpuSeconds(u *journal.Usage) *float64 { return part(u.CPUSeconds, journal.CPUSeconds.Total) }

func userSeconds(u *journal.Usage) *float64 {
	return part(u.CPUSeconds, func(c journal.CPUSeconds) float64 { return c.User })
}

func systemSeconds(u *journal.Usage) *float64 {
	return part(u.CPUSeconds, func(c journal.CPUSeconds) float64 { return c.System })
}

func machineBusy(u *journal.Usage) *float64 {
	if u.MeasuredSeconds <= 0 {
		return nil
	}
	return part(u.HostUse, func(h journal.HostUse) float64 { return h.BusyRatio })
}

func faultHeld(u *journal.Usage) *float64 {
	if u.PageFaults == nil {
		return nil
	}
	return u.PageFaults.HeldSeconds
}

func majorFaults(u *journal.Usage) *float64 {
	return part(u.PageFaults, func(f journal.PageFaults) float64 { return float64(f.Major) })
}

// burstShare is the share of periods that used the burst; nil where none did.
func burstShare(u *journal.Usage) *float64 {
	if u.Cgroup == nil || u.Cgroup.Periods <= 0 || u.Cgroup.Bursts == 0 {
		return nil
	}
	return new(float64(u.Cgroup.Bursts) / float64(u.Cgroup.Periods))
}

func stealSeconds(u *journal.Usage) *float64 {
	return part(u.HostUse, func(h journal.HostUse) float64 { return h.StealSeconds })
}

func medianRate(trials []*journal.Trial, f countedFigure) *float64 {
	return contest.Median(trials, usageOf(ofTrial).rate(f))
}

func over(x *float64, by float64) *float64 {
	if by <= 0 {
		return nil
	}
	return part(x, func(x float64) float64 { return x / by })
}

const (
	// collectsMuch is the share of a program's busy time from which on its garbage
	// collector is the likelier thing to turn than its number of Ps.
	collectsMuch = 0.1
	// fewestCycles in a second, of a process, tell a program that allocates from one that
	// collected once while it was looked at.
	fewestCycles = 1
)

// flat reports whether no value is beyond the margin of the best, of three at least.
func (g *group) flat() bool {
	return len(g.Values) >= 3 && g.Best != nil && len(g.flatness().WithinMargin) == len(g.measured())
}

// allocates reports whether that is a program whose collector is worth looking at first.
func (g *group) allocates(rows []Row, rec *Recommendation) *Allocates {
	if rec.Verdict != NoDifference && (rec.Verdict == SustainsRate || !g.flat()) {
		return nil
	}
	label := rec.Setting
	if label == "" && g.Best != nil {
		label = g.Best.Setting
	}
	for i := range rows {
		e := &rows[i].Evidence
		if row := &rows[i]; row.Variant == "" && (row.Label == label || slices.Contains(row.PooledWith, label)) &&
			stat.OrZero(e.GCCyclesPerSecond) >= fewestCycles && stat.OrZero(e.GCBusyRatio) >= collectsMuch {
			return &Allocates{label, *e.GCCyclesPerSecond, *e.GCBusyRatio}
		}
	}
	return nil
}

func otherSeconds(u *journal.Usage) *float64 {
	if u.HostUse == nil {
		return nil
	}
	return u.HostUse.OtherCPUSeconds
}
