package facts

import "math"

// JVM is the policy of HotSpot's container support, as in JDK 24 and later. It does not
// apply to Go programs, but shows what a neighbor under the same limits uses. It rounds
// up the tightest limit of all cgroups, at most to the affinity, and ignores CPU shares
// (JDK-8281181).
type JVM struct {
	ActiveProcessorCount int // -XX:ActiveProcessorCount; 0: not given
}

// Name implements Policy.
func (JVM) Name() PolicyName { return PolicyJVM }

func (p JVM) decide(f Facts) Decision {
	d := newDecision(p, f)
	if p.ActiveProcessorCount > 0 {
		d.because("-XX:ActiveProcessorCount=%d overrides what it would find", p.ActiveProcessorCount)
		d.add(Candidate{What: KindOption, CPUs: float64(p.ActiveProcessorCount), Procs: p.ActiveProcessorCount})
		return d.win(KindOption, p.ActiveProcessorCount)
	}
	procs := d.addCPUs(f)
	l, ok := f.Tightest()
	if !ok {
		d.because("it finds no CPU limit")
		return d.win(KindAffinity, procs)
	}
	n := toInt(math.Max(1, math.Ceil(l.CPUs)))
	d.add(Candidate{What: KindLimit, CPUs: l.CPUs, Procs: n, File: l.File, Raw: l.Raw})
	d.because("%s limits it to %s; rounded up: %d", l.describe(), countCPUs(l.CPUs), n)
	if n < procs {
		return d.win(KindLimit, n)
	}
	d.because("that is not below its affinity")
	return d.win(KindAffinity, procs)
}
