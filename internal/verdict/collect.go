package verdict

import (
	"cmp"
	"maps"
	"math"
	"slices"

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
	for _, a := range h.Plan.Settings { // a group of which nothing was measured is named too
		if byGroup[a.Group()] == nil {
			find(a)
		}
	}
	for _, g := range groups {
		g.blocks = slices.Sorted(maps.Keys(blocks[g.key]))
		slices.SortStableFunc(g.settings, func(a, b *setting) int {
			return cmp.Or(cmp.Compare(a.key.Variant, b.key.Variant), cmp.Compare(a.key.Procs, b.key.Procs))
		})
	}
	return groups
}

// current is the settings that the group's verdict is about.
func (g *group) current() []*setting {
	return slices.DeleteFunc(slices.Clone(g.settings), func(a *setting) bool { return a.Variant != "" })
}

// figure reads one number off a trial; nil where it has none.
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

func (g *group) series(f figure, trials ...[]*journal.Trial) series {
	s, n := make(series, len(g.blocks)), make([]float64, len(g.blocks))
	for _, list := range trials {
		for _, t := range list {
			if x := f(t); t.Valid && x != nil && *x > 0 && !math.IsInf(*x, 1) {
				i, _ := slices.BinarySearch(g.blocks, t.Block)
				s[i] += math.Log(*x)
				n[i]++
			}
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

// median is that of the blocks' values, in the metric's own unit; NaN of none.
func (s series) median() float64 {
	x := slices.DeleteFunc(slices.Clone(s), math.IsNaN)
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	return math.Exp(median(x))
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
func (g *group) trials() (list []*journal.Trial) {
	for _, a := range g.current() {
		list = slices.Concat(list, a.measure, a.aa)
	}
	return list
}
