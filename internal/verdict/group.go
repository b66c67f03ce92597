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

// group is the contest of a group's settings, with what was found of them before anything
// is compared.
type group struct {
	*contest.Contest
	header journal.Header
	origin journal.Origin
	// machine and effective are the CPUs of the machine, and those that one replica may use.
	machine, effective float64
	latencyMode        journal.Mode
	rate               *float64 // of the open loop; nil without one
	spread             Spread
	others             OtherPrograms
	pilotsInvalid      bool    // some pilot was, of whichever group
	trialSeconds       float64 // of whichever group, the mean
}

func newGroup(counted *contest.Counted, key journal.GroupKey) *group {
	g := &group{Contest: counted.Contest(key), header: counted.Header, trialSeconds: counted.TrialSeconds()}
	all := g.all(g.Settings)
	current := g.all(g.Current())
	g.origin = originOf(all)
	g.machine, g.effective = contest.MachineCPUs(g.header, current), contest.EffectiveCPUs(g.header, key, current)
	g.latencyMode, g.rate = g.findLatencyMode(), g.findRate()
	g.spread = g.strays()
	g.others = g.otherPrograms()
	g.pilotsInvalid = slices.ContainsFunc(counted.Trials, func(t journal.Trial) bool { return t.Role == journal.RolePilot && !t.Valid })
	return g
}

// all are all trials of settings, both copies of an A/A pair.
func (g *group) all(settings []journal.Setting) (list []*journal.Trial) {
	for _, a := range settings {
		list = append(list, g.Trials(a)...)
	}
	return list
}

// figure reads one number off a trial; nil where it has none.
type figure func(*journal.Trial) *float64

func throughputOf(t *journal.Trial) *float64 { return t.ThroughputPerSecond }

// differences are those of a metric's logarithm between two lists of trials, in the blocks in
// which both have one. Of several trials in a block it is the mean.
func differences(f figure, a, b []*journal.Trial) []float64 {
	return stat.LogRatios(contest.ByBlock(a, f), contest.ByBlock(b, f))
}

// crashesFrom is the lowest value at which the program crashed or failed, if it did so in
// two trials at least, at the highest value too, and in none of three or more with a lower value; else 0.
func crashesFrom(trials []*journal.Trial) int {
	crashed, lowest, highest, top := 0, math.MaxInt, 0, 0
	for _, t := range trials {
		top = max(top, stat.OrZero(t.Setting.Procs))
		if p := t.Setting.Procs; p != nil && (t.InvalidCode == journal.InvalidCrashed || t.InvalidCode == journal.InvalidExit) {
			crashed++
			lowest, highest = min(lowest, *p), max(highest, *p)
		}
	}
	ran := contest.HowMany(trials, func(t *journal.Trial) bool {
		p := t.Setting.Procs
		return p != nil && *p < lowest && t.Valid
	})
	if crashed < 2 || ran < 3 || highest < top {
		return 0
	}
	return lowest
}

// measuredIn are the trials of settings without second copies.
func (g *group) measuredIn(settings []journal.Setting) (list []*journal.Trial) {
	for _, a := range settings {
		list = append(list, g.Measured(a)...)
	}
	return list
}

// strays is how far a trial does, as a ratio. One trial of each value does not show it:
// what a contest assumes before it has more is not reported.
func (g *group) strays() Spread {
	spread := g.Lead().Spread
	s := Spread{DF: int(spread.DF)}
	again := slices.ContainsFunc(g.Values, func(v *contest.Value) bool { return v.N > 1 })
	againP99 := slices.ContainsFunc(g.Values, func(v *contest.Value) bool { return v.P99.N > 1 })
	if x := spread.Throughput; again && x > 0 && !math.IsInf(x, 0) {
		s.Throughput = &x
	}
	if x := spread.P99; g.ByLatency && againP99 && x > 0 && !math.IsInf(x, 0) {
		s.P99 = &x
	}
	return s
}

// took counts a group's race; nil of a grid.
func (g *group) took() *Raced {
	if !g.header.Plan.Racing() {
		return nil
	}
	r := &Raced{Measured: []int{}, Trials: len(g.all(g.Settings))} // those of an old version too
	for _, a := range g.Current() {
		all := g.Trials(a)
		p, _ := contest.Resolved(all)
		if p == 0 && a.Procs != nil { // a value that cannot be read is the one that was asked for
			p = *a.Procs
		}
		if p > 0 && contest.Valid(g.Measured(a)) > 0 {
			r.Measured = append(r.Measured, p)
		}
	}
	slices.Sort(r.Measured)
	r.Measured = slices.Compact(r.Measured)
	var candidates []int
	for _, a := range g.header.Plan.Settings {
		if a.Group() == g.Group && a.Procs != nil && a.Variant == "" && !slices.Contains(candidates, *a.Procs) {
			candidates = append(candidates, *a.Procs)
		}
	}
	r.Candidates = len(candidates)
	return r
}

// findRate is the open loop's rate, as the first valid trial offered it. Within an objective each
// trial tried rates of its own.
func (g *group) findRate() *float64 {
	if g.header.Plan.SLO != nil {
		return nil
	}
	for _, t := range g.measuredIn(g.Settings) {
		if p := t.Phase(journal.ModeOpen); t.Valid && p != nil && p.RatePerSecond != nil {
			return p.RatePerSecond
		}
	}
	return nil
}

func (g *group) unit() string {
	for _, t := range g.measuredIn(g.Settings) {
		if t.Valid && t.ThroughputUnit != "" {
			return t.ThroughputUnit
		}
	}
	return ""
}

// anyLatency reports whether the latency of all valid trials is shown, where comparisons are of
// p99 and there is one value of a server that ran already. Which trials a late generator spoils
// is judged by the trial's own p99, so that those without them are the slowest: that is
// right between values, and no metric of one.
func (g *group) anyLatency() bool {
	return g.header.Target.Attached != nil && !g.header.Plan.SmallestFor && g.Latency.Quantile == 0.99 && len(g.Settings) == 1 && contest.Valid(g.all(g.Settings)) > 0
}

// findLatencyMode is the loop that shown takes; empty without any latency.
func (g *group) findLatencyMode() journal.Mode {
	mode := journal.Mode("")
	for _, t := range g.measuredIn(g.Settings) {
		if t.Valid && t.LatencySeconds != nil {
			return journal.ModeOpen
		}
		if p := t.Phase(journal.ModeClosed); t.Valid && p != nil && p.LatencySeconds != nil {
			mode = journal.ModeClosed
		}
	}
	return mode
}

// originOf is where trials came from; empty of none.
func originOf(trials []*journal.Trial) journal.Origin {
	var origin journal.Origin
	for _, t := range trials {
		switch of := t.Origin; {
		case of == "":
		case origin == "":
			origin = of
		case origin != of:
			return OriginMixed
		}
	}
	return origin
}

func (g *group) loadLimited() bool { return contest.Most(g.all(g.Settings), limitedByLoad) }

func allTrials(groups ...*group) []*journal.Trial {
	var all []*journal.Trial
	for _, g := range groups {
		all = append(all, g.all(g.Settings)...)
	}
	sorting.Stable(all, func(a, b *journal.Trial) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Order, b.Order))
	})
	return all
}

func limitedByLoad(t *journal.Trial) bool {
	if t.Load != nil && t.Load.ThreadBusiestRatio != nil && *t.Load.ThreadBusiestRatio >= loadLimitThread {
		return true
	}
	return slices.ContainsFunc(t.Warnings, func(w journal.Warning) bool { return w.Code == journal.WarnLoadLimited })
}

// Proportion is k of n with the exact 95% interval (Clopper and Pearson, Biometrika
// 1934); nothing of none.
func Proportion(k, n int) stat.Interval {
	if n <= 0 || k < 0 || k > n {
		return stat.Interval{}
	}
	low, high := 0.0, 1.0
	if k > 0 {
		low = stat.BetaQuantile(0.025, float64(k), float64(n-k+1))
	}
	if k < n {
		high = stat.BetaQuantile(0.975, float64(k+1), float64(n-k))
	}
	return stat.Interval{Median: new(float64(k) / float64(n)), Low: &low, High: &high, N: n}
}

// expm1 is a logarithm as a change of ratio, kept within what JSON can hold: two
// wild values have an interval beyond it.
func expm1(x float64) float64 { return math.Expm1(min(x, 700)) }
