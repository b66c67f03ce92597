package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func provenWorse(x verdict.Bounded, by func(float64) string) string {
	return fmt.Sprintf("%s is %s, at least %s (n %d)", valueName(x.Of), by(x.Change), amount(x.Bound), x.N)
}

func provenAsGood(x verdict.Bounded, by func(float64) string) string {
	text := valueName(x.Of) + " is " + by(x.Change)
	if bound := by(x.Bound); bound != theSame {
		text += ", at most " + bound
	}
	return fmt.Sprintf("%s (n %d)", text, x.N)
}

func lookedOnly(x verdict.Difference, by func(float64) string) string {
	if x.N == 0 {
		return valueName(x.Of) + " has no valid trial next to one of the best"
	}
	return valueName(x.Of) + " looked " + by(x.Change) + inTrials(x.N)
}

// inTrials is how many trials something is reported of. One that is far behind is not measured
// again, and its reason says so.
func inTrials(n int) string {
	return phrase.If(n == 1, " in its only trial", fmt.Sprintf(" (n %d)", n))
}

// leads names the best in a metric. A value that only looked better may be luck of few trials.
func (w words) leads(of *contest.Value, lucky []*contest.Value, metric, best, better string) string {
	if len(lucky) == 0 {
		return valueName(of) + " has the " + best + " " + metric + ": " + w.figures(of)
	}
	return valueName(of) + " is most certainly the best in " + metric + ": " + w.figures(of) + "; " + valueNames(lucky) + " looked " + better + ", with less certainty"
}

// among is reported where the table has what is not compared: settings that had too few CPUs,
// or an unset one of no number, or an estimate, that is better.
func (w words) among(better func(*verdict.Row) bool) string {
	aside := func(a *verdict.Row) bool {
		return (isSliced(a) || isOut(a, contest.ExcludedUnread, contest.ExcludedDiffers)) && better(a)
	}
	return phrase.If(w.leftOut(contest.ExcludedTooFewCPUs) || slices.ContainsFunc(rowsFrom(w.Rows), aside), " of the values compared", "")
}

// amongLate is reported where the table has a lower one that was not compared.
func (w words) amongLate(low *contest.Value) string {
	among := w.among(func(a *verdict.Row) bool { return low.P99.Above(a.Judged) })
	fast, few := w.leftOut(contest.ExcludedSlower, contest.ExcludedSaturated), w.leftOut(contest.ExcludedShared)
	most := max(1, int(math.Ceil(w.EffectiveCPUs)))
	switch {
	case among != "":
		return among
	case fast && few:
		return fmt.Sprintf(" of the equally fast values up to %d", most)
	case few:
		return fmt.Sprintf(" of the values up to %d", most)
	case fast:
		return " of the equally fast values"
	}
	return ""
}

// allocates is what a flat curve is likelier about; empty: it is not, or that is not known.
func (w words) allocates() string {
	a := w.Allocates
	if a == nil || a.CyclesPerSecond <= 0 {
		return ""
	}
	return fmt.Sprintf("it allocates a lot: a GC cycle every %s took %s of its busy CPU time (at %s)",
		number.Seconds(1/a.CyclesPerSecond), number.Ratio().Number(a.Share), phrase.Clip(a.Setting, nameRoom))
}

func tooFew(pairs int) string {
	if pairs == 0 {
		return "no pair of trials can be compared"
	}
	return fmt.Sprintf("only %s valid, and %d are needed", phrase.CountOf(pairs, "pair of trials is", "pairs of trials are"), stat.FewestPairs)
}

var throttlingAdvices = map[verdict.ThrottlingAdvice]string{
	verdict.AdviceMeasured: "GOMAXPROCS {procs} is proven equally good or better: lower it to that before you raise {limit}",
	verdict.AdviceAvoid:    "keep GOMAXPROCS at {procs}, which is not throttled",
	verdict.AdviceLower:    "lower GOMAXPROCS to {procs} before you raise {limit}",
	verdict.AdviceRaise:    "raise {limit} if the program must be faster; GOMAXPROCS cannot help",
	verdict.AdviceProven:   "raise {limit} if the program must be faster; a lower GOMAXPROCS is proven worse",
}

func (w words) throttlingAdvice() string {
	t := &w.Throttling
	limit := phrase.If(t.AdviceOwn, "the CPU limit", "the limit on the parent cgroup")
	return strings.NewReplacer("{limit}", limit, "{procs}", strconv.Itoa(stat.OrZero(t.Procs))).Replace(throttlingAdvices[t.Advice])
}

// endedEarly is how far a race that ended early came, and with its answer in each group.
func endedEarly(r *verdict.Result) string {
	answer := "when its answer was likely, but not proven"
	open := slices.ContainsFunc(r.Groups, func(g verdict.Group) bool { return g.Recommendation.Confidence == "" })
	if len(r.Groups) == 0 || open || len(r.Best) > 0 || r.Plan.GateAgainst || r.Cheapest != nil && r.Cheapest.Answer == nil {
		answer = "before it had an answer"
	}
	return fmt.Sprintf("the %s ended after %s, %s", phrase.If(r.Plan.GateAgainst, "comparison", "sweep"), ranOf(r), answer)
}

// smallest is what the value changes against the default; where that is not known, its levels.
func (w words) smallest(of *contest.Value) string {
	v := w.Recommendation.Versus
	if v == nil {
		return fmt.Sprintf("%d performs as well as the best value (%s) %s.", of.Procs, w.figures(of), w.where()) + w.noneWorse(of)
	}
	text := w.changes(fmt.Sprintf("the default (%d)", v.DefaultProcs), v) + "."
	if t, l := v.Throughput.High, v.Latency.Low; t != nil && *t < 1 || l != nil && *l > 1 {
		text += fmt.Sprintf(" %d is the smallest value that performs as well as the best, within %s.", of.Procs, w.margins())
	}
	return text
}

// noneWorse names the undecided values, if none is proven worse.
func (w words) noneWorse(of *contest.Value) string {
	var open []*contest.Value
	for _, x := range w.Recommendation.Reasons {
		var v *contest.Value
		switch x := x.(type) {
		case verdict.ReasonSlower, verdict.ReasonSetAside, verdict.ReasonSaturated, verdict.ReasonLater:
			return ""
		case verdict.ReasonSpeedOpen:
			v = x.Of
		case verdict.ReasonP99Open:
			v = x.Of
		case verdict.ReasonUnmet:
			v = x.Of
		}
		if v != nil && v != of && !slices.Contains(open, v) {
			open = append(open, v)
		}
	}
	if open == nil {
		return ""
	}
	return fmt.Sprintf(" No value is proven worse, and whether %s %s as well is undecided.", valueNames(open), verb(len(open), "performs", "perform"))
}

func (w words) nothingBeats(of *contest.Value) string {
	seen := "measured"
	if w.hasSliced() || w.leftOut(contest.ExcludedTooFewCPUs, contest.ExcludedUnread, contest.ExcludedDiffers, contest.ExcludedMemory, contest.ExcludedUnweighed) {
		seen = "compared"
	}
	margins := w.margins()
	lower := func(a *verdict.Row) bool { // as that of a slower value may be
		return of.P99.Median != nil && a.Judged.Median != nil && *a.Judged.Median*(1+w.r.Plan.MarginP99) < *of.P99.Median
	}
	shared := ""
	if slices.ContainsFunc(rowsFrom(w.Rows), lower) {
		margins = w.throughputMargin()
		if slices.Contains(w.Recommendation.Reasons, verdict.Remark(verdict.ReasonShared{})) {
			shared = " Its higher " + w.quantile() + " is not used, because the load generator ran on the same CPUs."
		}
	}
	return fmt.Sprintf("Nothing we %s beats the default (%d) by more than %s.", seen, of.Procs, margins) + shared
}

func undecidedOf(x verdict.Rivals, best string) string {
	text := "it is undecided which of " + valueNames(x.List) + " has the " + best + "."
	if x.Default != nil && !x.Default.Unmet {
		text += fmt.Sprintf(" No value is proven better than the default (%d): keep it until more is known.", x.Default.Procs)
	}
	return text
}

func (w words) defaultOpen(c verdict.CauseDefaultOpen) string {
	shown, looked := "likely performs", ""
	if c.Proven {
		shown = "is proven to perform"
	}
	switch against := valueName(c.Rival); {
	case c.N == 0:
	case c.Metric == verdict.MetricP99:
		looked = fmt.Sprintf(": its %s looked %s, against %s%s", w.quantile(), higher(c.Change), against, inTrials(c.N))
	default:
		looked = fmt.Sprintf(": it looked %s, against %s%s", slower(c.Change), against, inTrials(c.N))
	}
	text := fmt.Sprintf("%s %s as well as any other value (%s) %s. No value is proven worse, ", valueName(c.Of), shown, w.figures(c.Of), w.where())
	if c.Than.Unmet {
		return text + fmt.Sprintf("but in half of the trials of the default (%d) or more, no rate that was tried met --slo.", c.Than.Procs)
	}
	return text + fmt.Sprintf("and whether the default (%d) performs as well is undecided%s. Keep the default until more is known.", c.Than.Procs, looked)
}

// butFor adds the metrics that are worse in spite of the claim.
func (w words) butFor(claim string) string {
	rec := &w.Recommendation
	var losses []string
	for _, x := range rec.Reasons {
		if _, is := x.(verdict.ReasonMetricWorse); is {
			losses = append(losses, w.say(x).text)
		}
	}
	if len(losses) == 0 {
		return claim
	}
	first := losses[0]
	if n := len(losses) - 1; n > 0 {
		first += ", and " + phrase.Count(n, "more metric")
	}
	if _, differ := rec.Claim.(verdict.CauseBenchmarksDiffer); differ {
		return strings.TrimSuffix(claim, ".") + ": " + first + "."
	}
	return strings.TrimSuffix(claim, ".") + ". But not for every metric: " + first + "."
}

// reasons of one kind that follow one another share a line, under what they have in common.
func (w words) reasons() []string {
	list := []string{}
	var items []string
	lead := ""
	flush := func() {
		if len(items) > 0 {
			list = append(list, lead+phrase.Semicolons(items))
		}
		items = nil
	}
	for _, x := range w.Recommendation.Reasons {
		said := w.say(x)
		if said.lead == "" || said.lead != lead {
			flush()
		}
		lead, items = said.lead, append(items, said.text)
	}
	flush()
	if text := w.ended(); text != "" {
		list = append(list, text)
	}
	return list
}

// ended is why a race took fewer trials than it might have, if that is not its answer.
func (w words) ended() string {
	race := w.Race
	if race == nil || race.Stop == "" {
		return ""
	}
	why := ""
	switch tooFewCPUs := w.Others.TooFewCPUs; {
	case len(tooFewCPUs) > 0 && race.Stop != string(contest.StopTime):
		why = "other programs left GOMAXPROCS " + phrase.And(tooFewCPUs) + " too few CPUs every time"
		if w.Others.CPUs == nil {
			why = "what other programs used could not be counted for GOMAXPROCS " + phrase.And(tooFewCPUs)
		}
		why += ", so " + verb(len(tooFewCPUs), "it was", "they were") + " not tried again"
	case race.Stop == string(contest.StopFutile):
		why = "more trials would not prove the likely value, because trials vary too much"
	case race.Stop == string(contest.StopUnmet):
		why = "more trials would not prove a value, because the throughput of one that missed --slo is not known"
	case race.Stop == string(contest.StopNothing):
		why = "what failed three times is not measured again"
	case race.Stop == string(contest.StopTime):
		why = "the next trials would take longer than --for"
	}
	if why == "" || w.r.TrialsRun+w.r.PilotsRun >= w.r.TrialsPlanned {
		return ""
	}
	if len(w.r.Best) > 0 { // one of several comparisons
		return "this comparison ended: " + why
	}
	return fmt.Sprintf("the sweep ended after %s: %s", ranOf(w.r), why)
}

// ranOf is how many trials a race took, of how many where these ended it and not its time.
func ranOf(r *verdict.Result) string {
	ran := r.TrialsRun + r.PilotsRun
	if outOfTime(r) {
		return phrase.Count(ran, "trial")
	}
	return fmt.Sprintf("%d of at most %s", ran, phrase.Count(r.TrialsPlanned, "trial"))
}
