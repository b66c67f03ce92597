package race

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
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

// design has the setting and the block of each trial, both counted from 0, blocks in
// the order in which they ran, those of one start after those of another.
type design struct {
	settings  []int
	index     map[int]int
	count     []int // trials of each setting
	size      []int // trials of each block
	start     []int // of each block
	samples   []sample
	centre    float64   // taken off the figures
	weight    []float64 // robust, of each sample
	precision []float64 // of each sample, in 1/σ²
}

func newDesign(samples []sample) *design {
	d := &design{index: map[int]int{}}
	blocks := map[int]int{}
	samples = slices.Clone(samples)
	sorting.Stable(samples, func(a, b sample) int { return cmp.Compare(a.start, b.start) })
	for _, s := range samples {
		d.settings = append(d.settings, s.setting)
		if _, seen := blocks[s.block]; !seen {
			blocks[s.block] = len(blocks)
			d.start = append(d.start, s.start)
		}
		d.centre += s.y / float64(len(samples))
	}
	slices.Sort(d.settings)
	d.settings = slices.Compact(d.settings)
	for i, n := range d.settings {
		d.index[n] = i
	}
	d.count, d.size = make([]int, len(d.settings)), make([]int, len(blocks))
	for _, s := range samples {
		a, b := d.index[s.setting], blocks[s.block]
		d.count[a]++
		d.size[b]++
		d.samples = append(d.samples, sample{a, b, s.start, s.y - d.centre})
		d.weight = append(d.weight, 1)
	}
	d.precision = make([]float64, len(samples))
	return d
}

// tied reports whether the machine of a block and of the next is one.
func (d *design) tied(block int) bool { return d.start[block] == d.start[block+1] }

// free is how many trials are left to tell the noise by: each setting takes one, and each
// start's level beyond the first.
func (d *design) free() int {
	n := len(d.samples) - len(d.settings)
	for b := range len(d.start) - 1 {
		if !d.tied(b) {
			n--
		}
	}
	return max(0, n)
}

// sums are the precisions and weighted figures, of each setting in each block.
func (d *design) sums() (precision *matrix, setting, block, settingSum, blockSum []float64) {
	a, b := len(d.settings), len(d.size)
	precision = newMatrix(b, a)
	setting, settingSum = make([]float64, a), make([]float64, a)
	block, blockSum = make([]float64, b), make([]float64, b)
	for i, s := range d.samples {
		w := d.precision[i]
		precision.row(s.block)[s.setting] += w
		setting[s.setting] += w
		block[s.block] += w
		settingSum[s.setting] += w * s.y
		blockSum[s.block] += w * s.y
	}
	return precision, setting, block, settingSum, blockSum
}

// walk is the prior precision of the blocks' effects, in 1/σ², and the logarithm of
// its determinant: each differs from the one before by N(0, σ²·wander) a trial that
// lies between their middles. The common level of each start's is left free; ridge keeps
// the matrix regular.
func (d *design) walk(wander float64) (chain, float64) {
	const ridge = 1e-4
	n := len(d.size)
	q := chain{make([]float64, n), make([]float64, n-1)}
	for b := range n {
		q.own[b] = ridge
	}
	for b := range n - 1 {
		if !d.tied(b) {
			continue
		}
		p := 1 / (wander * float64(d.size[b]+d.size[b+1]) / 2)
		q.own[b] += p
		q.own[b+1] += p
		q.next[b] = -p
	}
	_, logDet, ok := q.factored()
	if !ok {
		logDet = math.Inf(1)
	}
	return q, logDet
}

// leverage is how much each sample draws the fit to itself, 0 to 1.
func (d *design) leverage(s solution) []float64 {
	out := make([]float64, len(d.samples))
	for i, x := range d.samples {
		v := s.cov.at(x.setting, x.setting) + 2*s.cross.at(x.block, x.setting) + s.blocks.at(x.block, x.block)
		out[i] = min(max(d.precision[i]*v, 0), 1)
	}
	return out
}

func (d *design) weigh(scale []float64) {
	for i, s := range d.samples {
		d.precision[i] = d.weight[i] / scale[s.setting]
	}
}

// noise is what is thought of a figure's noise before there are trials.
type noise struct {
	sd float64 // of a trial's logarithm
	df float64 // how many trials that is worth
	// descent is from where on a trial counts for less the further it is, in times huber.
	descent float64
}

// priorOf a figure: throughput of a steady service strays by 1 to 5% from trial to
// trial, p99 by 10 to 60%. After ten trials what the prior says is forgotten.
func priorOf(by Figure) noise {
	if by == P99 {
		return noise{sd: 0.27, df: 3, descent: descent}
	}
	return noise{sd: 0.035, df: 3, descent: descent}
}

// wanders are the variances of the machine's walk, a trial, in those of a trial's
// own noise: from a machine that stays to one that changes while it is measured.
// The fit is the mean of all, by likelihood.
var wanders = [...]float64{0.001, 0.01, 0.04, 0.12, 0.4, 1.2, 5}

// solution is the least squares fit at one wander. Covariances are in σ².
type solution struct {
	mean       []float64 // of settings, with blocks' effects that average 0
	effect     []float64 // of blocks
	cov        *matrix   // of the settings as solved for
	cross      *matrix   // block by setting
	blocks     *matrix
	residual   []float64
	sigma      float64
	likelihood float64 // logarithm; of contrasts only (Patterson, Thompson, 1971)
}

func (d *design) solve(wander float64, prior noise) (s solution, ok bool) {
	a, b := len(d.settings), len(d.size)
	u, setting, block, settingSum, blockSum := d.sums()
	k, logdet := d.walk(wander)
	for i := range b {
		k.own[i] += block[i]
	}
	kc, logdetBlocks, ok := k.factored()
	if !ok {
		return s, false
	}
	// Blocks are eliminated: what is left are equations of the settings.
	inverse := kc.inverse()
	ku := inverse.times(u)
	inner := u.transposed().times(ku)
	m := newMatrix(a, a)
	for i := range a {
		for j := i; j < a; j++ {
			m.setBoth(i, j, -inner.at(i, j))
		}
		m.set(i, i, m.at(i, i)+setting[i]+1e-6)
	}
	mc, ok := factorOf(m)
	if !ok {
		return s, false
	}
	right := ku.transposed().on(blockSum)
	for i := range a {
		right[i] = settingSum[i] - right[i]
	}
	s.cov = mc.inverse()
	s.mean = s.cov.on(right)
	shift := u.on(s.mean)
	for i := range b {
		shift[i] = blockSum[i] - shift[i]
	}
	s.effect = inverse.on(shift)
	s.spreadBlocks(ku, inverse)
	d.judge(&s, wander, prior)
	s.likelihood -= 0.5 * (logdetBlocks + mc.logDet() - logdet)
	return s, true
}

// spreadBlocks computes what the blocks' effects are uncertain of.
func (s *solution) spreadBlocks(ku, inverse *matrix) {
	s.cross = ku.times(s.cov)
	for i := range s.cross.values {
		s.cross.values[i] *= -1
	}
	spread := s.cross.times(ku.transposed())
	s.blocks = newMatrix(inverse.rows, inverse.rows)
	for i, v := range spread.values {
		s.blocks.values[i] = inverse.values[i] - v
	}
}

// judge takes the residuals, what they say of the noise, and how well they fit.
func (d *design) judge(s *solution, wander float64, prior noise) {
	squares := 0.0
	for i, x := range d.samples {
		r := x.y - s.mean[x.setting] - s.effect[x.block]
		s.residual = append(s.residual, r)
		squares += d.precision[i] * r * r
	}
	for b := range len(d.size) - 1 {
		if !d.tied(b) {
			continue
		}
		step := s.effect[b+1] - s.effect[b]
		squares += step * step / (wander * float64(d.size[b]+d.size[b+1]) / 2)
	}
	seen := squares / float64(max(1, d.free()))
	squares += prior.df * prior.sd * prior.sd
	df := prior.df + float64(d.free())
	// A machine that is noisier than was thought is not talked out of it.
	s.sigma = math.Sqrt(max(squares/df, seen))
	s.likelihood = -0.5 * df * math.Log(squares)
}

// centred is the settings' means and covariance at the average block: what the walk as
// a whole is uncertain of is of no setting.
func (s solution) centred() ([]float64, *matrix) {
	a, b := s.cov.rows, s.blocks.rows
	level, own := 0.0, 0.0
	for i := range b {
		level += s.effect[i] / float64(b)
		for j := range b {
			own += s.blocks.at(i, j) / float64(b*b)
		}
	}
	with := make([]float64, a) // covariance of a setting with the blocks' average
	for j := range a {
		for i := range b {
			with[j] += s.cross.at(i, j) / float64(b)
		}
	}
	mean, cov := make([]float64, a), newMatrix(a, a)
	for i := range a {
		mean[i] = s.mean[i] + level
		for j := i; j < a; j++ {
			cov.setBoth(i, j, s.cov.at(i, j)+with[i]+with[j]+own)
		}
	}
	return mean, cov
}
