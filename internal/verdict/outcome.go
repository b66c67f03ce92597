package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// outcome is what the comparisons of a group's values come to, before a verdict
// is made of it.
type outcome struct {
	*margins
	race.Lead
	contest    contest.Contest
	group      *Group
	contenders []*contender // by procs
	unplaced   *contender   // the unset setting, where it has no place among them
	best       *contender   // of the highest throughput
	lowest     *contender   // of the lowest latency of those that carry the rate and are not out; nil without any
	withheld   []*contender // that are not compared: other programs left them too few CPUs
	// tail is those that are as good in throughput as the best, by procs, with the best.
	tail []*contender
	// latency reports whether the judged latency is compared: some value of the tail has
	// one.
	latency bool
	// bound is the most Ps that are preferred by latency, since the load runs on the
	// target's CPUs; 0: no bound.
	bound  int
	losses []metricLoss
	// trialSeconds is the wall time of a trial.
	trialSeconds float64
	// pilotsInvalid: some pilot was, of whichever group
	pilotsInvalid bool
}

// newOutcome makes the comparisons of a contest.
func newOutcome(m *margins, c contest.Contest, contenders []*contender, unplaced *contender) *outcome {
	w := &outcome{margins: m, contest: c, Lead: c.Lead(), contenders: contenders, unplaced: unplaced, bound: c.Rules().MaxByLatency}
	w.best, w.lowest = w.of(w.Peak), w.of(w.BestP99)
	if w.best == nil {
		return w
	}
	for _, s := range contenders {
		if s == w.best || w.throughput(s, w.best).asGood {
			w.tail = append(w.tail, s)
		}
	}
	w.latency = slices.ContainsFunc(w.tail, (*contender).hasP99)
	return w
}

// out reports whether a value is proven worse in throughput, so that its latency is not
// compared.
func (w *outcome) out(s *contender) bool {
	return w.best != nil && s != w.best && (s.level.Out || w.throughput(s, w.best).worse)
}

// beyond reports whether a value has more Ps than latency may prefer.
func (w *outcome) beyond(s *contender) bool { return w.latency && w.bound > 0 && s.procs > w.bound }

// passesLatency reports whether a value is as good in latency as every other of the tail
// that latency may prefer.
func (w *outcome) passesLatency(s *contender) bool {
	if s.saturated || w.latency && !s.hasP99() {
		return false
	}
	for _, other := range w.tail {
		if w.latency && other != s && other.hasP99() && !other.saturated && !w.beyond(other) && !w.p99(s, other).asGood {
			return false
		}
	}
	return true
}

func (w *outcome) inTail(s *contender) bool { return slices.Contains(w.tail, s) }

// later reports whether s is proven worse than other in latency. Where the load runs on
// the target's CPUs it is worst exactly where there are as many Ps as CPUs: then
// nothing is later than what has more, and the default later than nothing.
func (w *outcome) later(s, other *contender) bool {
	if !w.latency || w.bound > 0 && (s.isDefault || other.procs > w.bound) {
		return false
	}
	return w.p99(s, other).worse
}

// beats reports whether s is proven better than other on either metric, or carries
// the rate where other is proven not to.
func (w *outcome) beats(s, other *contender) bool {
	return other.saturated && !s.saturated || w.throughput(other, s).worse || w.later(other, s)
}

// decided reports whether the trials settle that s is to be preferred to other:
// other is proven worse, or s is as good with fewer Ps.
func (w *outcome) decided(s, other *contender) bool {
	return w.beats(s, other) || s.procs < other.procs && w.coversFor(s, other)
}

// coversFor reports whether s is as good as other on all that is judged.
func (w *outcome) coversFor(s, other *contender) bool {
	return w.throughput(s, other).asGood &&
		(!w.latency || !other.hasP99() || w.beyond(other) || w.p99(s, other).asGood)
}

// equal reports whether all values are proven equal within the margins: each is as
// good as each other, in throughput and in latency, by as many trials as a value has that is
// named.
func (w *outcome) equal() bool {
	if len(w.contenders) < 2 || w.unplaced != nil {
		return false
	}
	for _, s := range w.contenders {
		if s.saturated || s.level.Trials < race.Enough || w.latency && s.p99Trials < race.Enough {
			return false
		}
		for _, other := range w.contenders {
			if other != s && !(w.throughput(s, other).asGood && (!w.latency || w.p99(s, other).asGood)) {
				return false
			}
		}
	}
	return true
}

// worseThan reports whether any value is proven worse than s, or than the best.
func (w *outcome) worseThan(s *contender) bool {
	return slices.ContainsFunc(w.contenders, func(other *contender) bool {
		return other != s && (w.beats(s, other) || w.out(other))
	})
}

// of is the value of that many Ps.
func (w *outcome) of(ps int) *contender {
	i := slices.IndexFunc(w.contenders, func(s *contender) bool { return s.procs == ps })
	if ps <= 0 || i < 0 || math.IsNaN(w.contenders[i].rate) {
		return nil
	}
	return w.contenders[i]
}

// defaultContender is the value that unset came to; nil when that was not measured or
// has no place among the values.
func (w *outcome) defaultContender() *contender {
	for _, s := range w.contenders {
		if s.isDefault {
			return s
		}
	}
	return nil
}

// smaller are those of fewer Ps than s.
func (w *outcome) smaller(s *contender) []*contender {
	i := slices.Index(w.contenders, s)
	return w.contenders[:max(0, i)]
}

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
