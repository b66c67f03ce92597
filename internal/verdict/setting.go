package verdict

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// setting is the arms that ran with one number of Ps. The unset arm shares the
// setting of the numbered arm whose value its default chose, and an A/A arm's
// second copy that of its first: copies of one thing are not compared, their
// trials are averaged block by block, which halves the noise of that setting or
// better.
type setting struct {
	procs      int // 0: the unset arm alone, whose value is not known
	arms       []*arm
	label      string // of the numbered arm, or unset
	isDefault  bool   // holds the unset arm
	throughput series
	p99        series
	// level is what the contest makes of it; rate and tail are its means of throughput
	// and of the judged latency, as tables have them: NaN where there is none.
	level      race.Level
	p99Trials  int // whose latency is compared
	rate, tail float64
	saturated  bool // proven not to carry the common rate
}

// settings are those of the group's current arms that have a valid trial, by procs, as
// the contest compares them. Unplaced is the unset arm where it takes no part: its value
// could not be read, or it is proven not to perform as the numbered arm of its value.
// Withheld are those that other programs left too few CPUs.
func (g *group) settings(j *margins) *outcome {
	byValue := map[int][]*arm{}
	var unset *arm
	for _, a := range g.current() {
		switch {
		case valid(a.measure) == 0:
		case a.Procs != nil:
			byValue[*a.Procs] = append([]*arm{a}, byValue[*a.Procs]...)
		case g.contest.Unset == contest.PartPooled:
			byValue[g.contest.Default] = append(byValue[g.contest.Default], a)
		default:
			unset = a
		}
	}
	var list, without []*setting
	for _, procs := range slices.Sorted(maps.Keys(byValue)) {
		s := g.setting(procs, byValue[procs]...)
		if slices.ContainsFunc(s.arms, func(a *arm) bool { return a.withheld }) {
			without = append(without, s)
			s.take(g.contest.Only(s.keys()...))
			continue
		}
		list = append(list, s)
		s.take(g.contest)
	}
	var unplaced *setting
	if unset != nil {
		unplaced = g.setting(0, unset)
		unplaced.take(g.contest.Only(unset.key))
		if g.contest.Unset == contest.PartDiffers {
			unplaced.procs = g.contest.Default
		}
		if unset.withheld {
			unplaced, without = nil, append(without, unplaced)
		}
	}
	w := newOutcome(j, g.contest, list, unplaced)
	w.withheld = without
	return w
}

func (s *setting) keys() (keys []journal.ArmKey) {
	for _, a := range s.arms {
		keys = append(keys, a.key)
	}
	return keys
}

// take gives the setting what the contest found of it.
func (s *setting) take(c contest.Contest) {
	value := max(1, cmp.Or(s.procs, c.Default)) // one that is not known stands alone
	s.level, s.p99Trials = c.Level(value), c.P99Trials(value)
	s.rate, s.tail, s.saturated = math.NaN(), math.NaN(), s.level.Saturated
	if l := s.levelOf(MetricThroughput); l.Mean != nil {
		s.rate = *l.Mean
	}
	if l := s.levelOf(MetricP99); l.Mean != nil {
		s.tail = *l.Mean
	}
}

func (g *group) setting(procs int, arms ...*arm) *setting {
	s := &setting{procs: procs, arms: arms, label: arms[0].Label}
	var all [][]*journal.Trial
	for _, a := range arms {
		all = append(all, a.measure, a.aa)
		s.isDefault = s.isDefault || a.Procs == nil
	}
	s.throughput, s.p99 = g.series(throughputOf, all...), g.series(g.contest.Latency.Of, all...)
	s.rate, s.tail = math.NaN(), math.NaN()
	return s
}

// firstMedian is that of the first arm that has any value.
func firstMedian(arms []*arm, f figure) float64 {
	for _, a := range arms {
		if v := values(a.measure, f); len(v) > 0 {
			return medianFloat(v)
		}
	}
	return math.NaN()
}

// byDefault is the unset arm; nil when the setting does not hold it.
func (s *setting) byDefault() *arm {
	for _, a := range s.arms {
		if a.Procs == nil {
			return a
		}
	}
	return nil
}

// hasP99 says whether the setting's latency may be judged.
func (s *setting) hasP99() bool { return !math.IsNaN(s.tail) }

// named is the setting as reasons speak of it.
func (s *setting) named() *Setting {
	n := &Setting{Arm: s.label, Procs: s.procs, Unset: s.arms[0].Procs == nil, Default: s.isDefault}
	if !math.IsNaN(s.rate) {
		n.Throughput = new(s.rate)
	}
	if s.hasP99() {
		n.P99 = new(s.tail)
	}
	return n
}

func namedAll(list []*setting) []Setting {
	var all []Setting
	for _, s := range list {
		all = append(all, *s.named())
	}
	return all
}
