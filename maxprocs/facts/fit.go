package facts

import "github.com/procfit/procfit/maxprocs/internal/fit"

// Rounding is how a fraction of a CPU is rounded.
type Rounding = fit.Rounding

const (
	Ceil  = fit.Ceil  // the default: otherwise a fraction of a CPU would never be used
	Floor = fit.Floor // the default with a reserve, because rounding up would use the reserve
)

// Fit is the policy of package maxprocs: GOMAXPROCS is not higher than the CPUs that the
// process can use. It takes the tightest limit of all cgroups from the process's own to
// the root, or the affinity if that is lower, subtracts a reserve, and rounds. The zero
// value is the default.
//
// It differs from the runtime of Go 1.25 and later in two points. The runtime reads only
// the limit of the process's own cgroup, although the kernel also enforces those of its
// parents (golang/go#81180): in a cgroup of 20 CPUs below one of 1.5 CPUs it chooses 20.
// And the runtime never chooses less than 2, even for a limit of one CPU or less.
//
// Fit ignores the environment: it is for the caller to keep a valid GOMAXPROCS there.
type Fit struct {
	Rounding  Rounding // "": Floor with a reserve, otherwise Ceil
	Threshold float64  // above 0: the smallest fraction of a CPU that is rounded up; overrides Rounding
	Min       int      // below 1: 1; overrides Max, and applies only under a limit
	Max       int      // below 1: none
	Reserve   float64  // CPUs reserved for others under the same limit, such as a sidecar
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
			d.because("the limit of %s is %s and is not used: %s", l.Dir, l.State, l.Error)
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
		d.because("the minimum of %d applies only under a limit", p.Min)
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
