package race

import "math"

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
