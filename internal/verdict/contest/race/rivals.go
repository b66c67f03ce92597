package race

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// The prior of throughput over values: deviations from a common level are
// N(0, τ²·kernel), τ on a grid, with equal weights. The kernel falls off within a
// quarter of a doubling, since a curve may bend anywhere.
var rivalSpreads = [...]float64{0.005, 0.02, 0.06, 0.2}

const rivalReach = 0.25 // doublings

// rivals draws the throughputs of the contenders. All but one are pooled, so that
// the luckiest of many does not pass for the best; that one is judged by its own
// trials alone.
func (f *fit) rivals(settings []int, alone, draws int, r *rand.Rand) [][]float64 {
	n := len(settings)
	own := mat.NewSymDense(n, nil)
	y := make([]float64, n)
	for i, a := range settings {
		y[i] = f.mean[f.index[a]]
		for j := i; j < n; j++ {
			own.SetSym(i, j, f.cov.At(f.index[a], f.index[settings[j]]))
		}
	}
	var all []pooled
	for _, spread := range rivalSpreads {
		kernel := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				v := spread * spread * math.Exp(-math.Abs(math.Log2(float64(settings[i])/float64(settings[j])))/rivalReach)
				switch {
				case i == alone && j == alone:
					v = 9
				case i == alone || j == alone:
					v = 0
				}
				kernel.SetSym(i, j, v)
			}
		}
		if p, ok := pool(own, kernel, y); ok {
			all = append(all, p)
		}
	}
	return drawPooled(all, draws, r)
}

// pooled is what is thought of the levels at one spread.
type pooled struct {
	likelihood float64 // logarithm
	mean       []float64
	root       mat.TriDense
}

// pool is a Gaussian process with an unknown common level (kriging): own is the
// covariance of the trials' means, kernel that of the levels.
func pool(own, kernel *mat.SymDense, y []float64) (pooled, bool) {
	n := len(y)
	sum := mat.NewSymDense(n, nil)
	sum.AddSym(own, kernel)
	var c mat.Cholesky
	if !c.Factorize(sum) {
		return pooled{}, false
	}
	one := mat.NewVecDense(n, nil)
	for i := range n {
		one.SetVec(i, 1)
	}
	var s1, sr, ks mat.Dense
	if c.SolveTo(&s1, one) != nil {
		return pooled{}, false
	}
	weight, level := 0.0, 0.0
	for i := range n {
		weight += s1.At(i, 0)
		level += s1.At(i, 0) * y[i]
	}
	level /= weight
	rest := mat.NewVecDense(n, nil)
	for i := range n {
		rest.SetVec(i, y[i]-level)
	}
	if c.SolveTo(&sr, rest) != nil || c.SolveTo(&ks, kernel) != nil { // ks: S⁻¹K
		return pooled{}, false
	}
	p := pooled{mean: make([]float64, n)}
	var shift mat.Dense
	shift.Mul(kernel, &sr)
	fitness := 0.0
	for i := range n {
		p.mean[i] = level + shift.At(i, 0)
		fitness += rest.AtVec(i) * sr.At(i, 0)
	}
	p.likelihood = -0.5 * (c.LogDet() + math.Log(weight) + fitness)
	var root mat.Cholesky
	if !root.Factorize(remaining(kernel, &ks, weight)) {
		return pooled{}, false
	}
	root.LTo(&p.root)
	return p, true
}

// remaining is the covariance of the levels after the trials, given S⁻¹K and the
// precision of the common level, which is uncertain too.
func remaining(kernel *mat.SymDense, ks *mat.Dense, weight float64) *mat.SymDense {
	n := kernel.SymmetricDim()
	var explained mat.Dense
	explained.Mul(kernel, ks)
	left := make([]float64, n) // 1 - K S⁻¹ 1
	for i := range n {
		left[i] = 1
		for j := range n {
			left[i] -= ks.At(j, i)
		}
	}
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := kernel.At(i, j) + left[i]*left[j]/weight - explained.At(i, j)
			if i == j {
				v += 1e-9
			}
			cov.SetSym(i, j, v)
		}
	}
	return cov
}

// drawPooled draws from the mixture of all, each spread by its share.
func drawPooled(all []pooled, draws int, r *rand.Rand) [][]float64 {
	if len(all) == 0 {
		return nil
	}
	most := math.Inf(-1)
	for _, p := range all {
		most = max(most, p.likelihood)
	}
	total := 0.0
	for _, p := range all {
		total += math.Exp(p.likelihood - most)
	}
	out := make([][]float64, 0, draws)
	until := 0.0
	for k, p := range all {
		until += math.Exp(p.likelihood-most) / total * float64(draws)
		for len(out) < draws && (float64(len(out)) < until-0.5 || k == len(all)-1) {
			out = append(out, p.draw(r))
		}
	}
	return out
}

func (p pooled) draw(r *rand.Rand) []float64 {
	n := len(p.mean)
	z, x := make([]float64, n), make([]float64, n)
	for i := range z {
		z[i] = r.NormFloat64()
		x[i] = p.mean[i]
		for j := range i + 1 {
			x[i] += p.root.At(i, j) * z[j]
		}
	}
	return x
}
