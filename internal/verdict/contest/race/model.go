package race

import (
	"cmp"
	"math"
	"slices"
)

// confidence of every bound that decides and every interval that is shown.
const confidence = 0.95

// Model is what is known of all values: throughput and p99, each fitted by itself.
type Model struct {
	throughput, p99 *fit // nil without figures
}

func newModel(trials []Trial, without rule) *Model {
	of := func(by Figure) *fit {
		prior := priorOf(by)
		if without == ruleDescent {
			prior.descent = math.Inf(1)
		}
		return newFit(samplesOf(trials, by, byValue), prior)
	}
	return &Model{throughput: of(Throughput), p99: of(P99)}
}

func (m *Model) of(by Figure) *fit {
	if by == P99 {
		return m.p99
	}
	return m.throughput
}

// lookCost is the share of an interval's error that stopping when it suits takes.
const lookCost = 0.2

// shown is the quantile that a two-sided interval is drawn with.
func (f *fit) shown(confidence float64) float64 {
	return f.quantile(1 - (1-lookCost)*(1-confidence)/2)
}

// Ratio of a to b with its two-sided interval at a confidence; NaN where one has no
// figure.
func (m *Model) Ratio(a, b int, by Figure, confidence float64) (ratio, low, high float64) {
	f := m.of(by)
	if !f.has(a) || !f.has(b) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	if a == b {
		return 1, 1, 1
	}
	d, se := f.difference(a, b)
	wide := f.shown(confidence) * se
	return math.Exp(d), math.Exp(d - wide), math.Exp(d + wide)
}

// Interval is the ratio of a value that was chosen to another, with the interval that
// holds the truth in 95% of such choices at the time of stopping. What looks best among
// many that are the same is partly lucky: the error allowed is shared among those it is not
// distinguished from, as in the false coverage rate of Benjamini and Yekutieli (2005). Each
// gets 1.5 times an equal share, less what stopping when it suits takes (lookCost): simulations
// show that the intervals hold (docs/evidence/verdict-simulations.md).
func (m *Model) Interval(chosen, other int, by Figure) (ratio, low, high float64) {
	f := m.of(by)
	if !f.has(chosen) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	share := 1.5
	if min(f.trials(chosen), f.trials(other)) <= Enough {
		share = 1 // a value that was measured again after two unlucky trials has just that many
	}
	return m.Ratio(chosen, other, by, 1-(1-confidence)*share/float64(max(2, f.crowd(chosen))))
}

// asGood reports whether a is proven no worse than b by the margin.
func (s *Race) asGood(a, b int, by Figure) bool {
	f, margin := s.model.of(by), s.rules.margin(by)
	if by == P99 {
		return f.upper(a, b, confidence) < margin && !s.alone(a, b, by)
	}
	return f.lower(a, b, confidence) > -margin && !s.alone(a, b, by)
}

// Trials of a value that carry the figure.
func (m *Model) Trials(n int, by Figure) int { return m.of(by).trials(n) }

// A single trial proves nothing: with an outlier in twenty trials, a value that had one in
// its only trial was proven worse, and the wrong value named. So a comparison must hold
// without the trial of the rival that helps it most.

// stray is how far from its setting's level one trial may be, as a logarithm: what is
// further away than that differs in truth.
const stray = 1.0

// alone says whether it is a single trial of b that makes a as good: without it, a looks
// worse by more than the margin.
func (s *Race) alone(a, b int, by Figure) bool {
	if s.rules.without == ruleAlone {
		return false
	}
	f, margin := s.model.of(by), s.rules.margin(by)
	mean, without := f.mean[f.index[a]], f.without[f.index[b]]
	if by == P99 {
		return mean-without[1] >= margin
	}
	return mean-without[0] <= -margin
}

// leaveOut finds the mean of each setting without its lowest trial, and without its
// highest; of one that has a single trial, as far from it as a trial may stray.
func (f *fit) leaveOut(d *design, fits []solution) {
	f.without = make([][2]float64, len(d.settings))
	for a, mean := range f.mean {
		f.without[a] = [2]float64{mean + stray, mean - stray}
	}
	if len(fits) == 0 {
		return
	}
	s := slices.MaxFunc(fits, func(a, b solution) int { return cmp.Compare(a.likelihood, b.likelihood) })
	for a := range f.without {
		low, high, sum, weights := -1, -1, 0.0, 0.0
		for i, x := range d.samples {
			if x.setting != a {
				continue
			}
			if low < 0 || s.residual[i] < s.residual[low] {
				low = i
			}
			if high < 0 || s.residual[i] > s.residual[high] {
				high = i
			}
			sum += d.weight[i] * s.residual[i]
			weights += d.weight[i]
		}
		if f.count[a] > 1 {
			f.without[a] = [2]float64{
				f.mean[a] + (sum-d.weight[low]*s.residual[low])/(weights-d.weight[low]),
				f.mean[a] + (sum-d.weight[high]*s.residual[high])/(weights-d.weight[high]),
			}
		}
	}
}
