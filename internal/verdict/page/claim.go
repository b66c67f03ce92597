package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// likely reports whether the verdict is no more than that.
func (w words) likely() bool { return w.Recommendation.Confidence == verdict.Likely }

// keep names the default, by why it is chosen.
func (w words) keep(of *contest.Value, standing, also string) string {
	return fmt.Sprintf("Keep the default (%d), %s (%s) %s%s.", of.Procs, standing, w.figures(of), w.where(), also) + w.elsewhere()
}

// asItRuns is what was seen of a server that ran already.
func (w words) asItRuns(of *contest.Value) string {
	text := "The GOMAXPROCS value that it uses could not be read"
	if of.Procs > 0 {
		text = fmt.Sprintf("It uses GOMAXPROCS=%d", of.Procs)
	}
	if of.Throughput.Median == nil {
		return text + "."
	}
	return fmt.Sprintf("%s. Of %s it answered %s. To find out whether another value is better, run procfit sweep with the command that starts it.", text, w.rate(), w.figures(of))
}

func (w words) set(c verdict.ClaimSet) string {
	begin := "Set GOMAXPROCS=%d: %s (%s) %s"
	if w.likely() {
		begin = "GOMAXPROCS=%d is %s (%s) %s"
	}
	s := fmt.Sprintf(begin, c.Of.Procs, w.standing(c.Smallest), w.figures(c.Of), w.where())
	if c.Than == nil {
		return s + "." + w.maybeAsGood(c.Open)
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
	return fmt.Sprintf(" No value is proven worse, and whether %s %s as well is undecided.", valueNames(list), verb(len(list), "performs", "perform"))
}

// asGoodAsAny is why a default is kept that nothing is worse than.
func (w words) asGoodAsAny() string {
	if w.likely() {
		return "likely as good as any other value" + w.ofMeasured()
	}
	return "proven as good as any other value" + w.ofMeasured()
}

// standing is why a value is chosen, in the words that the proof allows: "the
// smallest" only where every smaller one is proven worse.
func (w words) standing(smallest bool) string {
	measured := w.ofMeasured()
	switch {
	case w.likely():
		return "likely the smallest value" + measured + " that performs as well as the best"
	case smallest:
		return "the smallest value" + measured + " that performs as well as the best"
	}
	return "the smallest value" + measured + " that is proven to perform as well as the best"
}

// ofMeasured limits a claim to the values that have trials, where others of the plan have none:
// between two of them, or in slices of one start alone.
func (w words) ofMeasured() string {
	if r := w.Race; r != nil && len(r.Measured) < r.Candidates {
		return " measured"
	}
	return ""
}

func (w words) alike(x verdict.ClaimAlike) string {
	text := fmt.Sprintf("%s have the same throughput within %s", valueNames(x.List), number.Percent(w.plan().Margin))
	if x.P99 {
		text += " and " + w.quantile() + " within " + number.Percent(w.plan().MarginP99)
	}
	return text + " " + w.where()
}

// undecidedOf is which of two values is the best in a metric.
func undecidedOf(x verdict.Rivals, best string) string {
	text := "it is undecided which of " + valueNames(x.List) + " has the " + best + "."
	if x.Default != nil {
		text += fmt.Sprintf(" No value is proven better than the default (%d): keep it until more is known.", x.Default.Procs)
	}
	return text
}

// defaultOpen is what is proven, and what is not.
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
	return fmt.Sprintf("%s %s as well as any other value (%s) %s. No value is proven worse, and whether the default (%d) performs as well is undecided%s. Keep the default until more is known.",
		valueName(c.Of), shown, w.figures(c.Of), w.where(), c.Than.Procs, looked)
}

// wild is for trials that vary too much for anything to be called likely.
func (w words) wild() string {
	s := w.Spread
	if s.Throughput == nil {
		return "trials vary too much to decide."
	}
	text := "trials vary too much to decide: by " + strayed(*s.Throughput) + " in throughput"
	if s.P99 != nil {
		text += " and " + strayed(*s.P99) + " in " + w.quantile()
	}
	return text + "."
}
