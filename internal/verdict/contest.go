package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// held is what package race makes of a group's trials: one model, from which the
// pick, the peak and every difference come, so that a plan and a verdict cannot differ.
type held struct {
	race.Assessment
	rules  race.Rules
	trials []race.Trial
	levels map[int]race.Level
	p99    map[int]int // trials with a latency that is compared, by value
	values int         // that have a figure
}

// hold runs the contest of settings whose value is known.
func (g *group) hold(h journal.Header, settings []*setting) *held {
	c := &held{rules: g.rules(h, settings), levels: map[int]race.Level{}, p99: map[int]int{}}
	var trials []race.Trial
	for _, s := range settings {
		for _, a := range s.arms {
			for _, t := range slices.Concat(a.measure, a.aa) {
				if t.InvalidCode == journal.InvalidCrowded {
					continue // its setting has not failed
				}
				one := g.raced(max(1, s.procs), a, t)
				one.Node = h.Plan.Lane(t.Block)
				trials = append(trials, one)
			}
		}
	}
	c.Assessment = race.Assess(c.rules, trials)
	if c.Copies.Apart && math.Abs(math.Log(c.Copies.Ratio)) <= loss(c.rules.Margin) {
		// Proven to differ, and by no more than what does not matter: one setting.
		for i := range trials {
			trials[i].Unset = false
		}
		c.Assessment = race.Assess(c.rules, trials)
	}
	c.trials = trials
	for _, t := range trials {
		if !t.Failed && !t.Saturated && t.P99 > 0 {
			c.p99[t.Value]++
		}
	}
	for _, l := range c.Levels {
		c.levels[l.Value] = l
	}
	c.values = len(c.levels)
	return c
}

// rules are those that the plan was made by, for the settings that are compared.
func (g *group) rules(h journal.Header, settings []*setting) race.Rules {
	r := contest.Rules(h, g.key, g.trials(), g.latency)
	for _, s := range settings {
		r.Values = append(r.Values, s.procs)
		if s.isDefault {
			r.Default = s.procs
		}
	}
	return r
}

// trials are those of the group's current arms, in the journal's order of each.
func (g *group) trials() (list []*journal.Trial) {
	for _, a := range g.current() {
		list = slices.Concat(list, a.measure, a.aa)
	}
	return list
}

// raced is a trial as package race takes it.
func (g *group) raced(procs int, a *arm, t *journal.Trial) race.Trial {
	r := g.latency.Figures(t)
	r.Value, r.Unset, r.Block = procs, a.Procs == nil, t.Block
	return r
}

// bounds are where a ratio lies, in logarithms: 0 is no difference.
type bounds struct {
	n   int // trials of the side that has fewer; 0: the two cannot be compared
	mid float64
	// lower and upper are one-sided bounds of 95 % each, which tell whether something
	// is as good; least and most share their error among all that is compared with
	// the best, and tell whether something is worse.
	lower, upper, least, most float64
}

// between is a ÷ b in a metric.
func (c *held) between(a, b *setting, metric string) bounds {
	figure, n := race.Throughput, min(c.levels[a.procs].Trials, c.levels[b.procs].Trials)
	if metric == MetricP99 {
		figure, n = race.P99, min(c.p99[a.procs], c.p99[b.procs])
	}
	e := bounds{n: n, lower: math.Inf(-1), upper: math.Inf(1), least: math.Inf(-1), most: math.Inf(1)}
	if n == 0 || a == b {
		return e
	}
	ratio, low, high := c.Model.Ratio(a.procs, b.procs, figure, oneSided(singly))
	_, least, most := c.Model.Ratio(a.procs, b.procs, figure, oneSided(c.shared()))
	if e.mid = math.Log(ratio); math.IsNaN(e.mid) || math.IsInf(e.mid, 0) {
		return bounds{lower: e.lower, upper: e.upper, least: e.least, most: e.most}
	}
	if n < fewestProve {
		return e
	}
	e.lower, e.upper = math.Log(low), math.Log(high)
	if n >= fewestClaim {
		e.least, e.most = math.Log(least), math.Log(most)
	}
	return e
}

// singly is the confidence of a bound that must hold together with all others of its
// claim: then each may have it whole.
const singly = 0.95

// How many trials of each side prove that something is as good, and that it is worse;
// and how often a claim of the second kind may be false, which is looked at again and
// again: as package race has them.
const (
	fewestProve = 2
	fewestClaim = 3
	claimError  = 0.01
)

// shared is the confidence of a bound of which one may be picked out: in two metrics,
// against each other value.
func (c *held) shared() float64 { return 1 - claimError/float64(2*max(1, c.values-1)) }

// oneSided is the confidence of an interval each end of which has that of p.
func oneSided(p float64) float64 { return 1 - 2*(1-p) }

// levelOf is a setting's level in a metric.
func (s *setting) levelOf(metric string) Level {
	l, x := s.level, race.Interval{}
	n := 0
	if metric == MetricThroughput {
		x, n = l.Throughput, l.Trials
	} else {
		x, n = l.P99, s.p99Trials
	}
	if n == 0 || !finitePositive(x.Mean) {
		return Level{}
	}
	out := Level{Mean: new(x.Mean), N: n}
	if n > 1 && finitePositive(x.Low) && finitePositive(x.High) {
		out.Low, out.High = new(x.Low), new(x.High)
	}
	return out
}

func finitePositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
