package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// ValueResult is one number of Ps, with the trials of all settings that ran with it:
// what comparisons and sentences are of.
type ValueResult struct {
	Procs    *int     `json:"procs"`    // null: not known
	Settings []string `json:"settings"` // labels, the one that names it first
	Trials   int      `json:"trials"`
	// Throughput and Latency (of the judged quantile) are its level over the run, what
	// the machine did to all values of a block taken out, with the 95% interval.
	Throughput Level `json:"throughput_per_second"`
	Latency    Level `json:"latency_seconds"`
	// VersusPeak is against the group's peak: the bounds that decide whether it is
	// worse, or as good.
	VersusPeak Bounds        `json:"throughput_versus_peak"`
	Excluded   *ExcludedCode `json:"excluded"`
}

// Level is an estimate with its 95% interval; null where there is none.
type Level struct {
	Mean *float64 `json:"mean"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	N    int      `json:"n"` // trials
}

// Bounds is a ratio with the bounds that a claim on it rests on: nothing is called
// worse or as good but by them.
type Bounds struct {
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	N     int      `json:"n"` // trials of the value that has fewer
}

// ExcludedCode says why a setting has no part in what is judged, or not in all of it.
type ExcludedCode string

const (
	ExcludedInvalid   ExcludedCode = "invalid"      // it has no valid trial
	ExcludedWithheld  ExcludedCode = "withheld"     // other programs left it too few CPUs
	ExcludedUnread    ExcludedCode = "unread"       // unset, and which value it chose is not known
	ExcludedDiffers   ExcludedCode = "differs"      // unset, and unlike the numbered setting of its value
	ExcludedNoFigure  ExcludedCode = "no_figure"    // no valid trial has a throughput
	ExcludedSlower    ExcludedCode = "slower"       // too slow to be the best, proven or measured no further: its latency is not compared
	ExcludedSaturated ExcludedCode = "saturated"    // proven not to carry the common rate: its latency is a backlog's
	ExcludedLatency   ExcludedCode = "no_latency"   // no trial's latency may be judged
	ExcludedShared    ExcludedCode = "load_on_cpus" // more Ps than CPUs while the load is on them: not preferred by latency
)

// place makes the group's rows: one for each value, and one for each setting that has
// none, the unset setting and the old command's in their places.
func (g *group) place(r *Group, w *outcome, machine float64) {
	of := map[journal.SettingKey]*contender{}
	all := slices.Concat(w.contenders, w.withheld)
	if w.unplaced != nil {
		all = append(all, w.unplaced)
	}
	for _, s := range all {
		for _, a := range s.settings {
			of[a.key] = s
		}
	}
	done := map[*contender]bool{}
	for i, a := range g.settings {
		s, setting := of[a.key], &r.Settings[i]
		setting.Excluded = w.excluded(s, a)
		if s == nil {
			r.Rows = append(r.Rows, *setting)
			continue
		}
		for _, other := range s.settings {
			if other != a {
				setting.PooledWith = append(setting.PooledWith, other.Label)
			}
		}
		if done[s] {
			continue
		}
		done[s] = true
		r.Values = append(r.Values, w.result(s))
		r.Rows = append(r.Rows, g.row(s, setting, w, machine, r))
	}
	slices.SortStableFunc(r.Rows, func(a, b SettingResult) int { return compareRows(&a, &b) })
	slices.SortStableFunc(r.Values, func(a, b ValueResult) int { return cmp.Compare(orZero(a.Procs), orZero(b.Procs)) })
}

// row is a value as one setting, its metrics those of the level.
func (g *group) row(s *contender, alone *SettingResult, w *outcome, machine float64, r *Group) SettingResult {
	row := *alone
	if len(s.settings) > 1 {
		pooled := *s.settings[0]
		pooled.measure, pooled.aa = nil, nil
		for _, a := range s.settings {
			pooled.measure, pooled.aa = append(pooled.measure, a.measure...), append(pooled.aa, a.aa...)
		}
		byBlock := func(a, b *journal.Trial) int {
			return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Order, b.Order))
		}
		slices.SortStableFunc(pooled.measure, byBlock)
		row = g.summarize(&pooled, machine, r.EffectiveCPUs, journal.Mode(r.LatencyMode))
		row.NonInferior, row.Withheld = alone.NonInferior, alone.Withheld
		row.PooledWith = nil
		for _, a := range s.settings[1:] {
			row.PooledWith = append(row.PooledWith, a.Label)
		}
	}
	row.Later = w.lowest != nil && s != w.lowest && !s.saturated && !w.beyond(s) && w.inTail(s) && w.p99(s, w.lowest).worse
	row.Excluded = w.excluded(s, s.settings[0])
	row.Judged, row.Saturated = Interval{}, s.saturated
	if level := s.levelOf(MetricThroughput); level.Mean != nil {
		row.Throughput = level.interval()
	}
	if level := s.levelOf(MetricP99); level.Mean != nil {
		row.Judged = level.interval()
		g.quantiles(&row, s)
	}
	if b := w.versus(s); b.Ratio != nil {
		row.VersusPeak = Interval{Median: b.Ratio, Low: b.Low, High: b.High, N: b.N}
	}
	return row
}

func (l Level) interval() Interval { return Interval{Median: l.Mean, Low: l.Low, High: l.High, N: l.N} }

func (w *outcome) result(s *contender) ValueResult {
	r := ValueResult{
		Settings: []string{}, Trials: s.trials(), Throughput: s.levelOf(MetricThroughput), Latency: s.levelOf(MetricP99),
		VersusPeak: w.versus(s), Excluded: w.excluded(s, s.settings[0]),
	}
	if s.procs > 0 {
		r.Procs = new(s.procs)
	}
	for _, a := range s.settings {
		r.Settings = append(r.Settings, a.Label)
	}
	return r
}

// trials are the valid ones, both copies of an A/A pair.
func (s *contender) trials() int {
	n := 0
	for _, a := range s.settings {
		n += valid(a.measure) + valid(a.aa)
	}
	return n
}

// compareRows has unset alone first, then the numbers, then the old command's.
func compareRows(a, b *SettingResult) int {
	return cmp.Or(cmp.Compare(a.Variant, b.Variant), cmp.Compare(orZero(a.Procs), orZero(b.Procs)))
}

func orZero[T int | float64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

// excluded is why a setting has no part in the verdict, or not in all of it; nil where it
// has, and for the old command's, which have a gate of their own.
func (w *outcome) excluded(s *contender, a *setting) *ExcludedCode {
	switch {
	case a.Variant != "":
		return nil
	case valid(a.measure)+valid(a.aa) == 0:
		return new(ExcludedInvalid)
	case s == nil || math.IsNaN(s.rate):
		return new(ExcludedNoFigure)
	case slices.Contains(w.withheld, s):
		return new(ExcludedWithheld)
	case s == w.unplaced && s.procs == 0:
		return new(ExcludedUnread)
	case s == w.unplaced:
		return new(ExcludedDiffers)
	case s.saturated:
		return new(ExcludedSaturated)
	case w.out(s):
		return new(ExcludedSlower)
	case w.latency && !s.hasP99():
		return new(ExcludedLatency)
	case w.beyond(s):
		return new(ExcludedShared)
	}
	return nil
}
