package stat

import (
	"math"

	"github.com/procfit/procfit/internal/journal"
)

// gating gathers the checks of a gate. Spoiled says where the new program's trials
// are invalid and the old one's are not: that passes no gate.
type gating struct {
	Gate
	spoiled []Unjudged
}

func newGating(kind string) *gating { return &gating{Gate: Gate{Kind: kind, Checks: []GateCheck{}}} }

// GateAgainst compares each arm with the old command's arm of the same setting,
// block by block. The gate fails where the new one is proven worse by more than
// the margin, and by more than copies of one arm differ by. It passes when every
// check is judged and none has failed; else nobody can say. Other programs withhold
// no check: what they take, they take from the two alike, which ran side by side.
func GateAgainst(h journal.Header, trials []journal.Trial) *Gate {
	gate := newGating(GateKindAgainst)
	trials, _ = once(trials)
	oneUnit(h, trials)
	groups := collect(h, trials)
	for _, g := range groups {
		j := newJudge(h.Plan.Margin, h.Plan.MarginP99)
		j.noise(g)
		for _, a := range g.current() {
			old := g.variantOf(a)
			if old == nil {
				continue
			}
			label := GateArm{Label: a.Label}
			if len(groups) > 1 {
				label = label.in(a.key.Group)
			}
			gate.add(j, label, MetricThroughput, locate(g.series(throughputOf, a.measure).minus(g.series(throughputOf, old.measure))))
			if g.latencyMode() == journal.ModeOpen {
				gate.add(j, label, MetricP99, locate(g.series(p99Of, a.measure).minus(g.series(p99Of, old.measure))))
			}
			gate.validity(label, tallyOf(a.measure), tallyOf(old.measure))
		}
	}
	return gate.conclude()
}

// variantOf is the old command's arm of the same setting.
func (g *group) variantOf(a *arm) *arm {
	for _, other := range g.arms {
		if other.Variant == journal.VariantAgainst && other.key.Procs == a.key.Procs {
			return other
		}
	}
	return nil
}

// in is the arm with what sets its group apart.
func (a GateArm) in(k journal.GroupKey) GateArm {
	if a.GoVersion = k.GoVersion; k.Limited {
		a.QuotaCPUs = new(k.QuotaCPUs)
	}
	return a
}

// add checks the new ÷ old of one arm in one metric.
func (gate *gating) add(j *judge, arm GateArm, metric string, e estimate) {
	c := GateCheck{Arm: arm, Metric: metric, Ratio: e.ratio(), Judged: e.n >= minPairs}
	less, floor := -e.mid, j.floor
	limit, best, worst := j.margin, -e.upper, -e.lower
	c.Margin = -math.Expm1(-j.margin)
	c.Noise = -math.Expm1(-floor)
	if metric == MetricP99 {
		less, floor = e.mid, j.floorP99
		limit, best, worst = j.marginP99, e.lower, e.upper
		c.Margin = math.Expm1(j.marginP99)
		c.Noise = expm1(floor)
	}
	// best and worst are the ends of the loss that the blocks leave open.
	c.Worse = c.Judged && best > limit && less > floor
	c.Proven = c.Judged && worst < limit
	switch {
	case !c.Judged:
		c.Outcome = OutcomeNotJudged
	case c.Worse:
		c.Outcome = OutcomeWorse
	case c.Proven:
		c.Outcome = OutcomeWithin
	case best > limit:
		c.Outcome = OutcomeNoise
	default:
		c.Outcome = OutcomeOpen
	}
	gate.Checks = append(gate.Checks, c)
}

// withhold is for an arm that other programs left too few CPUs.
func (gate *gating) withhold(arm GateArm) {
	gate.spoiled = append(gate.spoiled, Unjudged{Code: UnjudgedWithheld, Arm: arm})
}

// validity looks for a new program that fails where the old one does not, or
// clearly more often: comparing the trials in which it did not would be comparing
// its good days.
func (gate *gating) validity(arm GateArm, now, then tally) {
	if now.bad == 0 || then.bad > 0 && moreOften(now, then) > 0.05 || then.of() == 0 {
		return
	}
	gate.spoiled = append(gate.spoiled, Unjudged{
		Code: UnjudgedSpoiled, Arm: arm, Bad: now.bad, Of: now.of(), OldBad: then.bad, OldOf: then.of(), Reason: now.why[0].Reason,
	})
}

// tally is how many trials of an arm are invalid, and why.
type tally struct {
	bad, good int
	why       []ReasonCount
}

func (t tally) of() int { return t.bad + t.good }

func tallyOf(trials []*journal.Trial) tally {
	return tally{len(trials) - valid(trials), valid(trials), reasons(trials)}
}

// moreOften is the probability of so many of the bad ones among the new, were they
// no likelier there (Fisher's exact test, one-sided).
func moreOften(now, then tally) float64 {
	all, n, k := now.of()+then.of(), now.of(), now.bad+then.bad
	p := 0.0
	for x := now.bad; x <= min(n, k); x++ {
		if k-x <= then.of() {
			p += math.Exp(logChoose(n, x) + logChoose(all-n, k-x) - logChoose(all, k))
		}
	}
	return p
}

func logChoose(n, k int) float64 {
	l := func(x int) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
	return l(n) - l(k) - l(n-k)
}

// conclude makes one answer of the checks: a proven loss fails whatever else is
// open.
func (gate *gating) conclude() *Gate {
	worse := false
	why := gate.spoiled
	for _, c := range gate.Checks {
		worse = worse || c.Worse
		if c.Judged {
			continue
		}
		at := len(why)
		for i := range why {
			if why[i].Code == UnjudgedTooFew && why[i].Pairs == c.Ratio.N {
				at = i
			}
		}
		if at == len(why) {
			why = append(why, Unjudged{Code: UnjudgedTooFew, Pairs: c.Ratio.N})
		}
		why[at].Checks = append(why[at].Checks, c)
	}
	if len(gate.Checks) == 0 && len(why) == 0 {
		why = append(why, Unjudged{Code: UnjudgedNoArm})
	}
	gate.Pass = !worse && len(why) == 0
	if !worse {
		gate.Unjudged = why
	}
	return &gate.Gate
}
