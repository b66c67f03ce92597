package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// speedups sets each current setting's median throughput against that of the
// smallest numbered one.
func speedups(settings []SettingResult) {
	var base *SettingResult
	for i := range settings {
		a := &settings[i]
		if a.Variant == "" && a.Procs != nil && a.Throughput.Median != nil && *a.Throughput.Median > 0 {
			base = a
			break // settings are sorted by procs
		}
	}
	for i := range settings {
		if a := &settings[i]; base != nil && a.Variant == "" && a.Throughput.Median != nil {
			if x := *a.Throughput.Median / *base.Throughput.Median; !math.IsInf(x, 0) {
				a.Speedup = &x
			}
		}
	}
}

func flatness(r *Group, w *outcome, margin float64) Flatness {
	f := Flatness{WithinMargin: []string{}}
	peak := w.best.rate
	medians := map[string]float64{}
	for _, s := range w.contenders {
		m := s.rate
		for _, a := range s.settings {
			if m >= (1-margin)*peak {
				f.WithinMargin = append(f.WithinMargin, a.Label)
				medians[a.Label] = m
			}
		}
		if s.procs > w.best.procs && peak > 0 && !math.IsNaN(m) && (f.WorstAbove == nil || m/peak < *f.WorstAbove) {
			f.WorstAbove = new(m / peak)
		}
	}
	slices.SortStableFunc(f.WithinMargin, func(a, b string) int { return cmp.Compare(medians[b], medians[a]) })
	return f
}

// The shares of the usable CPUs that part the kinds of work.
const (
	cpuBound = 0.9
	ioBound  = 0.5
)

func workload(r *Group, h journal.Header) Workload {
	w := Workload{Kind: "unknown"}
	var at *SettingResult
	distance := math.Inf(1)
	for i := range r.Settings {
		a := &r.Settings[i]
		if a.Variant != "" || a.Trials == 0 {
			continue
		}
		if a.Procs == nil {
			at = a
			break // unset comes first
		}
		if d := math.Abs(float64(*a.Procs) - r.EffectiveCPUs); d < distance {
			at, distance = a, d
		}
	}
	if at == nil || at.Evidence.CPUUtilisation == nil {
		return w
	}
	if *at.Evidence.CPUUtilisation < cpuBound && orZero(at.Evidence.BesideCPUs) >= contest.OthersMatter*float64(max(1, r.Others.Of)) {
		return w // what the neighbour left it is no metric of its own
	}
	w.Setting, w.CPUUtilisation = at.Label, at.Evidence.CPUUtilisation
	w.Withheld = at.Withheld || *w.CPUUtilisation < cpuBound && busyWithOthers(&at.Evidence, h)
	if w.Withheld {
		return w
	}
	switch u := *w.CPUUtilisation; {
	case u >= cpuBound:
		w.Kind = "cpu-bound"
	case u <= ioBound:
		w.Kind = "io-bound"
	default:
		w.Kind = "mixed"
	}
	return w
}

// busyWithOthers is for trials in which other programs were not counted, as in those of
// half a second or in a journal of the first version: that the whole machine was busy,
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
