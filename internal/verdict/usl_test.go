package verdict

import (
	"math"
	"testing"
)

func TestFitCurveRecovers(t *testing.T) {
	for _, want := range []curve{{1000, 0.05, 0.01}, {20, 0.3, 0}, {5e5, 0, 0}, {7, 0, 0.02}, {1, 1, 0}} {
		var procs, logs []float64
		for _, n := range []float64{1, 2, 3, 4, 8, 16} {
			procs, logs = append(procs, n), append(logs, want.log(n))
		}
		got := fitCurve(procs, logs)
		if math.Abs(got.lambda/want.lambda-1) > 0.01 || math.Abs(got.sigma-want.sigma) > 0.01 || math.Abs(got.kappa-want.kappa) > 0.001 {
			t.Errorf("fitted %+v, want %+v", got, want)
		}
	}
}
