package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

const (
	fewestFit = 4    // different procs for three parameters
	goodFit   = 0.95 // R² below it is poor
	// nearZero is a coherency that would peak beyond 1,000 Ps: none.
	nearZero = 1e-6
)

// fit is X(N) = λN / (1 + σ(N−1) + κN(N−1)) (Gunther, Guerrilla Capacity
// Planning, chapter 4) through the medians, by least squares of logarithms,
// since the noise is a ratio. The peak is named only when the same fit to each
// block has a coherency above zero with 95% confidence, and is where was
// measured.
func (g *group) fit(contenders []*contender, effective float64) *USL {
	var procs, medians []float64
	var used []*contender
	within := 0
	for _, s := range contenders {
		if m := s.throughput.median(); s.procs > 0 && !math.IsNaN(m) {
			procs, medians, used = append(procs, float64(s.procs)), append(medians, math.Log(m)), append(used, s)
			if float64(s.procs) <= math.Ceil(effective) {
				within++
			}
		}
	}
	if len(procs) < fewestFit {
		return nil
	}
	c := fitCurve(procs, medians)
	u := &USL{Lambda: c.lambda, Sigma: c.sigma, Kappa: c.kappa, R2: c.r2(procs, medians)}
	for _, x := range []float64{u.Lambda, u.Sigma, u.Kappa, u.R2} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil // metrics at the ends of what a float64 holds have no curve
		}
	}
	if peak := math.Floor(math.Sqrt((1 - c.sigma) / c.kappa)); g.coherent(used, procs) && peak <= slices.Max(procs) {
		u.Peak = &peak
	}
	switch {
	case u.R2 < goodFit:
		u.Poor, u.Doubt = true, DoubtPoorFit
	case within < 3:
		u.Poor, u.Doubt, u.Within = true, DoubtFewWithin, within
	case len(procs) == fewestFit:
		u.Poor, u.Doubt = true, DoubtFewPoints
	}
	return u
}

// coherent reports whether κ is above zero with confidence, over the blocks in
// which every value has a value.
func (g *group) coherent(contenders []*contender, procs []float64) bool {
	var kappas []float64
	for b := range g.blocks {
		block := make([]float64, len(contenders))
		for i, s := range contenders {
			block[i] = s.throughput[b]
		}
		if !slices.ContainsFunc(block, math.IsNaN) {
			kappas = append(kappas, fitCurve(procs, block).kappa)
		}
	}
	return len(kappas) >= minPairs && locate(kappas).low > nearZero
}

// curve is a law with its parameters.
type curve struct{ lambda, sigma, kappa float64 }

func (c curve) log(n float64) float64 { return math.Log(c.lambda) + shapeLog(n, c.sigma, c.kappa) }

// shapeLog is ln(X/λ).
func shapeLog(n, sigma, kappa float64) float64 {
	return math.Log(n) - math.Log1p(sigma*(n-1)+kappa*n*(n-1))
}

// fitCurve searches σ = sin²a and κ = b², which keeps both in their bounds; the
// best λ for them is known in closed form. It starts from several shapes, since
// one start may end in a local minimum.
func fitCurve(procs, logs []float64) curve {
	level := func(sigma, kappa float64) (lambdaLog, loss float64) {
		residuals := make([]float64, len(procs))
		for i, n := range procs {
			residuals[i] = logs[i] - shapeLog(n, sigma, kappa)
		}
		mean, variance := stat.PopMeanVariance(residuals, nil)
		return mean, variance
	}
	bounded := func(x []float64) (sigma, kappa float64) {
		s := math.Sin(x[0])
		return s * s, x[1] * x[1]
	}
	problem := optimize.Problem{Func: func(x []float64) float64 {
		_, loss := level(bounded(x))
		return loss
	}}
	best, least := []float64{0, 0}, math.Inf(1)
	for _, start := range [][]float64{{0.1, 0.01}, {0.6, 0.05}, {1.4, 0.3}} {
		result, err := optimize.Minimize(problem, start, &optimize.Settings{MajorIterations: 200}, &optimize.NelderMead{})
		if result != nil && (err == nil || !math.IsNaN(result.F)) && result.F < least {
			best, least = result.X, result.F
		}
	}
	sigma, kappa := bounded(best)
	lambdaLog, _ := level(sigma, kappa)
	return curve{math.Exp(lambdaLog), sigma, kappa}
}

// r2 is over throughput itself, as the law's users quote it.
func (c curve) r2(procs, logs []float64) float64 {
	measured, fitted := make([]float64, len(logs)), make([]float64, len(logs))
	for i := range logs {
		measured[i], fitted[i] = math.Exp(logs[i]), math.Exp(c.log(procs[i]))
	}
	if stat.Variance(measured, nil) == 0 {
		return 0
	}
	return stat.RSquaredFrom(fitted, measured, nil)
}
