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

// RequestLatency is one request of a mix at one setting, in the loop whose latency is
// displayed: medians over the setting's valid trials, and sums.
type RequestLatency struct {
	Name     string   `json:"name"`
	Requests int64    `json:"requests"`
	Errors   int64    `json:"errors"`
	P50      Interval `json:"p50_seconds"`
	P99      Interval `json:"p99_seconds"`
}

// byRequest are the requests of a mix, in the order of the first trial that has them.
func byRequest(trials []*journal.Trial, mode journal.Mode) (list []RequestLatency) {
	at := map[string]int{}
	p50, p99 := map[string][]float64{}, map[string][]float64{}
	for _, t := range trials {
		for _, one := range mixOf(t, mode) {
			i, known := at[one.Name]
			if !known {
				i = len(list)
				at[one.Name] = i
				list = append(list, RequestLatency{Name: one.Name})
			}
			list[i].Requests += one.Requests
			list[i].Errors += one.Errors
			if l := one.LatencySeconds; l != nil && l.P50 != nil && l.P99 != nil {
				p50[one.Name] = append(p50[one.Name], *l.P50)
				p99[one.Name] = append(p99[one.Name], *l.P99)
			}
		}
	}
	for i := range list {
		list[i].P50, list[i].P99 = medianOf(p50[list[i].Name]), medianOf(p99[list[i].Name])
	}
	return list
}

// mixOf are the requests of a valid trial's last phase of the mode.
func mixOf(t *journal.Trial, mode journal.Mode) (list []journal.RequestFigures) {
	for i := range t.Phases {
		if p := &t.Phases[i]; t.Valid && p.Mode == mode {
			list = p.ByRequest
		}
	}
	return list
}
