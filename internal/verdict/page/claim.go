package page

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

func (w words) likely() bool { return w.Recommendation.Confidence == verdict.Likely }

// smallest is what the smallest value that is as good as the best changes against the default;
// where that is not known, its levels.
func (w words) smallest(of *contest.Value) string {
	if v := w.Recommendation.Versus; v != nil {
		return w.changes(fmt.Sprintf("the default (%d)", v.DefaultProcs), v) + "."
	}
	return fmt.Sprintf("%d performs as well as the best value (%s) %s.", of.Procs, w.figures(of), w.where()) + w.noneWorse(of)
}

// noneWorse is that no other value is proven worse, and which may be; empty where one is, or where
// none is undecided.
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
	return fmt.Sprintf("Nothing we %s beats the default (%d) by more than %s.", seen, of.Procs, w.margins())
}

func (w words) alike() string {
	text, first := "All values perform the same, within ", "Profile the program first."
	if w.hasSliced() {
		text = "All values with trials perform the same, within "
	}
	if why := w.allocates(); why != "" {
		first = phrase.Capital(why) + ". Profile its allocations first, and try GOGC or GOMEMLIMIT."
	}
	return text + w.margins() + ". " + first
}

func (w words) asItRuns(of *contest.Value) string {
	if of == nil || of.P99.Median == nil {
		return "procfit measured the server as it runs and compared it with nothing."
	}
	return fmt.Sprintf("At %s its %s is %s. Nothing was compared.", w.rate(), w.quantile(), number.Seconds(*of.P99.Median))
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

func (w words) wild() string {
	if w.Spread.Throughput == nil {
		return "trials vary too much to decide."
	}
	return "trials vary too much to decide: by " + inBoth(w.Spread.Throughput, w.Spread.P99, w.quantile()) + "."
}
