package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// judgeDefault follows the rule of Go 1.25: the CPUs, or the limit rounded up where
// that is less, and never less than 2 because of a limit.
func (g *group) judgeDefault(settings []Row, o Override) Default {
	t, h := g.header.Target, g.header.TargetHost
	d := Default{Standing: DefaultUnknown, NumCPU: len(t.Had())}
	if d.NumCPU == 0 {
		d.NumCPU = max(0, h.AffinityCPUs)
	}
	d.LimitCPUs = float64(d.NumCPU)
	for _, x := range []float64{g.effective, h.EffectiveCPUs} {
		if x > 0 {
			d.LimitCPUs = math.Min(d.LimitCPUs, x)
		}
	}
	expected, measured := min(d.NumCPU, max(2, int(math.Ceil(d.LimitCPUs)))), false
	for i := range settings {
		if a := &settings[i]; a.Procs == nil && a.Variant == "" {
			d.Procs, measured = a.ResolvedProcs, true
		}
	}
	if !measured && expected == d.NumCPU && o.Ran == 0 && !o.Changed && d.NumCPU > 0 {
		d.Procs, d.Predicted = new(d.NumCPU), true
	}
	if d.Procs == nil || d.NumCPU == 0 {
		return d
	}
	p, limited := *d.Procs, d.LimitCPUs < float64(d.NumCPU)
	switch {
	case p == d.NumCPU && !limited:
		d.Standing = DefaultAll
	case p == d.NumCPU && p == expected:
		d.Standing = DefaultFloor
	case p == d.NumCPU:
		d.Standing = DefaultUnseenLimit
	case p == expected:
		d.Standing = DefaultLimit
	default:
		d.Standing = DefaultUnexplained
	}
	return d
}

// Unclear reports whether nobody knows what the program runs with now, or how that compares: nothing
// is to be set in its place.
func (g *Group) Unclear() bool {
	d := g.Default
	known := func(a Row) bool {
		return a.Trials > 0 && a.Procs != nil && d.Procs != nil && *a.Procs == *d.Procs && a.Variant == ""
	}
	failed := func(a Row) bool { return a.Trials == 0 && a.Procs == nil && a.Variant == "" }
	return d.Standing == DefaultUnknown || slices.ContainsFunc(g.Settings, failed) ||
		d.Predicted && g.Recommendation.Verdict != SustainsRate && !slices.ContainsFunc(g.Settings, known)
}

// overrides looks at invalid trials too: that the target ran at another value is what
// makes them so.
func (g *group) overrides() Override {
	o := Override{Known: len(g.Settings) > 0}
	for _, a := range g.Settings {
		if procs, _ := contest.Resolved(g.Trials(a)); procs == 0 || contest.Valid(g.Measured(a)) == 0 {
			o.Known = false
		}
		for _, t := range g.Measured(a) {
			o.Changed = o.Changed || t.InvalidCode == journal.InvalidProcsChanged
			if t.InvalidCode == journal.InvalidProcs || t.Valid {
				for _, p := range t.ObservedProcs {
					if a.Procs != nil && p != nil && *p != *a.Procs && o.Ran == 0 {
						o.Asked, o.Ran = *a.Procs, *p
					}
				}
			}
		}
	}
	return o
}

// logged reports whether any trial's program names GOMAXPROCS as it starts.
func (g *group) logged() *bool {
	var logged *bool
	for _, t := range g.measuredIn(g.Current()) {
		if t.ProcsLogged != nil && (logged == nil || *t.ProcsLogged) {
			logged = t.ProcsLogged
		}
	}
	return logged
}

func (g *group) beyondCPUs(rows []Row) *Beyond {
	var b Beyond
	var above, within float64
	for i := range rows {
		a := &rows[i]
		if a.Variant != "" || a.Procs == nil || a.Throughput.Median == nil || a.TooFewCPUs || a.Unmet {
			continue
		}
		x := *a.Throughput.Median
		if float64(*a.Procs) <= math.Ceil(g.effective) {
			within = math.Max(within, x)
		} else if x > above {
			above, b.Setting = x, a.Label
		}
	}
	if b.Ratio = above / within; above <= 0 || within <= 0 || math.IsInf(b.Ratio, 0) {
		return nil
	}
	return &b
}
