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

// summarize is a setting by itself, before it is compared with others. Its metrics
// are those of its own valid trials; the second copy of an A/A pair is among the
// points only.
func (g *group) summarize(a journal.Setting, measured, copies []*journal.Trial) Row {
	result := Row{
		Label:      a.Label,
		Procs:      a.Procs,
		Variant:    a.Variant,
		Variable:   a.Key().Value,
		Trials:     contest.Valid(measured),
		Invalid:    len(measured) - contest.Valid(measured),
		Throughput: stat.Median(contest.Figures(measured, throughputOf)),
		P50:        stat.Median(contest.Figures(measured, shownLatency(g.latencyMode, ofP50))),
		P99:        stat.Median(contest.Figures(measured, shownLatency(g.latencyMode, ofP99))),
		Metrics:    metricIntervals(measured),
		ByRequest:  byRequest(measured, g.latencyMode),
		Saturated:  mostlySaturated(measured),
		Missed:     len(Trials(measured).Where(func(t *journal.Trial) bool { return t.Valid && t.Missed() })),
	}
	all := slices.Concat(measured, copies)
	result.InvalidReasons = invalidReasons(measured)
	for _, t := range measured {
		for _, p := range t.Phases {
			if t.Valid {
				result.Requests, result.Unanswered, result.Redirects = result.Requests+p.Requests, result.Unanswered+p.Unanswered, result.Redirects+p.Redirects
			}
		}
	}
	if p, source := contest.Resolved(all); p > 0 {
		result.ResolvedProcs, result.ResolvedSource = &p, source
	}
	ps := g.effective
	if p := cmp.Or(result.ResolvedProcs, a.Procs); p != nil {
		ps = float64(*p)
	}
	replicas := float64(g.Group.Replicas)
	usable := math.Min(g.machine, math.Min(ps, g.effective)*replicas)
	result.Evidence = usageOf(ofTrial).evidence(measured, g.machine, replicas, usable)
	result.Evidence.loadEvidence(measured)
	result.Evidence.PeakRSSBytes = g.peakMemory(a, measured)
	result.Evidence.CPUSecondsEach = contest.Median(measured, cpuEach)
	if open := usageOf(ofOpenLoop).evidence(measured, g.machine, replicas, usable); open.CPUs != nil {
		open.CPUSecondsEach = contest.Median(measured, func(t *journal.Trial) *float64 { return CPUPerRequest(t, journal.ModeOpen) })
		result.OpenEvidence = &open
	}
	for _, t := range all {
		result.Points = append(result.Points, Point{
			Block: t.Block, Role: string(t.Role), Valid: t.Valid, InvalidReason: t.InvalidReason, InvalidCode: t.InvalidCode,
			Throughput: t.ThroughputPerSecond,
			P50:        shownLatency(g.latencyMode, ofP50)(t),
			P99:        shownLatency(g.latencyMode, ofP99)(t),
			ClosedP99:  shownLatency(journal.ModeClosed, ofP99)(t),
			Judged:     g.judgedIfValid(t),
			Late:       t.Valid && contest.Late(t),
			Missed:     t.Missed(),
			Metrics:    plainMetrics(t.Metrics),
		})
	}
	sorting.Stable(result.Points, func(a, b Point) int { return cmp.Compare(a.Block, b.Block) })
	return result
}

// peakMemory is the median of a setting's trials, or where the plan limits it the most of any, which
// is what the limit is held against.
func (g *group) peakMemory(a journal.Setting, measured []*journal.Trial) *float64 {
	if peak, judged := g.Peak[a.Key()]; judged {
		return new(float64(peak))
	}
	return contest.Median(measured, func(t *journal.Trial) *float64 { return part(t.PeakMemory(), toFloat[int64]) })
}

func ofP50(l *journal.Latency) *float64 { return l.P50 }
func ofP99(l *journal.Latency) *float64 { return l.P99 }

// shownLatency is a latency of the loop that the group displays: the judged one, or
// where there is none that of the closed loop.
func shownLatency(mode journal.Mode, of func(*journal.Latency) *float64) figure {
	return func(t *journal.Trial) *float64 {
		if mode == journal.ModeOpen {
			if t.LatencySeconds == nil {
				return nil
			}
			return of(t.LatencySeconds)
		}
		if p := t.Phase(mode); p != nil && p.LatencySeconds != nil {
			return of(p.LatencySeconds)
		}
		return nil
	}
}

// mostlySaturated is by majority of the valid trials: what was seen. What is concluded of it
// is the contest's.
func mostlySaturated(trials []*journal.Trial) bool {
	return contest.Most(trials, func(t *journal.Trial) bool { return t.Saturated })
}

func invalidReasons(trials []*journal.Trial) []ReasonCount {
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

func plainMetrics(of map[string]journal.Metric) map[string]float64 {
	if len(of) == 0 {
		return nil
	}
	list := map[string]float64{}
	for name, m := range of {
		list[name] = m.Value
	}
	return list
}

func metricIntervals(trials []*journal.Trial) map[string]MetricInterval {
	all := map[string]MetricInterval{}
	for _, t := range trials {
		for name, m := range t.Metrics {
			if _, done := all[name]; done || !t.Valid {
				continue
			}
			all[name] = MetricInterval{stat.Median(contest.Figures(trials, metricOf(name))), m.Unit, m.Better}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// judgedIfValid is that of a valid trial, as JSON can hold it.
func (g *group) judgedIfValid(t *journal.Trial) *float64 {
	if x := g.Latency.Of(t); t.Valid && x != nil && *x > 0 && !math.IsInf(*x, 1) {
		return x
	}
	return nil
}

// quantiles gives a row its p50 and p99 from the trials that its judged latency is of, so
// that all are of the same requests: medians, but no p50 is above the level of a judged p90, nor
// a p99 below it.
func (g *group) quantiles(row *Row, v *contest.Value) {
	trials := slices.DeleteFunc(slices.Clone(v.Trials), func(t *journal.Trial) bool { return t.Saturated || g.judgedIfValid(t) == nil })
	of := func(quantile float64, f func(*journal.Latency) *float64) stat.Interval {
		if quantile == g.Latency.Quantile {
			return row.Judged
		}
		have := slices.DeleteFunc(slices.Clone(trials), func(t *journal.Trial) bool { return f(t.LatencySeconds) == nil })
		if len(have) == 0 {
			return stat.Interval{}
		}
		seen := stat.Median(contest.Figures(have, func(t *journal.Trial) *float64 { return f(t.LatencySeconds) }))
		if level := *row.Judged.Median; (quantile < g.Latency.Quantile) == (*seen.Median > level) {
			return seen.Scaled(level / *seen.Median)
		}
		return seen
	}
	row.P50 = of(0.5, ofP50)
	row.P99 = of(0.99, ofP99)
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
		list[i].P50, list[i].P99 = stat.Median(p50[list[i].Name]), stat.Median(p99[list[i].Name])
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

// summary is a group's settings by themselves, and what ran next to them.
func (g *group) summary(settings []Row) Group {
	result := Group{
		Replicas: g.Group.Replicas, GoVersion: g.Group.GoVersion, Origin: g.origin, EffectiveCPUs: g.effective, LimitAround: limitAround(g.all(g.Current())),
		ThroughputUnit: g.unit(), LatencyMode: string(g.latencyMode), RatePerSecond: g.rate,
		Latency: g.Latency, Values: []*contest.Value{}, Others: g.others,
		Settings: settings, Flatness: Flatness{WithinMargin: []string{}}, Race: g.took(), Override: g.overrides(),
	}
	if s := g.Sliced; s != nil && len(s.Values)+len(s.Why) > 0 {
		result.Sliced = s
	}
	result.Default = g.judgeDefault(settings, result.Override)
	if part := partOf(g.header, g.machine); part != nil && g.effective >= float64(part.CPUs) { // else a limit holds it, not the load
		result.Part = part
	}
	if g.Group.Limited {
		result.QuotaCPUs = new(g.Group.QuotaCPUs)
	}
	if result.Compares = g.Group.Compares; g.Group.Procs > 0 {
		result.Procs = new(g.Group.Procs)
	}
	for _, a := range g.Settings {
		result.Variables = slices.DeleteFunc(slices.Clone(a.Variables), func(v journal.Variable) bool { return v.Name == result.Compares })
	}
	return result
}

func limitAround(trials []*journal.Trial) (tightest *Limit) {
	for _, t := range trials {
		for _, l := range t.OuterLimits {
			if t.Role == journal.RoleMeasure && l.CPUs > 0 && (tightest == nil || l.CPUs < tightest.CPUs) {
				tightest = &Limit{CPUs: l.CPUs, Group: l.Group}
			}
		}
	}
	return tightest
}

// partOf is the target's part of a machine whose other CPUs the load has.
func partOf(h journal.Header, machine float64) *Part {
	if h.Load.Arranged() != journal.ArrangementApart {
		return nil
	}
	p := Part{CPUs: len(h.Target.Had()), Of: int(machine)}
	if p.CPUs <= 0 || p.CPUs >= p.Of {
		return nil
	}
	return &p
}
