package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// judgedIfValid is that of a valid trial, as JSON can hold it.
func (g *group) judgedIfValid(t *journal.Trial) *float64 {
	if x := g.contest.Latency.Of(t); t.Valid && x != nil && finitePositive(*x) {
		return x
	}
	return nil
}

// lateTrials counts those of a row whose generator was late, of the valid ones.
func lateTrials(a *SettingResult) (late, of int) {
	for _, p := range a.Points {
		if p.Late {
			late++
		}
		if p.Valid {
			of++
		}
	}
	return late, of
}

// quantiles gives a row its p50 and p99 from the trials that its judged latency is of, so
// that all are of the same requests: medians, moved by as much as the level of the judged
// one is away from its median. So no p50 is above a p90.
func (g *group) quantiles(row *SettingResult, s *contender) {
	var trials []*journal.Trial
	for _, a := range s.settings {
		trials = append(trials, slices.DeleteFunc(slices.Concat(a.measure, a.aa), func(t *journal.Trial) bool {
			return t.Saturated || g.judgedIfValid(t) == nil
		})...)
	}
	of := func(quantile float64, f func(*journal.Latency) *float64) Interval {
		if quantile == g.contest.Latency.Quantile {
			return row.Judged
		}
		have := slices.DeleteFunc(slices.Clone(trials), func(t *journal.Trial) bool { return f(t.LatencySeconds) == nil })
		if len(have) == 0 {
			return Interval{}
		}
		by := *row.Judged.Median / medianFloat(values(have, g.judgedIfValid))
		i := medianOf(values(have, func(t *journal.Trial) *float64 { return f(t.LatencySeconds) }))
		for _, x := range []**float64{&i.Median, &i.Low, &i.High} {
			if *x != nil {
				*x = known(**x * by)
			}
		}
		return i
	}
	row.P50 = of(0.5, func(l *journal.Latency) *float64 { return l.P50 })
	row.P99 = of(0.99, func(l *journal.Latency) *float64 { return l.P99 })
}
