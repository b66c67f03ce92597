package verdict

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// better, of a metric, as journals write it.
const (
	betterHigher = "higher"
	betterLower  = "lower"
)

// metricLoss is a metric that the program printed, proven worse at one value
// than at another.
type metricLoss struct {
	name   string
	lower  bool // better when lower
	part   bool // of what the throughput is the mean of
	at     *contender
	better *contender
	n      int
	mid    float64 // the loss, a logarithm above 0
	bound  float64 // its lower 95% bound
}

// metricLosses compares a value with the default in each metric, and with the
// best for that metric. Many are looked at, and any may come to a warning, so the
// error of 5% is shared among all (Bonferroni); hence Student's t, whose bounds
// exist at any level.
func (g *group) metricLosses(w *outcome, x *contender, margin float64) []metricLoss {
	all := map[string]journal.Metric{}
	for _, a := range g.measured() {
		for _, t := range a.measure {
			for name, m := range t.Metrics {
				judged := name == g.unit() || "1/"+name == g.unit()
				if t.Valid && !judged && (m.Better == betterHigher || m.Better == betterLower) {
					all[name] = m
				}
			}
		}
	}
	level := 1 - 0.05/float64(2*max(1, len(all)))
	var losses []metricLoss
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lower := all[name].Better == betterLower
		l := metricLoss{name: name, lower: lower, at: x, part: g.unit() == "operations" && all[name].Unit == "ns/op"}
		of := metricOf(name)
		rivals := []*contender{w.defaultContender(), bestFor(w.contenders, of, lower)}
		for _, other := range rivals {
			if other == nil || other == x {
				continue
			}
			d := g.seriesOf(x, of).minus(g.seriesOf(other, of))
			if !lower {
				for i := range d {
					d[i] = -d[i]
				}
			}
			if l.n = len(d); l.n < minPairs {
				continue
			}
			l.better, l.mid = other, stat.Mean(d, nil)
			l.bound = l.mid - quantileT(level, l.n-1)*stat.StdDev(d, nil)/math.Sqrt(float64(l.n))
			if l.bound > l.log(margin) && l.mid > l.log(g.metricFloor(of)) {
				losses = append(losses, l)
				break
			}
		}
	}
	return losses
}

func metricOf(name string) figure {
	return func(t *journal.Trial) *float64 {
		if m, ok := t.Metrics[name]; ok {
			return &m.Value
		}
		return nil
	}
}

// log is a ratio in the metric's direction.
func (l *metricLoss) log(ratio float64) float64 {
	if l.lower {
		return growth(ratio)
	}
	return loss(ratio)
}

func (g *group) seriesOf(s *contender, f figure) series {
	var all [][]*journal.Trial
	for _, a := range s.settings {
		all = append(all, a.measure, a.aa)
	}
	return g.series(f, all...)
}

func bestFor(contenders []*contender, f figure, lower bool) *contender {
	var best *contender
	top := math.NaN()
	for _, s := range contenders {
		m := firstMedian(s.settings, f)
		if better := m > top == !lower && m != top; !math.IsNaN(m) && (best == nil || better) {
			best, top = s, m
		}
	}
	return best
}

// metricFloor is the noise floor of a metric; 0 where it is not known.
func (g *group) metricFloor(f figure) float64 {
	for _, a := range g.current() {
		if len(a.aa) > 0 {
			if floor := floorOf(locateNarrow(g.series(f, a.aa).minus(g.series(f, a.measure)))); floor != nil {
				return *floor
			}
			break
		}
	}
	return 0
}

// reason is the loss in the metric's own direction.
func (l *metricLoss) reason() Reason {
	sign := 1.0
	if !l.lower {
		sign = -1
	}
	return Reason{
		Code: ReasonMetricWorse, Of: l.at.named(), Than: l.better.named(), Metric: l.name,
		Change: expm1(sign * l.mid), Bound: expm1(sign * l.bound), N: l.n,
	}
}

// qualify takes a verdict's plainness away where a metric is proven worse at the
// value that it names. Where the throughput is a mean of benchmarks that want
// different values, their being alike on average proves nothing of any of them.
func (g *group) qualify(r *Recommendation, w *outcome, margin float64) {
	x := w.recommended(r)
	if x == nil || w.best == nil {
		return
	}
	w.losses = g.metricLosses(w, x, margin)
	if len(w.losses) == 0 {
		return
	}
	r.Reasons = append(lossReasons(w.losses), r.Reasons...)
	if (r.Verdict == NotYourKnob || !w.worseThan(x)) && slices.ContainsFunc(w.losses, func(l metricLoss) bool { return l.part }) {
		r.Verdict = CannotTell
		r.because(CauseBenchmarksDiffer, StepBenchmarksApart)
	}
}

func lossReasons(losses []metricLoss) []Reason {
	var list []Reason
	for i := range losses {
		list = append(list, losses[i].reason())
	}
	return list
}

// recommended is the value that a verdict comes to: of not_your_knob, which says
// to leave things as they are, the default.
func (w *outcome) recommended(r *Recommendation) *contender {
	if r.Verdict == NotYourKnob {
		if d := w.defaultContender(); d != nil {
			return d
		}
		return w.best
	}
	for _, s := range w.contenders {
		for _, a := range s.settings {
			if a.Label == r.Setting {
				return s
			}
		}
	}
	return nil
}

func (n *notes) metrics(i int, w *outcome) {
	if len(w.losses) > 0 {
		n.add(i, Warning{Code: WarnMetricWorse, Setting: w.losses[0].at.label, Losses: lossReasons(w.losses)})
	}
}
