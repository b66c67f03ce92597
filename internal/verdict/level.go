package verdict

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// figureOf is the metric as a contest calls it.
func figureOf(metric string) race.Figure {
	if metric == MetricP99 {
		return race.P99
	}
	return race.Throughput
}

// between is a ÷ b in a metric.
func (w *outcome) between(a, b *contender, metric string) contest.Bounds {
	return w.contest.Between(a.procs, b.procs, figureOf(metric))
}

// levelOf is a value's level in a metric.
func (s *contender) levelOf(metric string) Level {
	l, x := s.level, race.Interval{}
	n := 0
	if metric == MetricThroughput {
		x, n = l.Throughput, l.Trials
	} else {
		x, n = l.P99, s.p99Trials
	}
	if n == 0 || !finitePositive(x.Mean) {
		return Level{}
	}
	out := Level{Mean: new(x.Mean), N: n}
	if n > 1 && finitePositive(x.Low) && finitePositive(x.High) {
		out.Low, out.High = new(x.Low), new(x.High)
	}
	return out
}

func finitePositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
