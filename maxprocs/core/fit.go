package core

import "math"

// Rounding says what becomes of a part of a CPU.
type Rounding string

const (
	Ceil  Rounding = "ceil" // the default: part of a CPU is worth a P, or it would never be used
	Floor Rounding = "floor"
)

// Fit turns CPUs into Ps. Package maxprocs has the same type as a policy, with
// the reasons.
type Fit struct {
	Rounding  Rounding // "" is Ceil
	Threshold float64  // above 0: the smallest part of a CPU that is rounded up, whatever Rounding says
	Min       int      // 0 is 1; it goes before Max
	Max       int      // 0: none
	Reserve   float64  // CPUs left to a co-tenant in the same limit
}

// Procs is the number of Ps for so many CPUs.
func (p Fit) Procs(cpus float64) int {
	return p.clamp(p.Round(cpus - math.Max(0, p.Reserve)))
}

// Round rounds, and no more. It allows for the error of a division and a
// subtraction, so that 2.2 CPUs less a reserve of 0.2 are 2 and not 3.
func (p Fit) Round(cpus float64) int {
	const epsilon = 1e-9
	switch {
	case p.Threshold > 0:
		whole := math.Floor(cpus + epsilon)
		if part := cpus - whole; part > epsilon && part+epsilon >= p.Threshold {
			whole++
		}
		return toInt(whole)
	case p.Rounding == Floor:
		return toInt(math.Floor(cpus + epsilon))
	}
	return toInt(math.Ceil(cpus - epsilon))
}

func (p Fit) clamp(n int) int {
	if p.Max > 0 && n > p.Max {
		n = p.Max
	}
	if n < p.Min {
		n = p.Min
	}
	if n < 1 {
		n = 1
	}
	return n
}

// toInt converts after rounding; limits above any machine's CPUs saturate.
func toInt(cpus float64) int {
	if cpus > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(cpus)
}
