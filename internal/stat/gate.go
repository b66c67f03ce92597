package stat

import (
	"fmt"
	"math"
	"strings"

	"github.com/procfit/procfit/internal/journal"
)

// The kinds of gate, and the metrics that they check.
const (
	GateKindAgainst  = "against"
	GateKindBaseline = "baseline"

	MetricThroughput = "throughput"
	MetricP99        = "p99"
)

// gating gathers the checks of a gate. Spoiled says where the new program's trials
// are invalid and the old one's are not: that passes no gate.
type gating struct {
	Gate
	spoiled []string
}

func newGating(kind string) *gating { return &gating{Gate: Gate{Kind: kind, Checks: []GateCheck{}}} }

// GateAgainst compares each arm with the old command's arm of the same setting,
// block by block. The gate fails where the new one is proven worse by more than
// the margin, and by more than copies of one arm differ by. It passes when every
// check is judged and none has failed; else nobody can say.
func GateAgainst(h journal.Header, trials []journal.Trial) *Gate {
	gate := newGating(GateKindAgainst)
	trials, _ = once(trials)
	groups := collect(h, trials)
	for _, g := range groups {
		j := newJudge(h.Plan.Margin, h.Plan.MarginP99)
		j.noise(g)
		for _, a := range g.current() {
			old := g.variantOf(a)
			if old == nil {
				continue
			}
			label := a.Label
			if len(groups) > 1 {
				label += g.suffix()
			}
			gate.add(j, label, MetricThroughput, locate(g.series(throughputOf, a.measure).minus(g.series(throughputOf, old.measure))))
			if g.latencyMode() == journal.ModeOpen {
				gate.add(j, label, MetricP99, locate(g.series(p99Of, a.measure).minus(g.series(p99Of, old.measure))))
			}
			now, then := valid(a.measure), valid(old.measure)
			gate.validity(label, len(a.measure)-now, now, len(old.measure)-then, then, reasons(a.measure))
		}
	}
	return gate.conclude()
}

// variantOf is the old command's arm of the same setting.
func (g *group) variantOf(a *arm) *arm {
	for _, other := range g.arms {
		if other.Variant == against && other.key.procs == a.key.procs {
			return other
		}
	}
	return nil
}

// suffix tells the groups of one run apart.
func (g *group) suffix() string {
	text := ""
	if g.limited {
		text += ", quota " + cpus(g.quota)
	}
	if g.version != "" {
		text += ", Go " + g.version
	}
	return text
}

// add checks the new ÷ old of one arm in one metric.
func (gate *gating) add(j *judge, arm, metric string, e estimate) {
	c := GateCheck{Arm: arm, Metric: metric, Ratio: e.ratio(), Judged: e.n >= minPairs}
	less, floor, word := -e.mid, j.floor, change
	limit, best, worst := j.margin, -e.upper, -e.lower
	c.Margin = -math.Expm1(-j.margin)
	copies := -math.Expm1(-floor)
	if metric == MetricP99 {
		less, floor, word = e.mid, j.floorP99, shift
		limit, best, worst = j.marginP99, e.lower, e.upper
		c.Margin = math.Expm1(j.marginP99)
		copies = expm1(floor)
	}
	// best and worst are the ends of the loss that the blocks leave open.
	c.Worse = c.Judged && best > limit && less > floor
	c.Proven = c.Judged && worst < limit
	switch {
	case !c.Judged:
		c.Note = "cannot be judged: " + tooFew(e.n)
	case c.Worse:
		c.Note = fmt.Sprintf("%s, proven worse than the margin of %s (n %d)", word(e.mid), percent(c.Margin), e.n)
	case c.Proven:
		c.Note = fmt.Sprintf("%s, proven within the margin of %s (n %d)", word(e.mid), percent(c.Margin), e.n)
	case best > limit:
		c.Note = fmt.Sprintf("cannot tell: %s, but copies of one arm differ by up to %s (n %d)", word(e.mid), percent(copies), e.n)
	default:
		c.Note = fmt.Sprintf("cannot tell: %s, neither worse nor within the margin of %s with confidence (n %d); more --repeats would", word(e.mid), percent(c.Margin), e.n)
	}
	gate.Checks = append(gate.Checks, c)
}

// tooFew says why so many pairs judge nothing.
func tooFew(pairs int) string {
	if pairs == 0 {
		return "no block has a valid trial of both"
	}
	return fmt.Sprintf("only %s with a valid trial of both, and it takes %d", plural(pairs, "block"), minPairs)
}

// validity looks for a new program that fails where the old one does not, or
// clearly more often: comparing the trials in which it did not would be comparing
// its good days.
func (gate *gating) validity(arm string, bad, good, oldBad, oldGood int, why []ReasonCount) {
	if bad == 0 || oldBad > 0 && moreOften(bad, good, oldBad, oldGood) > 0.05 || oldBad+oldGood == 0 {
		return
	}
	gate.spoiled = append(gate.spoiled, fmt.Sprintf("%d of %s of the new one invalid at %s, of the old one %d of %d: %s",
		bad, plural(bad+good, "trial"), arm, oldBad, oldBad+oldGood, why[0].Reason))
}

// moreOften is the probability of so many of the bad ones among the new, were they
// no likelier there (Fisher's exact test, one-sided).
func moreOften(bad, good, oldBad, oldGood int) float64 {
	all, n, k := bad+good+oldBad+oldGood, bad+good, bad+oldBad
	p := 0.0
	for x := bad; x <= min(n, k); x++ {
		if k-x <= oldBad+oldGood {
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
	var causes []string
	of := map[string][]string{}
	for _, c := range gate.Checks {
		worse = worse || c.Worse
		if !c.Judged {
			cause := tooFew(c.Ratio.N)
			if of[cause] == nil {
				causes = append(causes, cause)
			}
			of[cause] = append(of[cause], c.Metric+" of "+c.Arm)
		}
	}
	why := gate.spoiled
	for _, cause := range causes {
		why = append(why, and(of[cause])+": "+cause)
	}
	if len(gate.Checks) == 0 {
		why = append(why, "no arm of the old command was planned")
	}
	gate.Pass = !worse && len(why) == 0
	if !worse {
		gate.Unjudged = strings.Join(why, "; ")
	}
	return &gate.Gate
}
