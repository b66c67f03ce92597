// Package fit turns CPUs into a GOMAXPROCS.
package fit

import "math"

// Rounding is how a fraction of a CPU is rounded.
type Rounding string

const (
	Ceil  Rounding = "ceil"  // otherwise a fraction of a CPU would never be used
	Floor Rounding = "floor" // for a reserve, which must not be used
)

// Rule is how CPUs become a GOMAXPROCS: minus the reserve, rounded, limited by Min and
// Max. The zero value is the default.
type Rule struct {
	Rounding  Rounding // "": Floor with a reserve, otherwise Ceil
	Threshold float64  // above 0: the smallest fraction of a CPU that is rounded up; overrides Rounding
	Min       int      // below 1: 1; overrides Max, and applies only under a limit
	Max       int      // below 1: none
	Reserve   float64  // CPUs reserved for others under the same limit
}

// Procs is the GOMAXPROCS for a number of CPUs. limited means that they come from a
// limit, not from the affinity alone.
func (r Rule) Procs(cpus float64, limited bool) int {
	return r.Clamp(r.Round(r.Left(cpus)), limited)
}

// Left is the number of CPUs without the reserve.
func (r Rule) Left(cpus float64) float64 { return cpus - math.Max(0, r.Reserve) }

// Direction is the rounding if there is no threshold.
func (r Rule) Direction() Rounding {
	if r.Rounding == Floor || r.Rounding != Ceil && r.Reserve > 0 {
		return Floor
	}
	return Ceil
}

// Round only rounds. It allows for rounding errors, so that 2.2 CPUs minus a reserve of
// 0.2 give 2 and not 3.
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

// Clamp limits a value to Min, which applies only under a limit, and Max.
func (r Rule) Clamp(n int, limited bool) int {
	if r.Max > 0 {
		n = min(n, r.Max)
	}
	if limited {
		n = max(n, r.Min)
	}
	return max(n, 1)
}

// Int converts after rounding; very large limits saturate.
func Int(cpus float64) int {
	if cpus > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(cpus)
}
