package trial

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Standing is what the trials of a sweep have shown so far, by setting, without pilots.
type Standing struct {
	Settings []SoFar
	Unit     string // of the throughput; empty: no trial had one yet
	trials   int
}

// SoFar is one setting. A setting that is measured twice has both trials here.
type SoFar struct {
	Setting       journal.Setting
	Rates, P99s   []float64 // of the valid trials; of runs, the seconds that one takes
	Valid, Failed int
	Missed        int // valid ones that met the objective at no rate
	last          int // its latest trial, counted from 1; 0: none yet
}

// Unmet reports whether its rates are a bound from above.
func (one SoFar) Unmet() bool { return journal.Unmet(one.Missed, one.Valid) }

// Add takes a trial that has ended.
func (s *Standing) Add(t *journal.Trial) {
	if t.Valid && t.ThroughputUnit != "" { // an invalid one may have runs alone, in place of its number
		s.Unit = t.ThroughputUnit
	}
	if t.Role == journal.RolePilot || t.Role == journal.RoleSlice {
		return
	}
	s.trials++
	one := s.of(t.Setting)
	one.last = s.trials
	if !t.Valid {
		one.Failed++
		return
	}
	one.Valid++
	if t.Missed() {
		one.Missed++
	}
	switch rate := t.ThroughputPerSecond; {
	case rate == nil:
	case t.ThroughputUnit != ThroughputRuns:
		one.Rates = append(one.Rates, *rate)
	case *rate > 0:
		one.Rates = append(one.Rates, float64(max(1, t.Setting.Replicas)) / *rate)
	}
	if t.LatencySeconds != nil && t.LatencySeconds.P99 != nil {
		one.P99s = append(one.P99s, *t.LatencySeconds.P99)
	}
}

// Start has a row for the setting of a task that starts.
func (s *Standing) Start(t plan.Task) {
	if !t.Slice() && !t.Pilot() {
		s.of(t.Setting)
	}
}

// of is the place of a setting, with a new one where there is none: by groups, then by the value.
func (s *Standing) of(a journal.Setting) *SoFar {
	is := func(have SoFar) bool { return have.Setting.Key() == a.Key() }
	if !slices.ContainsFunc(s.Settings, is) {
		s.Settings = append(s.Settings, SoFar{Setting: a})
		sorting.Stable(s.Settings, func(a, b SoFar) int { return compareSettings(a.Setting, b.Setting) })
	}
	return &s.Settings[slices.IndexFunc(s.Settings, is)]
}

// compareSettings orders by group, the unlimited first, then by the value, the default first.
func compareSettings(a, b journal.Setting) int {
	quota := func(k journal.SettingKey) float64 {
		if !k.Group.Limited {
			return math.Inf(1)
		}
		return k.Group.QuotaCPUs
	}
	x, y := a.Key(), b.Key()
	return cmp.Or(cmp.Compare(x.Group.GoVersion, y.Group.GoVersion), cmp.Compare(quota(y), quota(x)),
		cmp.Compare(x.Group.Replicas, y.Group.Replicas), cmp.Compare(x.Group.Compares, y.Group.Compares), cmp.Compare(x.Group.Variables, y.Group.Variables), cmp.Compare(x.Procs, y.Procs), cmp.Compare(x.Variant, y.Variant))
}

// Measures reports whether a task measures the setting.
func (one SoFar) Measures(now plan.Task) bool {
	return !now.Slice() && !now.Pilot() && one.Setting.Key() == now.Setting.Key()
}

// Latest are the settings that were measured last, in order; the one that is measured now is the latest.
func (s *Standing) Latest(most int, now plan.Task) (shown []SoFar, hidden int) {
	switch {
	case most <= 0:
		return nil, len(s.Settings)
	case len(s.Settings) <= most:
		return s.Settings, 0
	}
	rank := func(one SoFar) int {
		if one.Measures(now) {
			return s.trials + 1
		}
		return one.last
	}
	byAge := sorting.Sorted(s.Settings, func(a, b SoFar) int { return cmp.Compare(rank(b), rank(a)) })
	least := rank(byAge[most-1])
	for _, one := range s.Settings {
		if rank(one) >= least && len(shown) < most {
			shown = append(shown, one)
		}
	}
	return shown, len(s.Settings) - len(shown)
}
