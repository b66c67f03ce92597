package race

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

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
	mean       *mat.VecDense // of settings, with blocks' effects that average 0
	effect     *mat.VecDense // of blocks
	cov        *mat.SymDense // of the settings as solved for
	cross      *mat.Dense    // block by setting
	blocks     *mat.SymDense
	residual   []float64
	sigma      float64
	likelihood float64 // logarithm; of contrasts only (Patterson, Thompson, 1971)
}

// solve fits the settings at one wander.
func (d *design) solve(wander float64, prior noise) (s solution, ok bool) {
	a, b := len(d.settings), len(d.size)
	u, setting, block, settingSum, blockSum := d.sums()
	k, logdet := d.walk(wander)
	for i := range b {
		k.SetSymBand(i, i, k.At(i, i)+block.AtVec(i))
	}
	var kc mat.BandCholesky
	identity := mat.NewDiagDense(b, nil)
	for i := range b {
		identity.SetDiag(i, 1)
	}
	var inverse, ku, inner mat.Dense
	if !kc.Factorize(k) || kc.SolveTo(&inverse, identity) != nil {
		return s, false
	}
	// Blocks are eliminated: what is left are equations of the settings.
	ku.Mul(&inverse, u)
	inner.Mul(u.T(), &ku)
	m := mat.NewSymDense(a, nil)
	for i := range a {
		for j := i; j < a; j++ {
			m.SetSym(i, j, -inner.At(i, j))
		}
		m.SetSym(i, i, m.At(i, i)+setting.AtVec(i)+1e-6)
	}
	var right mat.VecDense
	right.MulVec(ku.T(), blockSum)
	right.SubVec(settingSum, &right)
	var mc mat.Cholesky
	s.cov = mat.NewSymDense(a, nil)
	if !mc.Factorize(m) || mc.InverseTo(s.cov) != nil {
		return s, false
	}
	s.mean, s.effect = mat.NewVecDense(a, nil), mat.NewVecDense(b, nil)
	s.mean.MulVec(s.cov, &right)
	var shift mat.VecDense
	shift.MulVec(u, s.mean)
	shift.SubVec(blockSum, &shift)
	s.effect.MulVec(&inverse, &shift)
	s.spreadBlocks(&ku, &inverse)
	d.judge(&s, wander, prior)
	s.likelihood -= 0.5 * (kc.LogDet() + mc.LogDet() - logdet)
	return s, true
}

// spreadBlocks computes what the blocks' effects are uncertain of.
func (s *solution) spreadBlocks(ku, inverse *mat.Dense) {
	b, a := ku.Dims()
	s.cross = mat.NewDense(b, a, nil)
	s.cross.Mul(ku, s.cov)
	s.cross.Scale(-1, s.cross)
	var spread mat.Dense
	spread.Mul(s.cross, ku.T())
	s.blocks = mat.NewSymDense(b, nil)
	for i := range b {
		for j := i; j < b; j++ {
			s.blocks.SetSym(i, j, inverse.At(i, j)-spread.At(i, j))
		}
	}
}

// judge takes the residuals, what they say of the noise, and how well they fit.
func (d *design) judge(s *solution, wander float64, prior noise) {
	squares := 0.0
	for i, x := range d.samples {
		r := x.y - s.mean.AtVec(x.setting) - s.effect.AtVec(x.block)
		s.residual = append(s.residual, r)
		squares += d.precision[i] * r * r
	}
	for b := range len(d.size) - 1 {
		if !d.tied(b) {
			continue
		}
		step := s.effect.AtVec(b+1) - s.effect.AtVec(b)
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
func (s solution) centred() ([]float64, *mat.SymDense) {
	a, b := s.cov.SymmetricDim(), s.blocks.SymmetricDim()
	level, own := 0.0, 0.0
	for i := range b {
		level += s.effect.AtVec(i) / float64(b)
		for j := range b {
			own += s.blocks.At(i, j) / float64(b*b)
		}
	}
	with := make([]float64, a) // covariance of a setting with the blocks' average
	for j := range a {
		for i := range b {
			with[j] += s.cross.At(i, j) / float64(b)
		}
	}
	mean, cov := make([]float64, a), mat.NewSymDense(a, nil)
	for i := range a {
		mean[i] = s.mean.AtVec(i) + level
		for j := i; j < a; j++ {
			cov.SetSym(i, j, s.cov.At(i, j)+with[i]+with[j]+own)
		}
	}
	return mean, cov
}
