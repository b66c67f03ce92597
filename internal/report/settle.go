package report

import (
	"fmt"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// settle words what would settle what cannot be told.
func (w words) settle() []string {
	var list []string
	for _, s := range w.group.Recommendation.Settle {
		list = append(list, w.step(s))
	}
	return list
}

func (w words) step(s stat.Step) string {
	margin := phrase.Percent(w.plan().Margin)
	if s.Metric == stat.MetricP99 {
		margin = phrase.Percent(w.plan().MarginP99)
	}
	switch s.Code {
	case stat.StepQuieter:
		return fmt.Sprintf("a quieter machine or a longer --duration: the %s of a trial strays by %s, too much for a margin of %s", w.metric(s.Metric), phrase.Percent(s.Spread), margin)
	case stat.StepGoOn:
		return w.goOn(s)
	case stat.StepMoreValues:
		return "measure at least five values: --procs auto"
	case stat.StepMend:
		return "fix the cause, then start over with another --out"
	case stat.StepResume:
		return "the same command with this directory as --out: it runs what is missing"
	case stat.StepReadOutput:
		return "look at what the target and the load printed, under logs/"
	case stat.StepFindDerived:
		return "find what else the program derives from the variable: pools sized from it, a library that sets GOMAXPROCS at start"
	case stat.StepLoadElsewhere:
		return "drive the load from another machine, or with --load-cpuset on CPUs of its own"
	case stat.StepOfferRate:
		return "a --load command that is told the {rate}, or procfit's own load"
	case stat.StepRepeat:
		return fmt.Sprintf("--repeats %d or more", s.Blocks)
	case stat.StepLessRate:
		return "a lower --rate, more CPUs, or a higher --quota"
	case stat.StepQuietMachine:
		return "quiet the machine, or measure on another"
	case stat.StepAnew:
		return "start over with another --out, so that all trials are made in one way"
	case stat.StepBenchmarksApart:
		return "sweep the benchmarks apart: -bench with one at a time"
	}
	return string(s.Code)
}
