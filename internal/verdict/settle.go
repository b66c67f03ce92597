package verdict

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// settle says what would make a verdict possible, or prove a likely one: how many more
// trials, and how long they take.
func (w *outcome) settle() []Step {
	if w.wild() {
		step := Step{Code: StepQuieter, Metric: MetricThroughput, Spread: w.Spread.Throughput}
		if w.Spread.Throughput <= race.WildThroughput {
			step.Metric, step.Spread = MetricP99, w.Spread.P99
		}
		return []Step{step}
	}
	step := Step{Code: StepGoOn, TrialSeconds: w.trialSeconds}
	for _, s := range w.contenders {
		step.Have += s.trials()
	}
	for i, o := range w.open() {
		if i == 0 {
			step.Metric, step.List = o.metric, namedAll(pairOf(o))
		}
		step.More = max(step.More, o.trials)
	}
	if step.More == 0 {
		step.More = step.Have
	}
	return []Step{step}
}

// secondsOf is the wall time of a trial, from one start to the next: the median.
func secondsOf(trials []*journal.Trial) float64 {
	var gaps []float64
	for i := 1; i < len(trials); i++ {
		if d := trials[i].Started.Sub(trials[i-1].Started).Seconds(); d > 0 && d < 3600 {
			gaps = append(gaps, d)
		}
	}
	if len(gaps) == 0 {
		for _, t := range trials {
			if t.DurationSeconds > 0 && !math.IsInf(t.DurationSeconds, 0) {
				gaps = append(gaps, t.DurationSeconds)
			}
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	return medianFloat(gaps)
}
