package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// summarize is a setting by itself, before it is compared with others. Its metrics
// are those of its own valid trials; the second copy of an A/A pair is among the
// points only.
func (g *group) summarize(a *setting, machine, effective float64, mode journal.Mode) SettingResult {
	r := SettingResult{
		Label:      a.Label,
		Procs:      a.Procs,
		Variant:    a.Variant,
		Variable:   a.key.Value,
		Trials:     valid(a.measure),
		Invalid:    len(a.measure) - valid(a.measure),
		Throughput: Median(values(a.measure, throughputOf)),
		P50:        Median(values(a.measure, shown(mode, func(l *journal.Latency) *float64 { return l.P50 }))),
		P99:        Median(values(a.measure, shown(mode, func(l *journal.Latency) *float64 { return l.P99 }))),
		Metrics:    metrics(a.measure),
		ByRequest:  byRequest(a.measure, mode),
		Saturated:  saturated(a.measure),
	}
	r.InvalidReasons = reasons(a.measure)
	for _, t := range a.measure {
		for i := range t.Phases {
			if p := &t.Phases[i]; t.Valid {
				r.Requests, r.Unanswered, r.Redirects = r.Requests+p.Requests, r.Unanswered+p.Unanswered, r.Redirects+p.Redirects
			}
		}
	}
	if p, source := contest.Resolved(trialsOf([]*setting{a})); p > 0 {
		r.ResolvedProcs, r.ResolvedSource = &p, source
	}
	ps := effective
	if r.ResolvedProcs != nil {
		ps = float64(*r.ResolvedProcs)
	} else if a.Procs != nil {
		ps = float64(*a.Procs)
	}
	replicas := float64(g.key.Replicas)
	usable := math.Min(machine, math.Min(ps, effective)*replicas)
	r.Evidence = usageOf(ofTrial).evidence(a.measure, machine, replicas, usable)
	r.Evidence.loadEvidence(a.measure)
	r.Evidence.CPUSecondsEach = middle(a.measure, cpuEach(journal.ModeClosed))
	if open := usageOf(ofOpenLoop).evidence(a.measure, machine, replicas, usable); open.CPUs != nil {
		open.CPUSecondsEach = middle(a.measure, cpuEach(journal.ModeOpen))
		r.OpenEvidence = &open
	}
	for _, t := range trialsOf([]*setting{a}) {
		r.Points = append(r.Points, Point{
			Block: t.Block, Role: string(t.Role), Valid: t.Valid, InvalidReason: t.InvalidReason, InvalidCode: t.InvalidCode,
			Throughput: t.ThroughputPerSecond,
			P50:        shown(mode, func(l *journal.Latency) *float64 { return l.P50 })(t),
			P99:        shown(mode, func(l *journal.Latency) *float64 { return l.P99 })(t),
			ClosedP99:  shown(journal.ModeClosed, func(l *journal.Latency) *float64 { return l.P99 })(t),
			Judged:     g.judgedIfValid(t),
			Late:       t.Valid && contest.Late(t),
			Metrics:    figures(t.Metrics),
		})
	}
	sorting.Stable(r.Points, func(a, b Point) int { return cmp.Compare(a.Block, b.Block) })
	return r
}

// shown is a latency of the loop that the group displays: the judged one, or
// where there is none that of the closed loop.
func shown(mode journal.Mode, of func(*journal.Latency) *float64) figure {
	return func(t *journal.Trial) *float64 {
		if mode == journal.ModeOpen {
			if t.LatencySeconds == nil {
				return nil
			}
			return of(t.LatencySeconds)
		}
		for i := range t.Phases {
			if p := &t.Phases[i]; p.Mode == mode && p.LatencySeconds != nil {
				return of(p.LatencySeconds)
			}
		}
		return nil
	}
}

// latencyMode is the loop that shown takes; empty without any latency.
func (g *group) latencyMode() journal.Mode {
	mode := journal.Mode("")
	for t := range measuredIn(g.settings) {
		if t.Valid && t.LatencySeconds != nil {
			return journal.ModeOpen
		}
		for i := range t.Phases {
			if t.Valid && t.Phases[i].Mode == journal.ModeClosed && t.Phases[i].LatencySeconds != nil {
				mode = journal.ModeClosed
			}
		}
	}
	return mode
}

// saturated is by majority of the valid trials: what was seen. What is concluded of it
// is the contest's.
func saturated(trials []*journal.Trial) bool {
	n := 0
	for _, t := range trials {
		if t.Valid && t.Saturated {
			n++
		}
	}
	return 2*n > valid(trials)
}

func reasons(trials []*journal.Trial) []ReasonCount {
	count := map[ReasonCount]int{}
	for _, t := range trials {
		if !t.Valid {
			count[ReasonCount{Reason: t.InvalidReason, Code: t.InvalidCode}]++
		}
	}
	var list []ReasonCount
	for r, n := range count {
		r.Count = n
		list = append(list, r)
	}
	sorting.Stable(list, func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Code, b.Code))
	})
	return list
}

// figures are a trial's metrics as plain numbers.
func figures(of map[string]journal.Metric) map[string]float64 {
	if len(of) == 0 {
		return nil
	}
	list := map[string]float64{}
	for name, m := range of {
		list[name] = m.Value
	}
	return list
}

func metrics(trials []*journal.Trial) map[string]MetricInterval {
	all := map[string]MetricInterval{}
	for _, t := range trials {
		for name, m := range t.Metrics {
			if _, done := all[name]; done || !t.Valid {
				continue
			}
			of := values(trials, func(t *journal.Trial) *float64 {
				if m, ok := t.Metrics[name]; ok {
					return &m.Value
				}
				return nil
			})
			all[name] = MetricInterval{Median(of), m.Unit, m.Better}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

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
// that all are of the same requests: medians, but no p50 is above the level of a judged p90, nor
// a p99 below it.
func (g *group) quantiles(row *SettingResult, s *contender) {
	trials := slices.DeleteFunc(trialsOf(s.settings), func(t *journal.Trial) bool { return t.Saturated || g.judgedIfValid(t) == nil })
	of := func(quantile float64, f func(*journal.Latency) *float64) Interval {
		if quantile == g.contest.Latency.Quantile {
			return row.Judged
		}
		have := slices.DeleteFunc(slices.Clone(trials), func(t *journal.Trial) bool { return f(t.LatencySeconds) == nil })
		if len(have) == 0 {
			return Interval{}
		}
		seen := Median(values(have, func(t *journal.Trial) *float64 { return f(t.LatencySeconds) }))
		if level := *row.Judged.Median; (quantile < g.contest.Latency.Quantile) == (*seen.Median > level) {
			return seen.Scaled(level / *seen.Median)
		}
		return seen
	}
	row.P50 = of(0.5, func(l *journal.Latency) *float64 { return l.P50 })
	row.P99 = of(0.99, func(l *journal.Latency) *float64 { return l.P99 })
}

// RequestLatency is one request of a mix at one setting, in the loop whose latency is
// displayed: medians over the setting's valid trials, and sums.
type RequestLatency struct {
	Name     string
	Requests int64
	Errors   int64
	P50      Interval
	P99      Interval
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
		list[i].P50, list[i].P99 = Median(p50[list[i].Name]), Median(p99[list[i].Name])
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
