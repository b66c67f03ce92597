package report

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// verdictName is a verdict as a label, and as what a sentence without a label before
// it begins with.
type verdictName struct {
	state         State
	label, prefix string
}

func nameOf(v stat.Verdict) verdictName {
	switch v {
	case stat.Recommended:
		return verdictName{Act, "Set it", ""}
	case stat.CarriesRate:
		return verdictName{Act, "Smallest that carries the rate", ""}
	case stat.KeepDefault:
		return verdictName{OK, "Change nothing", ""}
	case stat.NotYourKnob:
		return verdictName{OK, "Not your knob", "GOMAXPROCS is not your knob: "}
	case stat.TradeOff:
		return verdictName{Attention, "A trade-off", "A trade-off: "}
	}
	return verdictName{Unknown, "Cannot tell", "Cannot tell: "}
}

// sentence is the recommendation in one sentence, to stand after its label.
func (w words) sentence() string {
	rec := &w.group.Recommendation
	var losses []*stat.Reason
	for i := range rec.Reasons {
		if r := &rec.Reasons[i]; r.Code == stat.ReasonMetricWorse {
			losses = append(losses, r)
		}
	}
	text := w.claim(complete(rec.Claim))
	if len(losses) == 0 {
		return text
	}
	first := w.reason(losses[0])
	if n := len(losses) - 1; n > 0 {
		first += ", and " + phrase.Count(n, "more metric")
	}
	if rec.Claim.Code == stat.CauseBenchmarksDiffer {
		return strings.TrimSuffix(text, ".") + ": " + first + "."
	}
	return strings.TrimSuffix(text, ".") + ". But not for every figure: " + first + "."
}

// complete fills what a claim that was not analysed may lack.
func complete(c stat.Reason) *stat.Reason {
	if c.Of == nil {
		c.Of = &stat.Setting{}
	}
	return &c
}

func (w words) claim(c *stat.Reason) string {
	switch w.group.Recommendation.Verdict {
	case stat.KeepDefault:
		return fmt.Sprintf("Leave GOMAXPROCS unset: the default chose %d, %s (%s) %s.", c.Of.Procs, standing(c), w.figures(c.Of), w.where())
	case stat.Recommended:
		return w.set(c)
	case stat.NotYourKnob:
		return w.alike(c) + "; profile first."
	case stat.TradeOff:
		if c.Than == nil || c.P99Change == nil {
			return "throughput and p99 want different values."
		}
		return fmt.Sprintf("%s has the throughput (%s), %s the latency (%s): %s, but a p99 %s %s.",
			name(c.Of), w.figures(c.Of), name(c.Than), w.figures(c.Than), slower(c.Change), higher(*c.P99Change), w.where())
	case stat.CarriesRate:
		if c.Of.Default {
			return fmt.Sprintf("Leave GOMAXPROCS unset: the default chose %d, the smallest measured that carries %s%s %s.", c.Of.Procs, w.rate(), p99Clause(c.Of), w.where())
		}
		return fmt.Sprintf("Set GOMAXPROCS=%d: the smallest measured that carries %s%s %s.", c.Of.Procs, w.rate(), p99Clause(c.Of), w.where())
	}
	return w.cause(c)
}

func (w words) set(c *stat.Reason) string {
	s := fmt.Sprintf("Set GOMAXPROCS=%d: %s (%s) %s", c.Of.Procs, standing(c), w.figures(c.Of), w.where())
	if c.Than == nil {
		return s + "."
	}
	s += fmt.Sprintf("; the default chose %d", c.Than.Procs)
	switch c.Metric {
	case stat.MetricThroughput:
		s += ", " + slower(c.Change)
	case stat.MetricP99:
		s += ", with a p99 " + higher(c.Change)
	default:
		s += ", no better"
	}
	return s + "."
}

// standing is why a value is chosen, in the words that the proof allows: "the
// smallest" only where every smaller one is proven worse.
func standing(c *stat.Reason) string {
	if c.Proven {
		return "the smallest value that is as good as the best"
	}
	return "the smallest value shown to be as good as the best"
}

func (w words) alike(c *stat.Reason) string {
	text := fmt.Sprintf("%s give the same throughput within %s", names(c.List), phrase.Percent(w.plan.Margin))
	if c.Proven {
		text += " and p99 within " + phrase.Percent(w.plan.MarginP99)
	}
	return text + " " + w.where()
}

// cause is why nothing can be told.
func (w words) cause(c *stat.Reason) string {
	switch c.Code {
	case stat.CauseOnlyUnset:
		return "only the unset arm was measured, at a value that could not be read."
	case stat.CausePilotsInvalid:
		return "no trial has been measured yet, since the pilot trials were invalid."
	case stat.CauseNotMeasured:
		return "no trial has been measured yet."
	case stat.CauseNoneValid:
		return "no trial was valid."
	case stat.CauseNoThroughput:
		return "no valid trial has a throughput above zero."
	case stat.CauseOneSetting:
		return fmt.Sprintf("only one number of Ps was measured, %d.", c.Of.Procs)
	case stat.CauseUnsetDiffers:
		return fmt.Sprintf("unset chose %d and yet performs unlike GOMAXPROCS=%d.", c.Of.Procs, c.Of.Procs)
	case stat.CauseLoadLimited:
		return "every value gives the same, but it was the load engine that was at its limit."
	case stat.CauseBenchmarksDiffer:
		return "on average all values are alike, but the benchmarks want different ones."
	case stat.CauseWithheld:
		return w.others() + ", so that " + names(c.List) + " cannot be compared."
	case stat.CauseMixedOrigins:
		return "trials that were measured stand beside others that were not made in the same way."
	case stat.CauseRateNotOffered, stat.CauseRateFewBlocks, stat.CauseRateNotCarried:
		return w.notCarried(c)
	}
	return w.undecided(c)
}

// undecided is what the comparisons leave open.
func (w words) undecided(c *stat.Reason) string {
	switch c.Code {
	case stat.CauseSaturated:
		return name(c.Of) + " has the most throughput, but could not carry the rate at which latency is judged."
	case stat.CauseP99Open:
		text := names(c.List) + " are the best on throughput, and on p99 they cannot be told apart."
		if c.Than != nil {
			text += fmt.Sprintf(" Nothing shows the default, %d, to be wrong: leave it until more is known.", c.Than.Procs)
		}
		return text
	case stat.CauseThroughputOpen:
		return fmt.Sprintf("the p99 of %s is better than that of %s, but whether its throughput is as good is open.", name(c.Than), name(c.Of))
	case stat.CauseNoise:
		return fmt.Sprintf("whether %s is to be preferred to %s is open, and two copies of one setting differ by up to %s here, more than the margin of %s.",
			name(c.Of), names(c.List), phrase.Percent(*w.group.NoiseFloor.Throughput), phrase.Percent(w.plan.Margin))
	case stat.CauseNothingTold:
		return "no two values could be told apart, nor be shown to be alike."
	case stat.CauseNoneWorse:
		return "no value is proven worse than another."
	case stat.CauseDefaultOpen:
		return fmt.Sprintf("whether GOMAXPROCS=%d is better than the default is open. The default chose %d; leave it until more is known.", c.Of.Procs, c.Than.Procs)
	}
	return "nothing was analysed."
}

func (w words) notCarried(c *stat.Reason) string {
	switch c.Code {
	case stat.CauseRateNotOffered:
		return "no valid trial offered " + w.rate() + "."
	case stat.CauseRateFewBlocks:
		return fmt.Sprintf("no value of GOMAXPROCS carried %s in the %d blocks that it takes to say so.", w.rate(), stat.FewestPairs)
	}
	return fmt.Sprintf("no value of GOMAXPROCS carries %s %s.", w.rate(), w.where())
}
