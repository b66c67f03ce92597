// Package fit turns CPUs into Ps.
package fit

import "math"

// Rounding says what becomes of a part of a CPU.
type Rounding string

const (
	Ceil  Rounding = "ceil"  // part of a CPU is worth a P, or it would never be used
	Floor Rounding = "floor" // more Ps than CPUs would spend what is not theirs
)

// Rule is how CPUs become Ps: less the reserve, rounded, bounded. The zero value
// is the default.
type Rule struct {
	Rounding  Rounding // "" is Floor with a reserve, which rounding up would take back, and else Ceil
	Threshold float64  // above 0: the smallest part of a CPU that is rounded up, whatever Rounding says
	Min       int      // below 1: 1; it goes before Max, and needs a limit
	Max       int      // below 1: none
	Reserve   float64  // CPUs left to a co-tenant in the same limit
}

// Procs is the number of Ps for so many CPUs, which a limit gives or, if none
// does, the affinity alone.
func (r Rule) Procs(cpus float64, limited bool) int {
	return r.Clamp(r.Round(r.Left(cpus)), limited)
}

// Left is what the reserve leaves.
func (r Rule) Left(cpus float64) float64 { return cpus - math.Max(0, r.Reserve) }

// Direction is the rounding where no threshold decides.
func (r Rule) Direction() Rounding {
	if r.Rounding == Floor || r.Rounding != Ceil && r.Reserve > 0 {
		return Floor
	}
	return Ceil
}

// Round rounds, and no more. It allows for the error of a division and a
// subtraction, so that 2.2 CPUs less a reserve of 0.2 are 2 and not 3.
func (r Rule) Round(cpus float64) int {
	const epsilon = 1e-9
	switch {
	case r.Threshold > 0:
		whole := math.Floor(cpus + epsilon)
		if part := cpus - whole; part > epsilon && part+epsilon >= r.Threshold {
			whole++
		}
		return Int(whole)
	case r.Direction() == Floor:
		return Int(math.Floor(cpus + epsilon))
	}
	return Int(math.Ceil(cpus - epsilon))
}

// Clamp keeps a number within Min, which needs a limit, and Max.
func (r Rule) Clamp(n int, limited bool) int {
	if r.Max > 0 && n > r.Max {
		n = r.Max
	}
	if limited && n < r.Min {
		n = r.Min
	}
	if n < 1 {
		n = 1
	}
	return n
}

// Int converts after rounding; limits above any machine's CPUs saturate.
func Int(cpus float64) int {
	if cpus > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(cpus)
}
