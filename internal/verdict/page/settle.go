package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// settle words what would settle what cannot be told.
func (w words) settle() []document.Item {
	var list []document.Item
	for _, s := range w.group.Recommendation.Settle {
		list = append(list, w.step(s))
	}
	return list
}

func (w words) step(s verdict.Step) document.Item {
	margin := number.Percent(w.plan().Margin)
	if s.Metric == verdict.MetricP99 {
		margin = number.Percent(w.plan().MarginP99)
	}
	switch s.Code {
	case verdict.StepQuieter:
		return document.Item{Text: fmt.Sprintf("use a quieter machine or a longer --duration: trials vary by %s in %s, too much for a margin of %s", strayed(s.Spread), w.metric(s.Metric), margin)}
	case verdict.StepGoOn:
		return w.goOn(s)
	case verdict.StepMoreValues:
		return document.Item{Text: "measure at least five values: --procs auto"}
	case verdict.StepMend:
		return document.Item{Text: "fix the cause, then start again with another --out"}
	case verdict.StepResume:
		if swept(w.result) {
			return document.Item{Text: "continue it", Command: resumed(w.result)}
		}
		return document.Item{Text: completed(w.result)}
	case verdict.StepReadOutput:
		return document.Item{Text: "read what the target and the load generator printed, in logs/"}
	case verdict.StepFindDerived:
		return document.Item{Text: "find what else depends on the variable: a pool sized from it, or a library that sets GOMAXPROCS at startup"}
	case verdict.StepLoadElsewhere:
		return document.Item{Text: "run the load generator on another machine, or give it its own CPUs with --load-cpuset"}
	case verdict.StepOfferRate:
		return document.Item{Text: "use a --load command that takes {rate}, or the load generator of procfit"}
	case verdict.StepRepeat:
		if swept(w.result) {
			return document.Item{Text: "measure more blocks", Command: repeated(w.result, s.Blocks)}
		}
		return document.Item{Text: fmt.Sprintf("measure more blocks: --repeats %d or more", s.Blocks)}
	case verdict.StepLessRate:
		return document.Item{Text: "use a lower --rate, more CPUs, or a higher --limit"}
	case verdict.StepQuietMachine:
		return document.Item{Text: "stop other programs on this machine, or measure on a quieter one"}
	case verdict.StepAnew:
		return document.Item{Text: "start again with another --out, so that all trials are measured in the same way"}
	case verdict.StepBenchmarksApart:
		return document.Item{Text: "measure the benchmarks one at a time, with -bench"}
	}
	return document.Item{Text: string(s.Code)}
}

func cleanAdvice(list []document.Item) []document.Item {
	out := make([]document.Item, len(list))
	for i, a := range list {
		out[i] = document.Item{Text: phrase.Clean(a.Text), Command: phrase.Clean(a.Command)}
	}
	return out
}

// ended is why a race took fewer trials than it might have, where that is not that it
// has its answer.
func (w words) ended() string {
	race := w.group.Race
	if race == nil || w.result == nil || race.Stop == "" {
		return ""
	}
	ran, most, why := w.result.TrialsRun+w.result.PilotsRun, w.result.TrialsPlanned, ""
	switch withheld := w.group.Others.Withheld; {
	case len(withheld) > 0 && race.Stop != string(contest.StopTime):
		why = "other programs left GOMAXPROCS " + phrase.And(withheld) + " too few CPUs every time, so " + itThey(len(withheld)) + " not tried again"
	case race.Stop == string(contest.StopFutile):
		why = "more trials would not prove the likely value, because trials vary too much"
	case race.Stop == string(contest.StopNothing):
		why = "no value could be measured"
	case race.Stop == string(contest.StopTime):
		why = "the next block would take longer than --max-time"
	}
	if why == "" || ran >= most {
		return ""
	}
	return fmt.Sprintf("the sweep ended after %d of at most %s: %s", ran, phrase.Count(most, "trial"), why)
}

func itThey(n int) string {
	if n == 1 {
		return "it was"
	}
	return "they were"
}
