package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func (g *group) flatness() Flatness {
	f := Flatness{WithinMargin: []string{}}
	if g.Best == nil {
		return f
	}
	peak := *g.Best.Throughput.Median
	known := slices.DeleteFunc(slices.Clone(g.Values), func(v *contest.Value) bool { return v.Throughput.Median == nil || v.Unmet })
	sorting.Stable(known, func(a, b *contest.Value) int { return cmp.Compare(*b.Throughput.Median, *a.Throughput.Median) })
	for _, v := range known {
		share := *v.Throughput.Median / peak
		for _, a := range v.Settings {
			if share >= 1-g.header.Plan.Margin {
				f.WithinMargin = append(f.WithinMargin, a.Label)
			}
		}
		if v.Procs > g.Best.Procs && (f.WorstAbove == nil || share < *f.WorstAbove) {
			f.WorstAbove = new(share)
		}
	}
	return f
}

// The shares of the usable CPUs that part the kinds of work.
const (
	cpuBound = 0.9
	ioBound  = 0.5
)

func (g *group) workload(settings []Row) Workload {
	work := Workload{Kind: "unknown"}
	var at *Row
	distance := math.Inf(1)
	for i := range settings {
		a := &settings[i]
		if a.Variant != "" || a.Trials == 0 {
			continue
		}
		if a.Procs == nil {
			at = a
			break // unset comes first
		}
		if d := math.Abs(float64(*a.Procs) - g.effective); d < distance {
			at, distance = a, d
		}
	}
	if at == nil || at.Evidence.CPUUtilisation == nil {
		return work
	}
	if *at.Evidence.CPUUtilisation < cpuBound && stat.OrZero(at.Evidence.BesideCPUs) >= contest.OthersMatter*float64(max(1, g.others.Of)) {
		return work // what it used is only what the neighbour left
	}
	work.Setting, work.CPUUtilisation = at.Label, at.Evidence.CPUUtilisation
	work.TooFewCPUs = at.TooFewCPUs || *work.CPUUtilisation < cpuBound && busyWithOthers(&at.Evidence, g.header)
	if work.TooFewCPUs {
		return work
	}
	switch u := *work.CPUUtilisation; {
	case u >= cpuBound:
		work.Kind = "cpu-bound"
	case u <= ioBound:
		work.Kind = "io-bound"
	default:
		work.Kind = "mixed"
	}
	return work
}

// busyWithOthers is for trials in which other programs were not counted, as in those of
// half a second: that the whole machine was busy,
// and by a tenth of it with neither the target nor the load. It is too coarse to
// withhold comparisons, and enough not to take a starved program for one that waits.
func busyWithOthers(e *Evidence, h journal.Header) bool {
	machine := float64(h.TargetHost.CPUs)
	if e.OtherCPUs != nil || e.MachineBusy == nil || e.CPUs == nil || machine <= 0 || len(h.Target.ServerCPUs) > 0 {
		return false
	}
	ours := *e.CPUs
	if e.LoadCPUs != nil && h.Load.OnTargetHost() {
		ours += *e.LoadCPUs
	}
	return *e.MachineBusy >= contest.InUse && *e.MachineBusy-ours/machine >= contest.OthersMatter
}

// slowMuch is the share of the trials that such a machine takes when it is why nothing can
// be said.
const slowMuch = 0.25

// slowed reports whether it is.
func (o OtherPrograms) slowed() bool {
	return o.Slow > 0 && float64(o.Slow) >= slowMuch*float64(o.Trials)
}

// remains reports whether a steady machine would have the same cause, of those that there are before
// guard and qualify.
func remains(cause Remark) bool {
	switch cause.(type) {
	case CauseTooFewCPUs, CauseOverridden, CauseNoDefault, CauseMixedOrigins, CauseUnsetDiffers, CauseLoadLimited, CauseUnweighed:
		return true
	}
	return false
}

// burstsOf are the trials of a machine that was busy for a while.
func (o *OtherPrograms) burstsOf(all []*journal.Trial) {
	if !contest.QuietButFor(all) {
		return
	}
	for _, t := range all {
		share := contest.Burst(t)
		if share == nil {
			continue
		}
		o.Bursts, o.BurstMost, o.Trials = o.Bursts+1, max(o.BurstMost, *share), len(all)
		if t.InvalidCode == journal.InvalidCrowded {
			o.LeftOut++
		}
	}
}

// otherPrograms is what they took. Which settings they left too few CPUs is the contest's.
func (g *group) otherPrograms() OtherPrograms {
	all, other := g.all(g.Settings), func(t *journal.Trial) *float64 { return evidenceOf(&t.Usage).OtherCPUs }
	o := OtherPrograms{CPUs: contest.Median(all, other), Of: contest.TargetCPUs(all)}
	if o.CPUs == nil {
		o.AtMost = contest.Median(all, contest.MostOthers)
	}
	o.burstsOf(all)
	if o.Slow = contest.HowMany(all, func(t *journal.Trial) bool { return t.InvalidCode == journal.InvalidSlow }); o.Slow > 0 {
		o.Trials = len(all)
	}
	for _, a := range g.Settings {
		used := contest.Median(g.Measured(a), other)
		if n := float64(contest.TargetCPUs(g.Measured(a))); used != nil && n > 0 && *used >= contest.OthersMatter*n {
			o.Matter = true
			if o.MostCPUs == nil || *used > *o.MostCPUs {
				o.MostCPUs, o.MostSetting = used, a.Label
			}
		}
		if g.HadTooFewCPUs(a) {
			o.TooFewCPUs = append(o.TooFewCPUs, a.Label)
		}
	}
	o.Matter = o.Matter || o.CPUs != nil && *o.CPUs >= contest.OthersMatter*float64(max(1, o.Of))
	return o
}
