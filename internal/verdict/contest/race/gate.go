package race

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/stat"
)

// Ruling is what a gate says of the pairs so far.
type Ruling string

const (
	Pass      Ruling = "pass"      // each figure is proven no worse by its margin
	Fail      Ruling = "fail"      // one is proven worse by more than its margin
	GoOn      Ruling = "go_on"     // measure another pair
	Undecided Ruling = "undecided" // no pairs are left, and neither is proven
)

// GateRules are what a program is held to against an old one.
type GateRules struct {
	Margin, MarginP99 float64 // as in Rules
	Latency           bool    // whether p99 is judged too
	MaxPairs          int     // 0: 40
}

// GatePair is the old and the new program, measured one after the other. A pair with
// an invalid trial carries no figures.
type GatePair struct{ Old, New Trial }

// GateCheck is one figure: the ratio of new to old with the interval that decides.
type GateCheck struct {
	By               Figure
	Ruling           Ruling
	Pairs            int // that carry the figure
	Ratio, Low, High float64
}

// Gate is a gate's ruling with what it rests on.
type Gate struct {
	Ruling Ruling
	Checks []GateCheck
}

// gatePairs is how many there are at most by default, fewestPairs how many before
// anything is reported: Student's t knows nothing of a machine's outliers.
const (
	gatePairs   = 40
	fewestPairs = 4
)

// SequentialGate judges the pairs so far. It may be asked after each pair: its
// intervals hold at all times together (a confidence sequence), at 95% for all
// checks, so that one look more costs nothing of what is promised.
func SequentialGate(r GateRules, pairs []GatePair) Gate {
	figures := []Figure{Throughput}
	if r.Latency {
		figures = append(figures, P99)
	}
	most := r.MaxPairs
	if most <= 0 {
		most = gatePairs
	}
	rules := Rules{Margin: r.Margin, MarginP99: r.MarginP99}
	g := Gate{Ruling: Pass}
	for _, by := range figures {
		c := check(pairs, by, rules.margin(by), (1-confidence)/float64(len(figures)))
		if c.Ruling == GoOn && len(pairs) >= most {
			c.Ruling = Undecided
		}
		g.Checks = append(g.Checks, c)
		if g.Ruling == Pass || c.Ruling == Fail {
			g.Ruling = c.Ruling
		}
	}
	return g
}

// Differences are ln(new ÷ old) of the pairs that carry the figure. Where one of the two
// did not carry the rate, its latency is the length of its queue, which says well enough
// that the other is better; where neither did, nothing is compared.
func Differences(pairs []GatePair, by Figure) (d []float64) {
	for _, p := range pairs {
		neither := p.Old.Saturated && p.New.Saturated
		p.Old.Saturated, p.New.Saturated = neither, neither
		before, ok := p.Old.log(by)
		after, ok2 := p.New.log(by)
		if ok && ok2 {
			d = append(d, after-before)
		}
	}
	return d
}

func check(pairs []GatePair, by Figure, margin, alpha float64) GateCheck {
	d := Differences(pairs, by)
	c := GateCheck{By: by, Ruling: GoOn, Pairs: len(d)}
	mean, radius := Sequence(d, alpha, SequenceTuned)
	if len(d) > 0 {
		c.Ratio, c.Low, c.High = math.Exp(mean), math.Exp(mean-radius), math.Exp(mean+radius)
	}
	if len(d) < fewestPairs || math.IsInf(radius, 1) {
		return c
	}
	if by == Throughput {
		mean = -mean // from here on larger is worse
	}
	switch {
	case mean+radius < margin:
		c.Ruling = Pass
	case mean-radius > margin:
		c.Ruling = Fail
	}
	return c
}

// SequenceTuned is the variance, in trials, of the mixture that a gate's sequence is made
// of: the interval is narrowest where about ten times as many were seen.
const SequenceTuned = 2.0

// Sequence is the mean with the radius of Student's t as a confidence sequence (Lai,
// On confidence sequences, 1976; Wang, Ramdas, Anytime-valid t-tests, 2024): of all
// intervals after 1, 2, 3 … differences, with probability 1-alpha none misses the
// truth, for normal differences of unknown variance. tuned is as SequenceTuned.
func Sequence(d []float64, alpha, tuned float64) (mean, radius float64) {
	n := float64(len(d))
	if n < 2 {
		return stat.Sum(d) / max(n, 1), math.Inf(1)
	}
	mean = stat.Sum(d) / n
	variance := stat.PopulationVariance(d)
	eta := math.Pow(alpha*alpha*tuned/(n+tuned), 1/n)
	left := eta*(n+tuned) - tuned
	if left <= 0 {
		return mean, math.Inf(1)
	}
	return mean, math.Sqrt((1 - eta) * (n + tuned) / left * variance)
}
