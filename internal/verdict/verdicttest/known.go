package verdicttest

// Uber is the published table of a load balancer under a quota of two CPUs,
// where the default of its day chose 24 (README of go.uber.org/automaxprocs).
// The table has the P99.9; half of it stands in for the p99.
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
