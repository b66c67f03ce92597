package verdict_test

import (
	"math"

	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Curve is throughput relative to one P, by the number of Ps.
type Curve struct {
	Name string
	At   func(procs float64) float64
}

// Curves are six shapes of throughput that Go programs show on a machine, or
// under a quota, of that many CPUs.
func Curves(cpus float64) []Curve {
	capped := func(n float64) float64 { return math.Min(n, cpus) }
	usl := func(sigma, kappa float64) func(float64) float64 {
		return func(n float64) float64 { return n / (1 + sigma*(n-1) + kappa*n*(n-1)) }
	}
	return []Curve{
		{"linear to the CPUs, then flat", capped},
		{"contended", usl(0.15, 0)},
		{"retrograde", usl(0.05, 0.01)},
		{"quota cliff", func(n float64) float64 { return capped(n) / (1 + 0.08*math.Max(0, n-cpus)) }},
		{"flat", func(n float64) float64 { return 1 }},
		{"waits for I/O", func(n float64) float64 { return math.Min(math.Pow(n, 0.3), 2) }},
	}
}

// Settings is unset, resolving to the CPUs, and the given values on the curve. The
// p99 in open loop falls with capacity, and grows with the Ps beyond the CPUs.
func (c Curve) Settings(cpus int, procs ...int) []Truth {
	const one = 5000 // per second at one P
	at := func(n int) (throughput, p99 float64) {
		x := c.At(float64(n))
		over := math.Max(0, float64(n-cpus)) / float64(cpus)
		return one * x, (0.004 + 0.016/x) * (1 + 0.15*over)
	}
	throughput, p99 := at(cpus)
	settings := []Truth{Unset(cpus, throughput, p99)}
	for _, n := range procs {
		throughput, p99 := at(n)
		settings = append(settings, Set(n, throughput, p99))
	}
	return settings
}
