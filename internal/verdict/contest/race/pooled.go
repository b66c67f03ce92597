package race

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/procfit/procfit/internal/show/sorting"
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

// The prior of p99 over values: from one to the next it stays (but for sd 0.03 a
// root of the doublings between), bends (0.15) or jumps (0.7). That p99 is equal on
// a plateau is the usual truth, and throughput knows nothing of it.
var (
	stepSD     = [3]float64{0.03, 0.15, 0.7}
	stepChance = [3]float64{0, 0.2, 0.25} // of a bend and of a jump, a doubling
)

// histories is how many ways through the curve are kept.
const histories = 150

// history is one way through the values: which steps were taken, and what is known
// of each level after the values up to it (a Kalman filter).
type history struct {
	likelihood float64
	mean, v    []float64
	step       []float64 // variance of the step after each value
}

// curve draws p99s of the settings, neighbours pooled. The draws of one level are
// stratified over the histories.
func (f *fit) curve(settings []int, draws int, r *rand.Rand) [][]float64 {
	all := f.histories(settings)
	until := shares(all, func(h *history) float64 { return h.likelihood })
	for i := range len(until) - 1 {
		until[i+1] += until[i]
	}
	out := make([][]float64, draws)
	for s := range out {
		u := (float64(s) + r.Float64()) / float64(draws)
		h := all[min(sort.SearchFloat64s(until, u), len(all)-1)]
		out[s] = h.draw(r)
	}
	r.Shuffle(draws, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// histories filters the settings in order, and keeps the likeliest.
func (f *fit) histories(settings []int) []*history {
	y, v := f.apart(settings)
	all := []*history{{mean: y[:1:1], v: v[:1:1]}}
	for i := 1; i < len(settings); i++ {
		far := max(math.Log2(float64(settings[i])/float64(settings[i-1])), 0.05)
		jump := 1 - math.Pow(1-stepChance[2], far)
		bend := 1 - math.Pow(1-stepChance[1], far)
		chance := [3]float64{max(0.05, 1-bend-jump), bend, jump}
		next := make([]*history, 0, 3*len(all))
		for _, h := range all {
			for k := range chance {
				step := stepSD[k] * stepSD[k]
				if k < 2 {
					step *= far
				}
				next = append(next, h.after(step, math.Log(chance[k]), y[i], v[i]))
			}
		}
		sorting.Stable(next, func(a, b *history) int { return cmp.Compare(b.likelihood, a.likelihood) })
		all = next[:min(len(next), histories)]
	}
	return all
}

// apart are the settings' means with what each is uncertain of alone: what they share is
// no difference.
func (f *fit) apart(settings []int) (y, v []float64) {
	shared, pairs := 0.0, 0.0
	for i, a := range settings {
		for _, b := range settings[:i] {
			shared += f.cov.at(f.index[a], f.index[b])
			pairs++
		}
	}
	for _, a := range settings {
		own := f.cov.at(f.index[a], f.index[a])
		if pairs > 0 {
			own = max(own-shared/pairs, own/4)
		}
		y, v = append(y, f.mean[f.index[a]]), append(v, own)
	}
	return y, v
}

// after is the history one value on.
func (h *history) after(step, chance, y, v float64) *history {
	last := len(h.mean) - 1
	before := h.v[last] + step
	miss, s := y-h.mean[last], before+v
	gain := before / s
	return &history{
		likelihood: h.likelihood + chance - 0.5*math.Log(s) - 0.5*miss*miss/s,
		mean:       append(slices.Clip(h.mean), h.mean[last]+gain*miss),
		v:          append(slices.Clip(h.v), before*(1-gain)),
		step:       append(slices.Clip(h.step), step),
	}
}

// draw goes back from the last value (backward sampling).
func (h *history) draw(r *rand.Rand) []float64 {
	n := len(h.mean)
	x := make([]float64, n)
	x[n-1] = h.mean[n-1] + math.Sqrt(h.v[n-1])*r.NormFloat64()
	for k := n - 2; k >= 0; k-- {
		gain := h.v[k] / (h.v[k] + h.step[k])
		x[k] = h.mean[k] + gain*(x[k+1]-h.mean[k]) + math.Sqrt(h.v[k]*(1-gain))*r.NormFloat64()
	}
	return x
}
