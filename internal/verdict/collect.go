package verdict

import (
	"iter"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// group is the contest of a group's settings, with what was found of them before anything
// is compared.
type group struct {
	*contest.Contest
	header journal.Header
	blocks []int // that any trial belongs to, sorted
	origin journal.Origin
	// machine and effective are the CPUs of the machine, and those that one replica may use.
	machine, effective float64
	latencyMode        journal.Mode
	rate               *float64 // of the open loop; nil without one
	spread             Spread
	others             OtherPrograms
	pilotsInvalid      bool // some pilot was, of whichever group
}

func newGroup(counted *contest.Counted, key journal.GroupKey) *group {
	g := &group{Contest: counted.Contest(key), header: counted.Header}
	all := g.all(g.Settings)
	for _, t := range all {
		g.blocks = append(g.blocks, t.Block)
	}
	slices.Sort(g.blocks)
	g.blocks = slices.Compact(g.blocks)
	current := g.all(g.Current())
	g.origin = originOf(all)
	g.machine, g.effective = contest.MachineCPUs(g.header, current), contest.EffectiveCPUs(g.header, key, current)
	g.latencyMode, g.rate = g.findLatencyMode(), g.findRate()
	g.spread = g.strays()
	g.others = g.otherPrograms()
	for i := range counted.Trials {
		t := &counted.Trials[i]
		g.pilotsInvalid = g.pilotsInvalid || t.Role == journal.RolePilot && !t.Valid
	}
	return g
}

// all are all trials of settings, both copies of an A/A pair.
func (g *group) all(settings []journal.Setting) (list []*journal.Trial) {
	for _, a := range settings {
		list = append(list, g.Trials(a)...)
	}
	return list
}

// figure reads one number off a trial; nil where there is no such number.
type figure func(*journal.Trial) *float64

func throughputOf(t *journal.Trial) *float64 { return t.ThroughputPerSecond }

func p99Of(t *journal.Trial) *float64 {
	if t.LatencySeconds == nil {
		return nil
	}
	return t.LatencySeconds.P99
}

// series is the logarithm of a metric by block, in the order of group.blocks;
// NaN where no valid trial has one. Of several trials it is the mean.
type series []float64

func (g *group) series(f figure, trials []*journal.Trial) series {
	s, n := make(series, len(g.blocks)), make([]float64, len(g.blocks))
	for _, t := range trials {
		if x := f(t); t.Valid && x != nil && *x > 0 && !math.IsInf(*x, 1) {
			i, _ := slices.BinarySearch(g.blocks, t.Block)
			s[i] += math.Log(*x)
			n[i]++
		}
	}
	for i := range s {
		s[i] /= n[i] // 0/0 is NaN
	}
	return s
}

// minus is the differences of the blocks that both have.
func (s series) minus(other series) []float64 {
	var d []float64
	for i := range s {
		if x := s[i] - other[i]; !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	return d
}

// values are a metric's numbers over the valid trials.
func values(trials []*journal.Trial, f figure) []float64 {
	var v []float64
	for _, t := range trials {
		if x := f(t); t.Valid && x != nil && !math.IsNaN(*x) && !math.IsInf(*x, 0) {
			v = append(v, *x)
		}
	}
	return v
}

// crashesFrom is the lowest value at which the program crashed or failed, if it did so in
// two trials at least, and in none of three or more with a lower value; else 0.
func crashesFrom(trials []*journal.Trial) int {
	crashed, lowest := 0, math.MaxInt
	for _, t := range trials {
		if p := t.Setting.Procs; p != nil && (t.InvalidCode == journal.InvalidCrashed || t.InvalidCode == journal.InvalidExit) {
			crashed++
			lowest = min(lowest, *p)
		}
	}
	ran := 0
	for _, t := range trials {
		if p := t.Setting.Procs; p != nil && *p < lowest && t.Valid {
			ran++
		}
	}
	if crashed < 2 || ran < 3 {
		return 0
	}
	return lowest
}

// measuredIn are the trials of settings without second copies.
func (g *group) measuredIn(settings []journal.Setting) iter.Seq[*journal.Trial] {
	return func(yield func(*journal.Trial) bool) {
		for _, a := range settings {
			for _, t := range g.Measured(a) {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// Trials are some of a journal's, in its order.
type Trials []*journal.Trial

// Select is a journal's measured trials, both copies of an A/A pair, invalid ones too.
// Pilots are skipped.
func Select(trials []journal.Trial) Trials {
	var list Trials
	for i := range trials {
		if trials[i].Role != journal.RolePilot {
			list = append(list, &trials[i])
		}
	}
	return list
}

// Of is those of one setting, whatever its label.
func (t Trials) Of(key journal.SettingKey) Trials {
	return t.Where(func(x *journal.Trial) bool { return x.Setting.Key() == key })
}

// Where is those that meet a condition.
func (t Trials) Where(meets func(*journal.Trial) bool) Trials {
	return slices.DeleteFunc(slices.Clone(t), func(x *journal.Trial) bool { return !meets(x) })
}

// ByBlock is a metric of the valid trials, by block, as [Paired] takes it. A metric
// reads one number off a trial; nil where there is no such number.
func (t Trials) ByBlock(figure func(*journal.Trial) *float64) map[int][]float64 {
	values := map[int][]float64{}
	for _, x := range t {
		if v := figure(x); x.Valid && v != nil {
			values[x.Block] = append(values[x.Block], *v)
		}
	}
	return values
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

// Failed returns the last trial of a sweep that has no verdict, since its target ran in
// none of the trials that count. It returns nil if there is something to compare, or if
// nothing has failed yet.
func Failed(trials []journal.Trial) *journal.Trial {
	ran := func(t journal.Trial) bool {
		return t.Role != journal.RolePilot && (t.Valid || !t.InvalidCode.NoTarget())
	}
	if len(trials) == 0 || slices.ContainsFunc(trials, ran) {
		return nil
	}
	if last := &trials[len(trials)-1]; !last.Valid && last.InvalidCode.NoTarget() {
		return last
	}
	return nil
}

// Raced is what a race took in a group.
type Raced struct {
	Trials     int // invalid ones too
	Blocks     int
	Measured   []int // values, ascending
	Candidates int   // values that it could choose from
	// Stop is why it ended: goal, limit or time, futile (one value is likely, and none can
	// be proven with the trials left) or nothing (no value can be measured); empty where it
	// did not.
	Stop string
}

// took counts a group's race; nil of a grid.
func (g *group) took() *Raced {
	if !g.header.Plan.Racing() {
		return nil
	}
	r := &Raced{Blocks: len(g.blocks), Measured: []int{}}
	for _, a := range g.Current() {
		all := g.Trials(a)
		r.Trials += len(all)
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

// raced reports whether a race came to its end in each group.
func (r *Result) raced(counted *contest.Counted) {
	if !r.Plan.Racing() {
		return
	}
	r.TrialsPlanned = max(r.Plan.MaxTrials, r.TrialsRun+r.PilotsRun)
	ends := counted.Ends()
	for _, g := range slices.Concat(r.Groups, r.Compared) {
		g.Race.Stop = string(ends[g.key()])
	}
	r.Complete = len(counted.Contests()) == len(ends)
}
