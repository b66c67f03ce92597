package contest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// A quantile that strays is given up for a lower one that does not, unless it tells two
// settings apart.
func TestSteady(t *testing.T) {
	for name, c := range map[string]struct {
		p99, p90, p50 float64 // standard deviations of the logarithms
		apart         float64 // the second setting's p99 over the first's
		blocks        int
		want, passed  float64
	}{
		"steady":             {0.2, 0.2, 0.2, 1, 10, 0.99, 0},
		"p99 strays":         {1.2, 0.3, 0.1, 1, 10, 0.9, 0.99},
		"p99 and p90 do":     {1.2, 2, 0.1, 1, 10, 0.5, 0.99},
		"all do":             {1.2, 2, 2, 1, 10, 0.99, 0},
		"it tells apart":     {1.2, 0.3, 0.1, 50, 10, 0.99, 0},
		"too few to tell so": {1.2, 0.3, 0.1, 1, 2, 0.99, 0},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var trials []*journal.Trial
		for block := range c.blocks {
			for procs := 1; procs <= 2; procs++ {
				x := trial(setting(procs, 0), block, 100, 0.01*math.Exp(c.p99*r.NormFloat64()))
				if procs == 2 {
					*x.LatencySeconds.P99 *= c.apart
				}
				x.LatencySeconds.P90, x.LatencySeconds.P50 = new(0.005*math.Exp(c.p90*r.NormFloat64())), new(0.002*math.Exp(c.p50*r.NormFloat64()))
				trials = append(trials, &x)
			}
		}
		j := steady(trials[0].Setting.Group(), trials)
		if j.Quantile != c.want || j.Passed != c.passed || (j.Strays > 0.75) != (c.passed > 0) {
			t.Errorf("%s: %+v; want the quantile %g in place of %g", name, j, c.want, c.passed)
		}
		if gate := highest(trials[0].Setting.Group(), trials); gate.Quantile != 0.99 {
			t.Errorf("%s: a gate judges %g", name, gate.Quantile)
		}
	}
}
