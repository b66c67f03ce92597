package facts

import "github.com/procfit/procfit/maxprocs/internal/fit"

// Rounding says what becomes of a part of a CPU.
type Rounding = fit.Rounding

const (
	Ceil  = fit.Ceil  // the default: part of a CPU is worth a P, or it would never be used
	Floor = fit.Floor // the default of what a reserve leaves, which rounding up would take back
)

// Fit is the policy of package maxprocs: no more Ps than CPUs that can be had. It
// takes the tightest limit of all groups from the process's own to the root
// and the affinity, less a reserve, and rounds. The zero value is the default.
//
// It differs from the runtime of Go 1.25 and later in two points. That reads
// the limit of the process's own group alone, though the kernel enforces the
// ancestors' too (golang/go#81180): under a parent of 1.5 CPUs and a leaf of
// 20 it takes 20. And it never goes below 2, even for a limit of one CPU or
// less, where the second P can only spend quota that the first one lacks.
//
// Fit says what suits the CPUs, whatever the environment asks for; a valid
// GOMAXPROCS there is left in force by whoever applies the decision.
type Fit struct {
	Rounding  Rounding // "" is Floor with a reserve, and else Ceil
	Threshold float64  // above 0: the smallest part of a CPU that is rounded up, whatever Rounding says
	Min       int      // below 1: 1; it goes before Max, and needs a limit: the affinity is no quota
	Max       int      // below 1: none
	Reserve   float64  // CPUs left to a co-tenant in the same limit, a sidecar say
}

// Name implements Policy.
func (Fit) Name() PolicyName { return PolicyFit }

func (p Fit) decide(f Facts) Decision {
	d := newDecision(p, f)
	cpus := float64(d.addCPUs(f))
	winner := KindAffinity
	for _, l := range f.Limits {
		switch l.State {
		case Known:
			d.because("%s limits it to %s", l.describe(), countCPUs(l.CPUs))
		case Unreadable, Malformed:
			d.because("the limit of %s is %s and cannot count: %s", l.Dir, l.State, l.Error)
		}
	}
	if f.Cgroup.State == Unreadable || f.Cgroup.State == Malformed {
		d.because("its CPU limits cannot be found: %s", f.Cgroup.Error)
	}
	l, limited := f.Tightest()
	if limited {
		d.add(Candidate{What: KindLimit, CPUs: l.CPUs, Procs: p.round(l.CPUs), File: l.File, Raw: l.Raw})
		if l.CPUs < cpus {
			cpus, winner = l.CPUs, KindLimit
			d.because("the limit of %s is the tightest", l.Dir)
		} else {
			d.because("no limit is below its affinity")
		}
	}
	if p.Reserve > 0 {
		d.because("%s reserved for others: %s − %s", countCPUs(p.Reserve), cpusText(cpus), cpusText(p.Reserve))
		cpus = fit.Rule(p).Left(cpus)
	}
	n := p.round(cpus)
	if float64(n) != cpus && cpus > 0 {
		d.because("%s is rounded (%s) to %d", cpusText(cpus), p.roundingText(), n)
	}
	if p.Max > 0 && n > p.Max {
		d.because("%d is above the maximum of %d", n, p.Max)
		n = p.Max
	}
	if least := fit.Rule(p).Clamp(n, limited); n < least {
		d.because("%d is below the minimum of %d", n, least)
		n = least
	} else if n < p.Min {
		d.because("the minimum of %d needs a limit", p.Min)
	}
	return d.win(winner, n)
}

func (p Fit) roundingText() string {
	if p.Threshold > 0 {
		return "up from " + cpusText(p.Threshold)
	}
	if p.Rounding == "" && p.Reserve > 0 {
		return "floor, since rounding up would take the reserve back"
	}
	return string(fit.Rule(p).Direction())
}

func (p Fit) round(cpus float64) int { return fit.Rule(p).Round(cpus) }
