package race

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// recorded is a fit, with the levels that are drawn of its settings.
type recorded struct {
	Mean, Variance, First, Drawn []float64 // First: covariance with the first setting
	Sigma, T99                   float64
}

// designed is samples of up to six settings in up to three starts; some designs have one
// block, and some trials that stray.
func designed(seed uint64) (samples []sample) {
	r := rand.New(rand.NewPCG(seed, 1))
	settings, blocks, starts := 1+r.IntN(6), 1+r.IntN(30), 1+r.IntN(3)
	for block := range blocks {
		shift := 0.02 * r.NormFloat64()
		for k := range settings {
			s := sample{setting: 1 << k, block: block, start: block % starts, y: 8 + shift + 0.1*float64(k) + 0.01*float64(k+1)*r.NormFloat64()}
			if r.IntN(20) == 0 {
				s.y -= 0.4
			}
			if r.IntN(5) > 0 {
				samples = append(samples, s)
			}
		}
	}
	return samples
}

func recordOf(seed uint64) recorded {
	f := newFit(designed(seed), priorOf(Throughput))
	var r recorded
	if f == nil {
		return r
	}
	for i, a := range f.settings {
		r.Mean, r.Variance, r.First = append(r.Mean, f.mean[i]), append(r.Variance, f.cov.at(i, i)), append(r.First, f.cov.at(0, i))
		if i == len(f.settings)-1 {
			r.Drawn = f.rivals(f.settings, i, 8, rand.New(rand.NewPCG(seed, uint64(a))))[7]
		}
	}
	r.Sigma, r.T99 = f.sigma, f.quantile(0.99)
	return r
}

// The fits are those that gonum.org/v1/gonum/mat v0.17.0 gave, whose factorizations have
// pivots and blocks.
func TestFitIsThatOfGonum(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/fits.json"))(t)
	var all []recorded
	must.OK(t, json.Unmarshal(b, &all))
	settings := 0
	for seed, want := range all {
		got := recordOf(uint64(seed))
		settings += len(got.Mean)
		near(t, seed, "means", got.Mean, want.Mean)
		near(t, seed, "variances", got.Variance, want.Variance)
		near(t, seed, "covariances", got.First, want.First)
		near(t, seed, "drawn levels", got.Drawn, want.Drawn)
		near(t, seed, "sigma and t", []float64{got.Sigma, got.T99}, []float64{want.Sigma, want.T99})
	}
	if settings < 100 {
		t.Errorf("only %d settings were fitted", settings)
	}
}

func near(t *testing.T, seed int, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("design %d: %d %s, want %d", seed, len(got), what, len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-9*max(0.01, math.Abs(want[i])) {
			t.Errorf("design %d: %s %v, want %v", seed, what, got, want)
			return
		}
	}
}
