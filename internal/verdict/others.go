package verdict

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const (
	// othersMatter is the share of the target's CPUs from which other programs are
	// more than the few per cent that run on every machine.
	othersMatter = 0.1
	// crowdedBy is by how much what a setting could use, its load and other programs
	// together exceed the CPUs before they are called too few.
	crowdedBy = 1.1
	// inUse is the share of the CPUs that is used where they are too few: with CPUs
	// idle nobody starved. Ticks and short trials lose some.
	inUse = 0.85
)

// OtherPrograms is the CPU that neither the target nor its load used, on the CPUs
// that the target may use.
type OtherPrograms struct {
	CPUs *float64 `json:"cpus"` // the median over the trials; null where it was not counted
	Of   int      `json:"of,omitempty"`
	// MostCPUs is the median over the trials of MostArm, which had the most of it, where
	// that is more than runs on every machine; null elsewhere.
	MostCPUs *float64 `json:"most_cpus,omitempty"`
	MostArm  string   `json:"most_arm,omitempty"`
	// Matter is that they are more than runs on every machine.
	Matter bool `json:"matter"`
	// Withheld are the labels of the arms that had too few CPUs beside them.
	Withheld []string `json:"withheld,omitempty"`
	// Bursts is how many of all Trials had much of them, at most the share BurstMost of the
	// CPU time, where most have hardly any; LeftOut of these do not count.
	Bursts    int     `json:"bursts,omitempty"`
	BurstMost float64 `json:"burst_most,omitempty"`
	Trials    int     `json:"trials,omitempty"`
	LeftOut   int     `json:"left_out,omitempty"`
}

// burstsOf are the trials of a machine that was busy for a while.
func (o *OtherPrograms) burstsOf(all []*journal.Trial) {
	if !contest.QuietButFor(all) {
		return
	}
	for _, t := range all {
		if !contest.InBurst(t) {
			continue
		}
		o.Bursts, o.BurstMost, o.Trials = o.Bursts+1, max(o.BurstMost, contest.MostOthers(t)), len(all)
		if t.InvalidCode == journal.InvalidCrowded {
			o.LeftOut++
		}
	}
}

func otherSeconds(u *journal.Usage) *float64 {
	if u.HostUse == nil {
		return nil
	}
	return u.HostUse.OtherCPUSeconds
}

// targetCPUs is how many CPUs the target may use, as the trials counted them.
func targetCPUs(trials []*journal.Trial) int {
	n := 0
	for _, t := range trials {
		if t.Valid && t.HostUse != nil {
			n = max(n, t.HostUse.TargetCPUs)
		}
	}
	return n
}

// others judges what other programs took. An arm is withheld where they matter, where
// the Ps within the quota, the load and they want more than the CPUs by a tenth, and
// where these CPUs were in fact in use: then what the arm did was what the others left.
// The load by itself withholds nothing, however much it takes.
func (g *group) others(r *Group, shared bool) {
	var all []*journal.Trial
	for _, a := range g.arms {
		all = append(append(all, a.measure...), a.aa...)
	}
	o := OtherPrograms{CPUs: medianRate(all, otherSeconds), Of: targetCPUs(all)}
	o.burstsOf(all)
	for i, a := range g.arms {
		n, e := float64(targetCPUs(a.measure)), &r.Arms[i].Evidence
		if e.OtherCPUs == nil || n <= 0 || *e.OtherCPUs < othersMatter*n {
			continue
		}
		o.Matter = true
		if o.MostCPUs == nil || *e.OtherCPUs > *o.MostCPUs {
			o.MostCPUs, o.MostArm = e.OtherCPUs, a.Label
		}
		load := 0.0
		if shared && e.LoadCPUs != nil {
			load = *e.LoadCPUs
		}
		beside := load + orZero(e.BesideCPUs) + *e.OtherCPUs
		want, used := math.Min(n, g.wanted(&r.Arms[i]))+beside, beside
		if e.CPUs != nil {
			used += *e.CPUs
		}
		if want > crowdedBy*n && used >= inUse*n {
			r.Arms[i].Withheld, a.withheld = true, true
			o.Withheld = append(o.Withheld, a.Label)
		}
	}
	o.Matter = o.Matter || o.CPUs != nil && *o.CPUs >= othersMatter*float64(max(1, o.Of))
	r.Others = o
}

// wanted is the CPUs that an arm could use: its Ps within the quota, of all replicas.
func (g *group) wanted(a *ArmResult) float64 {
	ps := math.Inf(1)
	if a.ResolvedProcs != nil {
		ps = float64(*a.ResolvedProcs)
	} else if a.Procs != nil {
		ps = float64(*a.Procs)
	}
	if g.key.Limited {
		ps = math.Min(ps, g.key.QuotaCPUs)
	}
	return ps * float64(g.key.Replicas)
}

// withheld removes the settings with a withheld arm, which the verdict then says.
func withheld(settings []*setting) (stand, without []*setting) {
	for _, s := range settings {
		starved := false
		for _, a := range s.arms {
			starved = starved || a.withheld
		}
		if starved {
			without = append(without, s)
		} else {
			stand = append(stand, s)
		}
	}
	return stand, without
}
