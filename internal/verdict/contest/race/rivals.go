package race

import (
	"math"
	"math/rand/v2"
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
	own := newMatrix(n, n)
	y := make([]float64, n)
	for i, a := range settings {
		y[i] = f.mean[f.index[a]]
		for j := i; j < n; j++ {
			own.setBoth(i, j, f.cov.at(f.index[a], f.index[settings[j]]))
		}
	}
	var all []pooled
	for _, spread := range rivalSpreads {
		kernel := newMatrix(n, n)
		for i := range n {
			for j := i; j < n; j++ {
				v := spread * spread * math.Exp(-math.Abs(math.Log2(float64(settings[i])/float64(settings[j])))/rivalReach)
				switch {
				case i == alone && j == alone:
					v = 9
				case i == alone || j == alone:
					v = 0
				}
				kernel.setBoth(i, j, v)
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
	root       factor
}

// pool is a Gaussian process with an unknown common level (kriging): own is the
// covariance of the trials' means, kernel that of the levels.
func pool(own, kernel *matrix, y []float64) (pooled, bool) {
	n := len(y)
	sum, one := newMatrix(n, n), make([]float64, n)
	for i, v := range own.values {
		sum.values[i] = v + kernel.values[i]
	}
	for i := range one {
		one[i] = 1
	}
	c, ok := factorOf(sum)
	if !ok {
		return pooled{}, false
	}
	weight, level := 0.0, 0.0
	for i, v := range c.solveFor(one) {
		weight += v
		level += v * y[i]
	}
	level /= weight
	rest := make([]float64, n)
	for i := range n {
		rest[i] = y[i] - level
	}
	sr, ks := c.solveFor(rest), c.solve(kernel) // ks: S⁻¹K
	p := pooled{mean: kernel.on(sr)}
	fitness := 0.0
	for i := range n {
		p.mean[i] += level
		fitness += rest[i] * sr[i]
	}
	p.likelihood = -0.5 * (c.logDet() + math.Log(weight) + fitness)
	p.root, ok = factorOf(remaining(kernel, ks, weight))
	return p, ok
}

// remaining is the covariance of the levels after the trials, given S⁻¹K and the
// precision of the common level, which is uncertain too.
func remaining(kernel, ks *matrix, weight float64) *matrix {
	n := kernel.rows
	explained := kernel.times(ks)
	left := make([]float64, n) // 1 - K S⁻¹ 1
	for i := range n {
		left[i] = 1
		for j := range n {
			left[i] -= ks.at(j, i)
		}
	}
	cov := newMatrix(n, n)
	for i := range n {
		for j := i; j < n; j++ {
			v := kernel.at(i, j) + left[i]*left[j]/weight - explained.at(i, j)
			if i == j {
				v += 1e-9
			}
			cov.setBoth(i, j, v)
		}
	}
	return cov
}

// drawPooled draws from the mixture of all, each spread by its share.
func drawPooled(all []pooled, draws int, r *rand.Rand) [][]float64 {
	share := shares(all, func(p pooled) float64 { return p.likelihood })
	out, until := make([][]float64, 0, draws), 0.0
	for k, p := range all {
		until += share[k] * float64(draws)
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
			x[i] += p.root.at(i, j) * z[j]
		}
	}
	return x
}
