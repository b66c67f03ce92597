package race

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/stat"
)

// sample is one figure of one trial, as a logarithm.
type sample struct {
	setting, block int
	start          int
	y              float64
}

// fit is the block model of one figure: y = setting + block + noise, block effects
// drawn from N(0, ρσ²), the noise of a setting from N(0, v·σ²). Each start has a walk of
// blocks of its own.
type fit struct {
	settings []int // ascending
	index    map[int]int
	count    []int
	mean     []float64 // of each setting, at the average block
	cov      *matrix   // of the means
	sigma    float64
	df       float64
	scale    []float64           // v of each setting
	without  [][2]float64        // the mean of each setting without its lowest trial, and without its highest
	tail     map[float64]float64 // quantiles of Student's t, by level
}

// The robust weights: a trial further than huber from its place, in standard deviations,
// counts only as far. At 2.2 the loss under normal noise is below 2% (Huber, Ronchetti,
// Robust Statistics, 4.5). Beyond descent times that it counts for less the further it is
// (a redescending estimator; ibid., 4.8).
const (
	huber   = 2.2
	descent = 1.5
)

// influence is the weight of a trial, by its distance from its place in multiples of huber.
func influence(far, descent float64) float64 {
	switch {
	case far <= 1:
		return 1
	case far <= descent:
		return 1 / far
	}
	return descent * descent / (far * far * far)
}

// scaleDF is how many trials a setting's own spread is worth before it has any: by
// that much it is drawn to the spread of all (the moderated variance of Smyth,
// Linear models and empirical Bayes methods, 2004).
const scaleDF = 8

// rounds of reweighting: the weights move by less than a hundredth after four.
const rounds = 4

// newFit fits the samples. Without any it is nil.
func newFit(samples []sample, prior noise) *fit {
	if len(samples) == 0 {
		return nil
	}
	d := newDesign(samples)
	f := &fit{settings: d.settings, index: d.index, count: d.count, tail: map[float64]float64{}}
	f.df = prior.df + float64(d.free())
	f.scale = make([]float64, len(d.settings))
	for i := range f.scale {
		f.scale[i] = 1
	}
	best := wanders[len(wanders)/2]
	for range rounds {
		d.weigh(f.scale)
		if s, ok := d.solve(best, prior); ok {
			f.reweigh(d, s, prior.descent)
		}
	}
	d.weigh(f.scale)
	var fits []solution
	for _, wander := range wanders {
		if s, ok := d.solve(wander, prior); ok {
			fits = append(fits, s)
		}
	}
	f.mix(fits, d.centre)
	f.leaveOut(d, fits)
	return f
}

// reweigh takes each setting's spread and each trial's weight from a solution's
// residuals.
func (f *fit) reweigh(d *design, s solution, descent float64) {
	squares, free := make([]float64, len(d.settings)), make([]float64, len(d.settings))
	leverage := d.leverage(s)
	for i, x := range d.samples {
		squares[x.setting] += d.weight[i] * s.residual[i] * s.residual[i]
		free[x.setting] += 1 - leverage[i]
	}
	variance := s.sigma * s.sigma
	for a := range f.scale {
		f.scale[a] = (scaleDF*variance + squares[a]) / ((scaleDF + free[a]) * variance)
	}
	for i, x := range d.samples {
		far := huber * s.sigma * math.Sqrt(f.scale[x.setting]*max(1-leverage[i], 0.05))
		d.weight[i] = influence(math.Abs(s.residual[i])/far, descent)
	}
}

// mix averages the solutions by their likelihoods, so that what is not known of the
// machine's walk widens the bounds.
func (f *fit) mix(all []solution, centre float64) {
	n := len(f.settings)
	share := shares(all, func(s solution) float64 { return s.likelihood })
	f.mean = make([]float64, n)
	means, covs := make([][]float64, len(all)), make([]*matrix, len(all))
	variance := 0.0
	for k, s := range all {
		means[k], covs[k] = s.centred()
		variance += share[k] * s.sigma * s.sigma
		for i := range n {
			f.mean[i] += share[k] * (means[k][i] + centre)
		}
	}
	f.sigma = math.Sqrt(variance)
	f.cov = newMatrix(n, n)
	for k, s := range all {
		for i := range n {
			di := means[k][i] + centre - f.mean[i]
			for j := i; j < n; j++ {
				dj := means[k][j] + centre - f.mean[j]
				f.cov.setBoth(i, j, f.cov.at(i, j)+share[k]*(s.sigma*s.sigma*covs[k].at(i, j)+di*dj))
			}
		}
	}
}

// shares are the probabilities of what has these likelihoods, which are logarithms.
func shares[T any](all []T, likelihood func(T) float64) []float64 {
	most, total := math.Inf(-1), 0.0
	for _, x := range all {
		most = max(most, likelihood(x))
	}
	out := make([]float64, len(all))
	for i, x := range all {
		out[i] = math.Exp(likelihood(x) - most)
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

func (f *fit) has(n int) bool {
	if f == nil {
		return false
	}
	_, ok := f.index[n]
	return ok
}

func (f *fit) trials(n int) int {
	if !f.has(n) {
		return 0
	}
	return f.count[f.index[n]]
}

func (f *fit) level(n int) (mean, se float64) {
	i := f.index[n]
	return f.mean[i], math.Sqrt(f.cov.at(i, i))
}

// difference of two settings, a over b, and its standard error.
func (f *fit) difference(a, b int) (d, se float64) {
	i, j := f.index[a], f.index[b]
	v := f.cov.at(i, i) + f.cov.at(j, j) - 2*f.cov.at(i, j)
	return f.mean[i] - f.mean[j], math.Sqrt(max(v, 1e-12))
}

// quantile of Student's t at the fit's degrees of freedom.
func (f *fit) quantile(level float64) float64 {
	q, ok := f.tail[level]
	if !ok {
		q = stat.TQuantile(level, f.df)
		f.tail[level] = q
	}
	return q
}

// lower and upper are one-sided bounds of a over b.
func (f *fit) lower(a, b int, level float64) float64 {
	d, se := f.difference(a, b)
	return d - f.quantile(level)*se
}

func (f *fit) upper(a, b int, level float64) float64 {
	d, se := f.difference(a, b)
	return d + f.quantile(level)*se
}

// crowd is how many values, itself among them, a setting is not distinguished from.
func (f *fit) crowd(n int) int {
	alike := 0
	for _, other := range f.settings {
		if d, se := f.difference(n, other); math.Abs(d) <= f.quantile(1-(1-confidence)/2)*se {
			alike++
		}
	}
	return alike
}
