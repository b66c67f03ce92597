package stat

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/procfit/procfit/internal/journal"
)

// better, of a metric, as journals write it.
const (
	betterHigher = "higher"
	betterLower  = "lower"
)

// metricLoss is a figure that the program printed, proven worse at one setting
// than at another.
type metricLoss struct {
	name   string
	lower  bool // better when lower
	part   bool // of what the throughput is the mean of
	at     *setting
	better *setting
	n      int
	mid    float64 // the loss, a logarithm above 0
	bound  float64 // its lower 95 % bound
}

// metricLosses compares a setting with the default in each metric, and with the
// best for that metric. Many are looked at, and any may come to a warning, so the
// error of 5 % is shared among all (Bonferroni); hence Student's t, whose bounds
// exist at any level.
func (g *group) metricLosses(w *walk, x *setting, margin float64) []metricLoss {
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
		rivals := []*setting{w.standard(), bestFor(w.settings, of, lower)}
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

func (g *group) seriesOf(s *setting, f figure) series {
	var all [][]*journal.Trial
	for _, a := range s.arms {
		all = append(all, a.measure, a.aa)
	}
	return g.series(f, all...)
}

func bestFor(settings []*setting, f figure, lower bool) *setting {
	var best *setting
	top := math.NaN()
	for _, s := range settings {
		m := firstMedian(s.arms, f)
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

// words of a loss: "FFT ns/op is 42 % higher at 2 than at 8 (the default), …".
func (l *metricLoss) words(t telling) string {
	sign := 1.0
	if !l.lower {
		sign = -1
	}
	return fmt.Sprintf("%s is %s at %s than at %s, at least %s (n %d)",
		l.name, shift(sign*l.mid), t.name(l.at), t.name(l.better), percent(math.Abs(expm1(sign*l.bound))), l.n)
}

// ratio is the metric at the setting ÷ at the better one.
func (l *metricLoss) ratio() float64 {
	if l.lower {
		return 1 + expm1(l.mid)
	}
	return 1 + expm1(-l.mid)
}

// qualify takes a verdict's plainness away where a metric is proven worse at the
// setting that it names. Where the throughput is a mean of benchmarks that want
// different values, their being alike on average proves nothing of any of them.
func (g *group) qualify(r *Recommendation, w *walk, t telling) {
	x := w.named(r)
	if x == nil {
		return
	}
	w.losses = g.metricLosses(w, x, t.plan.Margin)
	if len(w.losses) == 0 {
		return
	}
	r.Reasons = slices.Insert(r.Reasons, 0, "not for every figure: "+semicolons(wordsOf(w.losses, t)))
	first := w.losses[0].words(t)
	if n := len(w.losses) - 1; n > 0 {
		first += fmt.Sprintf(", and %s", plural(n, "more metric"))
	}
	if r.Verdict == NotYourKnob && slices.ContainsFunc(w.losses, func(l metricLoss) bool { return l.part }) {
		r.Verdict = CannotTell
		r.Sentence = "Cannot tell: on average all values are alike, but the benchmarks want different ones: " + first + "."
		r.Settle = []string{"sweep the benchmarks apart: -bench with one at a time"}
		return
	}
	r.Sentence = strings.TrimSuffix(r.Sentence, ".") + ". But not for every figure: " + first + "."
}

func wordsOf(losses []metricLoss, t telling) []string {
	var list []string
	for i := range losses {
		list = append(list, losses[i].words(t))
	}
	return list
}

// named is the setting that a verdict comes to: of not_your_knob, which says to
// leave things as they are, the default.
func (w *walk) named(r *Recommendation) *setting {
	if r.Verdict == NotYourKnob {
		if d := w.standard(); d != nil {
			return d
		}
		return w.best
	}
	for _, s := range w.settings {
		for _, a := range s.arms {
			if a.Label == r.Arm {
				return s
			}
		}
	}
	return nil
}

func (n *notes) metrics(i int, w *walk) {
	var list []string
	for k := range w.losses {
		l := &w.losses[k]
		list = append(list, fmt.Sprintf("%s is %.2f× that of %s (n %d)", l.name, l.ratio(), l.better.label, l.n))
	}
	if len(list) > 0 {
		n.add(i, "metric_worse", "judge by the one that matters most: name it with --metric, or sweep the benchmarks apart",
			"proven worse at GOMAXPROCS %s: %s", w.losses[0].at.label, and(list))
	}
}
