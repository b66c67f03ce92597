package stat

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/journal"
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
	// rate and tail are the medians that a table has of the arm that names the
	// setting; NaN where no block has a value to compare.
	rate, tail float64
	saturated  bool
}

// settings are those of the group's current arms that have a valid trial, by
// procs. Unplaced is the unset arm where it has no place in that order: its value
// could not be read, or it does not perform as the numbered arm of its value.
func (g *group) settings(j *judge) (ordered []*setting, unplaced *setting) {
	var unset *arm
	for _, a := range g.current() {
		switch {
		case valid(a.measure) == 0:
		case a.Procs == nil:
			unset = a
		default:
			ordered = append(ordered, g.setting(*a.Procs, a))
		}
	}
	if unset == nil {
		return ordered, nil
	}
	value, _ := resolved(slices.Concat(unset.measure, unset.aa))
	if value == nil {
		return ordered, g.setting(0, unset)
	}
	alone := g.setting(*value, unset)
	twin := slices.IndexFunc(ordered, func(s *setting) bool { return s.procs == *value })
	switch {
	case twin < 0:
		ordered = append(ordered, alone)
		slices.SortFunc(ordered, func(a, b *setting) int { return cmp.Compare(a.procs, b.procs) })
	case j.apart(alone, ordered[twin]):
		return ordered, alone
	default:
		ordered[twin] = g.setting(*value, ordered[twin].arms[0], unset)
	}
	return ordered, nil
}

func (g *group) setting(procs int, arms ...*arm) *setting {
	s := &setting{procs: procs, arms: arms, label: arms[0].Label}
	var measured, all [][]*journal.Trial
	for _, a := range arms {
		measured = append(measured, a.measure)
		all = append(all, a.measure, a.aa)
		s.isDefault = s.isDefault || a.Procs == nil
	}
	s.throughput, s.p99 = g.series(throughputOf, all...), g.series(p99Of, all...)
	s.rate, s.tail = math.NaN(), math.NaN()
	if s.throughput.known() {
		s.rate = firstMedian(arms, throughputOf)
	}
	if s.p99.known() {
		s.tail = firstMedian(arms, p99Of)
	}
	s.saturated = saturated(slices.Concat(measured...))
	return s
}

// perTail is throughput ÷ p99, block by block: what a setting gains on one is
// set against what it loses on the other.
func (s *setting) perTail() series {
	p := make(series, len(s.throughput))
	for i := range p {
		p[i] = s.throughput[i] - s.p99[i]
	}
	return p
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

// asDefault is the setting named by its unset arm.
func (s *setting) asDefault() *setting {
	a := s.byDefault()
	if a == nil {
		return s
	}
	c := *s
	if v := values(a.measure, throughputOf); len(v) > 0 {
		c.rate = medianFloat(v)
	}
	if v := values(a.measure, p99Of); len(v) > 0 {
		c.tail = medianFloat(v)
	}
	return &c
}

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
