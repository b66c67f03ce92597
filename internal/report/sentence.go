package report

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/stat"
)

// verdictName is a verdict as a label, and as what a sentence without a label before
// it begins with.
type verdictName struct {
	state         State
	label, prefix string
}

func nameOf(rec *stat.Recommendation) verdictName {
	if rec.Confidence == stat.Likely {
		return likely(rec)
	}
	switch rec.Verdict {
	case stat.Recommended:
		return verdictName{Act, "Set it", ""}
	case stat.CarriesRate:
		return verdictName{Act, "Smallest that carries the rate", ""}
	case stat.KeepDefault:
		return verdictName{OK, "Change nothing", ""}
	case stat.NotYourKnob:
		return verdictName{OK, "Not your knob", "GOMAXPROCS is not your knob: "}
	case stat.Measured:
		return verdictName{OK, "As it runs", ""}
	case stat.TradeOff:
		return verdictName{Attention, "A trade-off", "A trade-off: "}
	}
	return verdictName{Unknown, "Cannot tell", "Cannot tell: "}
}

// likely has names of its own, so that nobody takes it for proven.
func likely(rec *stat.Recommendation) verdictName {
	switch rec.Verdict {
	case stat.NotYourKnob:
		return verdictName{Attention, "Likely not your knob: not proven", "GOMAXPROCS is likely not your knob, not proven: "}
	case stat.KeepDefault:
		text := "Likely the default: not proven"
		return verdictName{Attention, text, text + ". "}
	}
	text := "Likely: not proven"
	if rec.Procs != nil {
		text = fmt.Sprintf("Likely %d: not proven", *rec.Procs)
	}
	return verdictName{Attention, text, text + ". "}
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
	rec := &w.group.Recommendation
	switch rec.Verdict {
	case stat.KeepDefault:
		return fmt.Sprintf("Leave GOMAXPROCS unset: the default chose %d, %s (%s) %s.", c.Of.Procs, w.standing(c), w.figures(c.Of), w.where()) + w.elsewhere()
	case stat.Recommended:
		return w.set(c) + w.elsewhere()
	case stat.NotYourKnob:
		return w.alike(c) + "; " + w.instead() + "." + w.elsewhere()
	case stat.TradeOff:
		if c.Than == nil || c.P99Change == nil {
			return "throughput and " + w.quantile() + " want different values."
		}
		return fmt.Sprintf("%s is best for throughput (%s), %s for %s (%s): %s is %s, but its %s is %s, %s.",
			name(c.Of), w.figures(c.Of), name(c.Than), w.quantile(), w.figures(c.Than), name(c.Than), slower(c.Change), w.quantile(), higher(*c.P99Change), w.where()) + w.elsewhere()
	case stat.Measured:
		return w.asItRuns(c.Of)
	case stat.CarriesRate:
		if c.Of.Default {
			return fmt.Sprintf("Leave GOMAXPROCS unset: the default chose %d, the smallest measured that carries %s%s %s.", c.Of.Procs, w.rate(), w.latencyClause(c.Of), w.where())
		}
		return fmt.Sprintf("Set GOMAXPROCS=%d: the smallest measured that carries %s%s %s.", c.Of.Procs, w.rate(), w.latencyClause(c.Of), w.where())
	}
	return w.cause(c)
}

// asItRuns is what was seen of a server that ran already.
func (w words) asItRuns(of *stat.Setting) string {
	text := "Its GOMAXPROCS could not be read"
	if of.Procs > 0 {
		text = fmt.Sprintf("It runs with GOMAXPROCS=%d", of.Procs)
	}
	if of.Throughput == nil {
		return text + "."
	}
	return fmt.Sprintf("%s. Of %s it answered %s. A sweep of its command would show whether another value is better.", text, w.rate(), w.figures(of))
}

func (w words) set(c *stat.Reason) string {
	begin := "Set GOMAXPROCS=%d: %s (%s) %s"
	if w.group.Recommendation.Confidence == stat.Likely {
		begin = "GOMAXPROCS=%d is %s (%s) %s"
	}
	s := fmt.Sprintf(begin, c.Of.Procs, w.standing(c), w.figures(c.Of), w.where())
	if c.Than == nil {
		return s + "."
	}
	s += fmt.Sprintf("; the default chose %d", c.Than.Procs)
	switch c.Metric {
	case stat.MetricThroughput:
		s += ", " + slower(c.Change)
	case stat.MetricP99:
		s += ", whose " + w.quantile() + " is " + higher(c.Change)
	case stat.MetricSaturated:
		s += ", which fell behind at the common rate"
	case stat.MetricOpen:
		s += ", which may be as good: undecided"
	default:
		s += ", no better"
	}
	return s + "."
}

// standing is why a value is chosen, in the words that the proof allows: "the
// smallest" only where every smaller one is proven worse.
func (w words) standing(c *stat.Reason) string {
	measured := ""
	if r := w.group.Race; r != nil && len(r.Measured) < r.Candidates {
		measured = " measured" // between two that were, others were not
	}
	switch {
	case w.group.Recommendation.Confidence == stat.Likely:
		return "likely the smallest value" + measured + " that is as good as the best"
	case c.Proven:
		return "the smallest value" + measured + " that is as good as the best"
	}
	return "the smallest value" + measured + " shown to be as good as the best"
}

func (w words) alike(c *stat.Reason) string {
	within := "in throughput within " + number.Percent(w.plan().Margin)
	if c.Proven {
		within += " and in " + w.quantile() + " within " + number.Percent(w.plan().MarginP99)
	}
	if c.Code == stat.ClaimAsGood {
		shown := "is"
		if w.group.Recommendation.Confidence == stat.Likely {
			shown = "is likely"
		}
		text := fmt.Sprintf("%s %s as good as any of %s, %s, %s, and none of them is shown to be worse",
			name(c.Of), shown, names(c.List), within, w.where())
		if c.Than != nil {
			text += fmt.Sprintf(": leave GOMAXPROCS unset (%d)", c.Than.Procs)
		}
		return text
	}
	text := fmt.Sprintf("%s give the same throughput within %s", names(c.List), number.Percent(w.plan().Margin))
	if c.Proven {
		text += " and " + w.quantile() + " within " + number.Percent(w.plan().MarginP99)
	}
	return text + " " + w.where()
}

// cause is why nothing can be told.
func (w words) cause(c *stat.Reason) string {
	switch c.Code {
	case stat.CauseOnlyUnset:
		return "only unset was measured, and the value that it chose could not be read."
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
		return "every value gives the same throughput, but the load generator was at its limit."
	case stat.CauseBenchmarksDiffer:
		return "on average all values are alike, but the benchmarks want different ones."
	case stat.CauseWithheld:
		return w.others() + ", so " + names(c.List) + " cannot be compared."
	case stat.CauseMixedOrigins:
		return "the trials come from different sources (measured here, in a cluster, or simulated), which cannot be compared."
	case stat.CauseRateNotOffered, stat.CauseRateFewBlocks, stat.CauseRateNotCarried, stat.CauseRateContradicts:
		return w.notCarried(c)
	}
	return w.undecided(c)
}

// undecided is what the comparisons leave open.
func (w words) undecided(c *stat.Reason) string {
	switch c.Code {
	case stat.CauseSaturated:
		return name(c.Of) + " has the most throughput, but fell behind at the rate at which latency is judged."
	case stat.CauseP99Open:
		text := "it is undecided which of " + names(c.List) + " has the lowest " + w.quantile() + "."
		if c.Than != nil {
			text += w.leaveIt(c.Than)
		}
		return text
	case stat.CauseThroughputOpen:
		text := "it is undecided which of " + names(c.List) + " has the highest throughput."
		if c.Than != nil {
			text += w.leaveIt(c.Than)
		}
		return text
	case stat.CauseNoise:
		return w.wild()
	case stat.CauseNothingTold:
		return "no two values could be told apart or shown to be alike."
	}
	return "nothing was analysed."
}

func (w words) leaveIt(d *stat.Setting) string {
	return fmt.Sprintf(" Nothing shows the default, %d, to be wrong: leave it until more is known.", d.Procs)
}

// wild is for trials that vary too much for anything to be called likely.
func (w words) wild() string {
	s := w.group.Spread
	if s.Throughput == nil {
		return "trials vary too much to tell."
	}
	text := "trials vary too much to tell: by " + strayed(*s.Throughput) + " in throughput"
	if s.P99 != nil {
		text += " and " + strayed(*s.P99) + " in " + w.quantile()
	}
	return text + "."
}

func (w words) notCarried(c *stat.Reason) string {
	switch c.Code {
	case stat.CauseRateNotOffered:
		return "no valid trial offered " + w.rate() + "."
	case stat.CauseRateFewBlocks:
		return fmt.Sprintf("no value of GOMAXPROCS carried %s in the %d blocks needed to prove it.", w.rate(), stat.FewestPairs)
	}
	if c.Code == stat.CauseRateContradicts {
		return fmt.Sprintf("no value of GOMAXPROCS is shown to carry %s %s, yet one is under a smaller quota: something else held these trials back.", w.rate(), w.where())
	}
	if !c.Proven {
		return fmt.Sprintf("no value of GOMAXPROCS is shown to carry %s %s.", w.rate(), w.where())
	}
	return fmt.Sprintf("no value of GOMAXPROCS carries %s %s.", w.rate(), w.where())
}
