// Package verdicttest generates journals whose truth is known, so that a test can
// ask whether an analysis finds it.
//
// A trial's throughput is the setting's true value times a drift that all settings
// share (a random walk over the trials, in the order in which they ran), times
// a log-normal factor of its own; now and then a trial is an outlier. Its p99
// has a wider log-normal factor, and moves against the drift. What the kernel
// would have counted is made up to fit, so that a report has something to show.
//
// The same Config gives the same journal.
package verdicttest

import "math"

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

// Uber is the published table of a load balancer under a quota of two CPUs,
// where the default of its day chose 24 (README of go.uber.org/automaxprocs).
// The table has the P99.9; half of it represents the p99.
func Uber() []Truth {
	half := func(ms float64) float64 { return ms / 2 / 1000 }
	settings := Quota(2,
		Unset(24, 22191.40, half(76.19)),
		Set(1, 28893.18, half(19.70)),
		Set(2, 44715.07, half(26.38)),
		Set(3, 44212.93, half(30.07)),
		Set(4, 41071.15, half(42.94)),
		Set(8, 33111.69, half(64.32)),
		Set(24, 22191.40, half(76.19)),
	)
	for i := range settings {
		if settings[i].Resolved > 2 {
			settings[i].Throttled = 0.9
		}
	}
	return settings
}

// CPUServer is document 000's table: hashing over HTTP on eight CPUs.
func CPUServer() []Truth {
	return []Truth{
		Unset(8, 78100, 0.0052),
		Set(1, 12000, 0.0287),
		Set(2, 23500, 0.0151),
		Set(4, 45200, 0.0084),
		Set(8, 78100, 0.0052),
		Set(16, 76400, 0.0061),
	}
}
