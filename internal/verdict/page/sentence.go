package page

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// verdictWords are what a verdict is called.
type verdictWords struct {
	state         document.Tone
	label, prefix string // prefix begins a sentence that has no label before it
	answer        string // in about four words
	brief         string // next to other groups' answers
	paste         string // what there is to set, where it is nothing
}

var verdicts = map[verdict.Verdict]verdictWords{
	verdict.Recommended: {document.Act, "Recommended", "", keepDefault, "keep the default", leaveUnset},
	verdict.CarriesRate: {document.Act, "Smallest that sustains the rate", "", keepDefault, "keep the default", leaveUnset},
	verdict.KeepDefault: {document.OK, "Change nothing", "", keepDefault, "keep the default", "Nothing to set: keep the default. Where GOMAXPROCS is set, remove it."},
	verdict.NotYourKnob: {document.OK, "No difference", "GOMAXPROCS makes no difference: ", "GOMAXPROCS hardly matters here", "any value will do",
		"Nothing to set: GOMAXPROCS makes no difference here. Leave it unset and profile the program."},
	verdict.Measured: {document.OK, "As it runs", "", "Measured as it runs", "undecided", "Nothing to set: procfit measured the server as it runs and compared nothing."},
	verdict.TradeOff: {document.Attention, "A trade-off", "A trade-off: ", "Your choice: throughput or latency", "throughput or latency", ""},
}

const (
	keepDefault = "Keep the default"
	leaveUnset  = "Nothing to set: leave GOMAXPROCS unset, and remove it where it is set."
)

// undecided are the words of every other verdict.
var undecided = verdictWords{document.Unknown, "Undecided", "Undecided: ", "No answer yet", "undecided", "Nothing to set yet: no value is proven better than the default."}

// called has words of its own for what is likely, so that nobody takes it for proven.
func called(rec *verdict.Recommendation) verdictWords {
	w, known := verdicts[rec.Verdict]
	if !known {
		w = undecided
	}
	if rec.Confidence != verdict.Likely {
		return w
	}
	w.state, w.label = document.Attention, "Likely, but not proven"
	switch {
	case rec.Verdict == verdict.KeepDefault:
		w.label = "Likely the default, but not proven"
	case rec.Procs != nil:
		w.label = fmt.Sprintf("Likely %d, but not proven", *rec.Procs)
	}
	w.prefix = w.label + ". "
	return w
}

// advised is the value that a verdict says to set; nil: it says none.
func advised(rec *verdict.Recommendation) *int {
	if rec.Verdict == verdict.Recommended || rec.Verdict == verdict.CarriesRate {
		return rec.Procs
	}
	return nil
}

// sentence is the recommendation in one sentence, which follows its label.
func (w words) sentence() string { return w.butFor(w.claim(complete(w.group.Recommendation.Claim))) }

// butFor adds the metrics that are worse in spite of the claim.
func (w words) butFor(claim string) string {
	rec := &w.group.Recommendation
	var losses []*verdict.Reason
	for i := range rec.Reasons {
		if r := &rec.Reasons[i]; r.Code == verdict.ReasonMetricWorse {
			losses = append(losses, r)
		}
	}
	if len(losses) == 0 {
		return claim
	}
	first := w.reason(losses[0])
	if n := len(losses) - 1; n > 0 {
		first += ", and " + phrase.Count(n, "more metric")
	}
	if rec.Claim.Code == verdict.CauseBenchmarksDiffer {
		return strings.TrimSuffix(claim, ".") + ": " + first + "."
	}
	return strings.TrimSuffix(claim, ".") + ". But not for every metric: " + first + "."
}

// complete fills what a claim that was not analysed may lack.
func complete(c verdict.Reason) *verdict.Reason {
	if c.Of == nil {
		c.Of = &contest.Value{}
	}
	return &c
}

func (w words) claim(c *verdict.Reason) string {
	rec := &w.group.Recommendation
	switch rec.Verdict {
	case verdict.KeepDefault:
		also := ""
		if c.Code == verdict.ClaimAsGood && c.Than != nil {
			also = "; so is " + name(c.Than) + ", and no value is proven worse"
		}
		return fmt.Sprintf("Leave GOMAXPROCS unset: the default is %d, %s (%s) %s%s.", c.Of.Procs, w.standing(c), w.figures(c.Of), w.where(), also) + w.elsewhere()
	case verdict.Recommended:
		return w.set(c) + w.elsewhere()
	case verdict.NotYourKnob:
		return w.alike(c) + "; " + w.instead() + "." + w.elsewhere()
	case verdict.TradeOff:
		if c.Than == nil || c.P99Change == nil {
			return "throughput and " + w.quantile() + " need different values."
		}
		return fmt.Sprintf("%s is best for throughput (%s), %s for %s (%s): %s is %s, but its %s is %s, %s.",
			name(c.Of), w.figures(c.Of), name(c.Than), w.quantile(), w.figures(c.Than), name(c.Than), slower(c.Change), w.quantile(), higher(*c.P99Change), w.where()) + w.elsewhere()
	case verdict.Measured:
		return w.asItRuns(c.Of)
	case verdict.CarriesRate:
		begin := "Set GOMAXPROCS=%d: the smallest"
		switch likely := rec.Confidence == verdict.Likely; {
		case c.Of.Default && likely:
			begin = "Leave GOMAXPROCS unset: the default is %d, likely the smallest"
		case c.Of.Default:
			begin = "Leave GOMAXPROCS unset: the default is %d, the smallest"
		case likely:
			begin = "GOMAXPROCS=%d is likely the smallest"
		}
		return fmt.Sprintf(begin+" measured value that sustains %s%s %s.", c.Of.Procs, w.rate(), w.latencyClause(c.Of), w.where())
	}
	return w.cause(c)
}

// asItRuns is what was seen of a server that ran already.
func (w words) asItRuns(of *contest.Value) string {
	text := "The GOMAXPROCS value that it uses could not be read"
	if of.Procs > 0 {
		text = fmt.Sprintf("It uses GOMAXPROCS=%d", of.Procs)
	}
	if of.Throughput.Mean == nil {
		return text + "."
	}
	return fmt.Sprintf("%s. Of %s it answered %s. To find out whether another value is better, run procfit sweep with the command that starts it.", text, w.rate(), w.figures(of))
}

func (w words) set(c *verdict.Reason) string {
	begin := "Set GOMAXPROCS=%d: %s (%s) %s"
	if w.group.Recommendation.Confidence == verdict.Likely {
		begin = "GOMAXPROCS=%d is %s (%s) %s"
	}
	s := fmt.Sprintf(begin, c.Of.Procs, w.standing(c), w.figures(c.Of), w.where())
	if c.Than == nil {
		return s + "." + w.maybeAsGood(c.List)
	}
	s += fmt.Sprintf("; the default is %d", c.Than.Procs)
	switch c.Metric {
	case verdict.MetricThroughput:
		s += ", " + slower(c.Change)
	case verdict.MetricP99:
		s += ", whose " + w.quantile() + " is " + higher(c.Change)
	case verdict.MetricSaturated:
		s += ", which fell behind at the common rate"
	case verdict.MetricOpen:
		s += ", and whether it performs as well is undecided"
	default:
		s += ", which performs no better"
	}
	return s + "."
}

// maybeAsGood is of values that are proven neither as good as the one that is named nor
// worse.
func (w words) maybeAsGood(list []*contest.Value) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(" No value is proven worse, and whether %s %s as well is undecided.", names(list), verb(len(list), "performs", "perform"))
}

// standing is why a value is chosen, in the words that the proof allows: "the
// smallest" only where every smaller one is proven worse.
func (w words) standing(c *verdict.Reason) string {
	if c.Code == verdict.ClaimAsGood {
		if w.group.Recommendation.Confidence == verdict.Likely {
			return "likely as good as any other value"
		}
		return "proven as good as any other value"
	}
	measured := ""
	if r := w.group.Race; r != nil && len(r.Measured) < r.Candidates {
		measured = " measured" // between two that were, others were not
	}
	switch {
	case w.group.Recommendation.Confidence == verdict.Likely:
		return "likely the smallest value" + measured + " that performs as well as the best"
	case c.Proven:
		return "the smallest value" + measured + " that performs as well as the best"
	}
	return "the smallest value" + measured + " that is proven to perform as well as the best"
}

func (w words) alike(c *verdict.Reason) string {
	text := fmt.Sprintf("%s have the same throughput within %s", names(c.List), number.Percent(w.plan().Margin))
	if c.Proven {
		text += " and " + w.quantile() + " within " + number.Percent(w.plan().MarginP99)
	}
	return text + " " + w.where()
}

// cause is why there is no verdict.
func (w words) cause(c *verdict.Reason) string {
	switch c.Code {
	case verdict.CauseOnlyUnset:
		return "only the default (GOMAXPROCS unset) was measured, and the value that it uses could not be read."
	case verdict.CausePilotsInvalid:
		return "nothing has been measured yet, because the pilot trials were invalid."
	case verdict.CauseNotMeasured:
		return "nothing has been measured yet."
	case verdict.CauseNoneValid:
		return "no trial was valid."
	case verdict.CauseNoThroughput:
		return "no valid trial has a throughput above zero."
	case verdict.CauseMemory:
		if c.Of != nil && c.Of.Procs > 0 {
			return fmt.Sprintf("every value of GOMAXPROCS but %d used more memory than %s.", c.Of.Procs, mostMemory(w.result))
		}
		return "every value of GOMAXPROCS used more memory than " + mostMemory(w.result) + "."
	case verdict.CauseOneValue:
		return fmt.Sprintf("only one value of GOMAXPROCS was measured, %d.", c.Of.Procs)
	case verdict.CauseUnsetDiffers:
		return fmt.Sprintf("with GOMAXPROCS unset the runtime uses %d, yet it performs differently from an explicit GOMAXPROCS=%d.", c.Of.Procs, c.Of.Procs)
	case verdict.CauseLoadLimited:
		return "all values have the same throughput, but the load generator was at its limit."
	case verdict.CauseBenchmarksDiffer:
		return "on average all values perform the same, but the benchmarks need different values."
	case verdict.CauseOverridden:
		o := w.group.Override
		return fmt.Sprintf("the program used GOMAXPROCS=%d where %d was requested, so there is nothing to compare.", o.Ran, o.Asked)
	case verdict.CauseWithheld:
		return w.others() + ", so " + names(c.List) + " cannot be compared."
	case verdict.CauseUnseen:
		return fmt.Sprintf("procfit could not read which GOMAXPROCS the program used with %s, so the trials do not show what that value does.", names(c.List))
	case verdict.CauseUncounted:
		return fmt.Sprintf("nothing shows what other programs used during the trials of %s, so a difference, or that there is none, may be theirs.", names(c.List))
	case verdict.CauseNoDefault:
		return "no trial of the default was valid, so no value can be compared with it."
	case verdict.CauseSlow:
		o := w.group.Others
		return fmt.Sprintf("the machine itself was slower, or changed its speed, during %d of %s, which therefore cannot be compared.", o.Slow, phrase.Count(o.Trials, "trial"))
	case verdict.CauseMixedOrigins:
		return "the trials come from different sources (measured here, or in a cluster), which cannot be compared."
	case verdict.CauseRateNotOffered, verdict.CauseRateFewBlocks, verdict.CauseRateNotCarried, verdict.CauseRateContradicts:
		return w.notCarried(c)
	}
	return w.undecided(c)
}

// undecided is what the comparisons leave open.
func (w words) undecided(c *verdict.Reason) string {
	switch c.Code {
	case verdict.CauseSaturated:
		return name(c.Of) + " has the highest throughput, but could not keep up with the request rate at which latency is judged."
	case verdict.CauseP99Open:
		text := "it is undecided which of " + names(c.List) + " has the lowest " + w.quantile() + "."
		if c.Than != nil {
			text += w.leaveIt(c.Than)
		}
		return text
	case verdict.CauseThroughputOpen:
		text := "it is undecided which of " + names(c.List) + " has the highest throughput."
		if c.Than != nil {
			text += w.leaveIt(c.Than)
		}
		return text
	case verdict.CauseDefaultOpen:
		return w.defaultOpen(c)
	case verdict.CauseNoise:
		return w.wild()
	case verdict.CauseNothingProven:
		return "for no two values could a difference be proven or ruled out."
	}
	return "nothing was analyzed."
}

// defaultOpen is what is proven, and what is not.
func (w words) defaultOpen(c *verdict.Reason) string {
	shown, looked := "likely performs", ""
	if c.Proven {
		shown = "is proven to perform"
	}
	switch against := names(c.List); {
	case c.N == 0:
	case c.Metric == verdict.MetricP99:
		looked = fmt.Sprintf(": its %s looked %s, against %s%s", w.quantile(), higher(c.Change), against, often(c.N))
	default:
		looked = fmt.Sprintf(": it looked %s, against %s%s", slower(c.Change), against, often(c.N))
	}
	return fmt.Sprintf("%s %s as well as any other value (%s) %s. No value is proven worse, and whether the default, %d, performs as well is undecided%s. Keep the default until more is known.",
		name(c.Of), shown, w.figures(c.Of), w.where(), c.Than.Procs, looked)
}

func (w words) leaveIt(d *contest.Value) string {
	return fmt.Sprintf(" No value is proven better than the default, %d: keep it until more is known.", d.Procs)
}

// wild is for trials that vary too much for anything to be called likely.
func (w words) wild() string {
	s := w.group.Spread
	if s.Throughput == nil {
		return "trials vary too much to decide."
	}
	text := "trials vary too much to decide: by " + strayed(*s.Throughput) + " in throughput"
	if s.P99 != nil {
		text += " and " + strayed(*s.P99) + " in " + w.quantile()
	}
	return text + "."
}

func (w words) notCarried(c *verdict.Reason) string {
	switch c.Code {
	case verdict.CauseRateNotOffered:
		return "in no valid trial did the load generator send " + w.rate() + "."
	case verdict.CauseRateFewBlocks:
		return fmt.Sprintf("no value of GOMAXPROCS sustained %s in the %d blocks that a proof needs.", w.rate(), verdict.FewestPairs)
	}
	if c.Code == verdict.CauseRateContradicts {
		return fmt.Sprintf("no value of GOMAXPROCS is proven to sustain %s %s, yet one is under a smaller CPU limit: something else slowed these trials down.", w.rate(), w.where())
	}
	if !c.Proven {
		return fmt.Sprintf("no value of GOMAXPROCS is proven to sustain %s %s.", w.rate(), w.where())
	}
	return fmt.Sprintf("no value of GOMAXPROCS sustains %s %s.", w.rate(), w.where())
}
