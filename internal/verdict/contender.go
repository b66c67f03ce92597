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

// contender is all settings that ran with one number of Ps. The unset setting is part
// of the contender of the value that its default chose, and so is the second copy of an
// A/A setting: copies of one thing are not compared. Their trials are averaged block by
// block, which halves the noise or better.
type contender struct {
	procs      int // 0: the unset setting alone, whose value is not known
	settings   []*setting
	label      string // of the numbered setting, or unset
	isDefault  bool   // holds the unset setting
	throughput series
	p99        series
	// level is what the contest makes of it; rate and tail are its means of throughput
	// and of the judged latency, as tables have them: NaN where there is none.
	level      race.Level
	p99Trials  int // whose latency is compared
	rate, tail float64
	saturated  bool // proven not to carry the common rate
}

// contenders are those of the group's current settings that have a valid trial, by
// procs, as the contest compares them. Unplaced is the unset setting where it takes no part:
// its value could not be read, or it is proven not to perform as the numbered setting
// of its value. Withheld are those that other programs left too few CPUs.
func (g *group) contenders(j *margins) *outcome {
	byValue := map[int][]*setting{}
	var unset *setting
	for _, a := range g.current() {
		switch {
		case valid(a.measure) == 0, g.contest.TooLarge[a.key]:
		case a.Procs != nil:
			byValue[*a.Procs] = append([]*setting{a}, byValue[*a.Procs]...)
		case g.contest.Unset == contest.PartPooled:
			byValue[g.contest.Default] = append(byValue[g.contest.Default], a)
		default:
			unset = a
		}
	}
	var list, without []*contender
	for _, procs := range slices.Sorted(maps.Keys(byValue)) {
		s := g.contender(procs, byValue[procs]...)
		if slices.ContainsFunc(s.settings, func(a *setting) bool { return a.withheld }) {
			without = append(without, s)
			s.take(g.contest.Only(s.keys()...))
			continue
		}
		list = append(list, s)
		s.take(g.contest)
	}
	var unplaced *contender
	if unset != nil {
		unplaced = g.contender(0, unset)
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

func (s *contender) keys() (keys []journal.SettingKey) {
	for _, a := range s.settings {
		keys = append(keys, a.key)
	}
	return keys
}

// take gives the value what the contest found of it.
func (s *contender) take(c contest.Contest) {
	value := max(1, cmp.Or(s.procs, c.Default)) // one that is unknown is a contender of its own
	s.level, s.p99Trials = c.Level(value), c.P99Trials(value)
	s.rate, s.tail, s.saturated = math.NaN(), math.NaN(), s.level.Saturated
	if l := s.levelOf(MetricThroughput); l.Mean != nil {
		s.rate = *l.Mean
	}
	if l := s.levelOf(MetricP99); l.Mean != nil {
		s.tail = *l.Mean
	}
}

func (g *group) contender(procs int, settings ...*setting) *contender {
	s := &contender{procs: procs, settings: settings, label: settings[0].Label}
	for _, a := range settings {
		s.isDefault = s.isDefault || a.Procs == nil
	}
	all := trialsOf(settings)
	s.throughput, s.p99 = g.series(throughputOf, all), g.series(g.contest.Latency.Of, all)
	s.rate, s.tail = math.NaN(), math.NaN()
	return s
}

// firstMedian is that of the first setting that has any value.
func firstMedian(settings []*setting, f figure) float64 {
	for _, a := range settings {
		if v := values(a.measure, f); len(v) > 0 {
			return medianFloat(v)
		}
	}
	return math.NaN()
}

// byDefault is the unset setting; nil when the value does not hold it.
func (s *contender) byDefault() *setting {
	for _, a := range s.settings {
		if a.Procs == nil {
			return a
		}
	}
	return nil
}

// hasP99 reports whether the value's latency may be judged.
func (s *contender) hasP99() bool { return !math.IsNaN(s.tail) }

// named is the value as reasons speak of it.
func (s *contender) named() *Value {
	n := &Value{Setting: s.label, Procs: s.procs, Unset: s.settings[0].Procs == nil, Default: s.isDefault}
	if !math.IsNaN(s.rate) {
		n.Throughput = new(s.rate)
	}
	if s.hasP99() {
		n.P99 = new(s.tail)
	}
	return n
}

func namedAll(list []*contender) []Value {
	var all []Value
	for _, s := range list {
		all = append(all, *s.named())
	}
	return all
}
