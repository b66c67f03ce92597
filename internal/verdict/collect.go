package verdict

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// setting is a setting with its trials, in the journal's order.
type setting struct {
	journal.Setting
	key     journal.SettingKey
	measure []*journal.Trial
	aa      []*journal.Trial
	// withheld: other programs left it too few CPUs
	withheld bool
}

// group is the settings that are compared, unset first, then by procs; the old
// command's settings come after them.
type group struct {
	key      journal.GroupKey
	settings []*setting
	blocks   []int // that any trial belongs to, sorted
	contest  contest.Contest
}

// collect sorts a journal's trials into groups, in the plan's order. Pilots are
// left out: they choose a rate and compare nothing.
func collect(h journal.Header, trials []journal.Trial) []*group {
	var groups []*group
	byGroup := map[journal.GroupKey]*group{}
	bySetting := map[journal.SettingKey]*setting{}
	find := func(a journal.Setting) *setting {
		k := a.Key()
		if found := bySetting[k]; found != nil {
			return found
		}
		g := byGroup[k.Group]
		if g == nil {
			g = &group{key: k.Group}
			byGroup[k.Group] = g
			groups = append(groups, g)
		}
		bySetting[k] = &setting{Setting: a, key: k}
		g.settings = append(g.settings, bySetting[k])
		return bySetting[k]
	}
	for _, a := range h.Plan.Settings {
		if !h.Plan.Racing() { // of a race it is all that may be measured
			find(a)
		}
	}
	blocks := map[journal.GroupKey]map[int]bool{}
	for i := range trials {
		t := &trials[i]
		if t.Role != journal.RoleMeasure && t.Role != journal.RoleAA {
			continue
		}
		a := find(t.Setting)
		if t.Role == journal.RoleMeasure {
			a.measure = append(a.measure, t)
		} else {
			a.aa = append(a.aa, t)
		}
		if blocks[a.key.Group] == nil {
			blocks[a.key.Group] = map[int]bool{}
		}
		blocks[a.key.Group][t.Block] = true
	}
	for _, a := range h.Plan.Settings { // a group without a trial is named too
		if byGroup[a.Group()] == nil {
			find(a)
		}
	}
	for _, g := range groups {
		g.blocks = slices.Sorted(maps.Keys(blocks[g.key]))
		sorting.Stable(g.settings, func(a, b *setting) int {
			return cmp.Or(cmp.Compare(a.key.Variant, b.key.Variant), cmp.Compare(a.key.Procs, b.key.Procs))
		})
	}
	return groups
}

// current is the settings that the group's verdict is about.
func (g *group) current() []*setting {
	return slices.DeleteFunc(slices.Clone(g.settings), func(a *setting) bool { return a.Variant != "" })
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

func valid(trials []*journal.Trial) int {
	n := 0
	for _, t := range trials {
		if t.Valid {
			n++
		}
	}
	return n
}

// trials are those of the group's current settings, in the journal's order of each.
func (g *group) trials() []*journal.Trial { return trialsOf(g.current()) }

// trialsOf are all trials of settings, both copies of an A/A pair.
func trialsOf(settings []*setting) (list []*journal.Trial) {
	for _, a := range settings {
		list = append(append(list, a.measure...), a.aa...)
	}
	return list
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
func measuredIn(settings []*setting) iter.Seq[*journal.Trial] {
	return func(yield func(*journal.Trial) bool) {
		for _, a := range settings {
			for _, t := range a.measure {
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
func Proportion(k, n int) Interval {
	if n <= 0 || k < 0 || k > n {
		return Interval{}
	}
	low, high := 0.0, 1.0
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(0.025)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.975)
	}
	return Interval{Median: new(float64(k) / float64(n)), Low: &low, High: &high, N: n}
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
func (g *group) took(h journal.Header) *Raced {
	if !h.Plan.Racing() {
		return nil
	}
	r := &Raced{Blocks: len(g.blocks), Measured: []int{}}
	for _, a := range g.current() {
		all := trialsOf([]*setting{a})
		r.Trials += len(all)
		p, _ := contest.Resolved(all)
		if p == 0 && a.Procs != nil { // a value that cannot be read is the one that was asked for
			p = *a.Procs
		}
		if p > 0 && valid(a.measure) > 0 {
			r.Measured = append(r.Measured, p)
		}
	}
	slices.Sort(r.Measured)
	r.Measured = slices.Compact(r.Measured)
	var candidates []int
	for _, a := range h.Plan.Settings {
		if a.Group() == g.key && a.Procs != nil && a.Variant == "" && !slices.Contains(candidates, *a.Procs) {
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
