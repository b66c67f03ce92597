package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

const (
	stealMuch  = 0.01 // of the machine's CPU time, in the middle of all trials
	stealHeavy = 0.2  // in one loop of one trial: its metrics are hardly the program's
)

// The remarks that are made here.
type (
	// Steal is what a hypervisor took.
	Steal struct {
		Share      float64 // of the CPU time
		Bursts, Of int     // trials with stealHeavy or more
	}
	Drift      struct{ Change float64 }                     // of throughput, from the start to the end of the run
	SpansNodes struct{ Nodes []journal.Node }               // the target's CPUs are on several nodes of memory
	SpansKinds struct{ Performance, Efficiency cpuset.Set } // the target's CPUs are of two kinds
	Heat       struct{ Trials, Of int }                     // in how many trials the CPUs lowered their clock because they were too hot
)

func (Steal) Code() Code      { return "steal" }
func (Drift) Code() Code      { return "drift" }
func (SpansNodes) Code() Code { return "spans_nodes" }
func (SpansKinds) Code() Code { return "spans_kinds" }
func (Heat) Code() Code       { return "heat" }

// steal adds that a hypervisor took CPU time: all along, or in bursts.
func (n *notes) steal(all []*journal.Trial) {
	machine := float64(max(1, n.h.TargetHost.CPUs))
	w := Steal{Of: len(all)}
	if x := over(medianRate(all, stealSeconds), machine); x != nil {
		w.Share = *x
	}
	for _, t := range all {
		if worstSteal(t)/machine >= stealHeavy {
			w.Bursts++
		}
	}
	n.when(w.Share > stealMuch || w.Bursts > 0, -1, w)
}

// worstSteal is what was stolen in a second of the worst loop, in CPUs.
func worstSteal(t *journal.Trial) (most float64) {
	for _, u := range t.Usages() {
		if u.HostUse != nil && u.MeasuredSeconds > 0 {
			most = max(most, u.HostUse.StealSeconds/u.MeasuredSeconds)
		}
	}
	return most
}

// drift is the trend of throughput over the run, after each setting's own level is
// taken out. Blocks make up for it; it says that the machine was not at rest.
func (n *notes) drift(groups []*group) {
	level := map[journal.SettingKey]float64{}
	for _, g := range groups {
		for _, a := range g.Settings {
			if v := contest.Figures(g.Trials(a), throughputOf); len(v) > 0 {
				level[a.Key()] = stat.Middle(v)
			}
		}
	}
	var at, residual []float64
	for i, t := range allTrials(groups...) {
		if x := t.ThroughputPerSecond; t.Valid && x != nil && *x > 0 && level[t.Setting.Key()] > 0 {
			at, residual = append(at, float64(i)), append(residual, math.Log(*x/level[t.Setting.Key()]))
		}
	}
	if len(at) < 12 { // too few for a trend
		return
	}
	alpha, beta := stat.Line(at, residual)
	var squares float64
	for i := range at {
		e := residual[i] - alpha - beta*at[i]
		squares += e * e
	}
	df := len(at) - 2
	se := math.Sqrt(squares / float64(df) / (stat.Variance(at) * float64(len(at)-1)))
	total := beta * (at[len(at)-1] - at[0])
	n.when(math.Abs(total) > n.h.Plan.Margin && math.Abs(beta) > stat.TQuantile(0.975, float64(df))*se, -1, Drift{expm1(total)})
}

// spanned are the nodes of memory that have some of the target's CPUs.
func spanned(h journal.Header) (list []journal.Node) {
	if h.TargetHost.Topology == nil {
		return nil
	}
	target := h.Target.Had()
	for _, n := range h.TargetHost.Topology.Nodes {
		cpus := n.CPUs
		if len(target) > 0 {
			cpus = cpus.Within(target)
		}
		if len(cpus) > 0 {
			list = append(list, journal.Node{ID: n.ID, CPUs: cpus})
		}
	}
	return list
}

// nodes adds that a target's memory may be far from where it runs.
func (n *notes) nodes() {
	if list := spanned(n.h); len(list) > 1 && n.h.Target.Attached == nil {
		n.add(-1, SpansNodes{list})
	}
}

// kinds adds that the target's CPUs are of two kinds: how fast it is depends on which of
// them the kernel chooses.
func (n *notes) kinds() {
	t := n.h.TargetHost.Topology
	if t == nil || n.h.Target.Attached != nil {
		return
	}
	fast, slow := t.PerformanceCPUs, t.EfficiencyCPUs
	if target := n.h.Target.Had(); len(target) > 0 {
		fast, slow = fast.Within(target), slow.Within(target)
	}
	n.when(len(fast) > 0 && len(slow) > 0, -1, SpansKinds{fast, slow})
}

// heat adds in how many trials the CPUs lowered their clock because they were too hot.
func (n *notes) heat(all []*journal.Trial) {
	w := Heat{Of: len(all)}
	for _, t := range all {
		if slices.ContainsFunc(t.Usages(), func(u *journal.Usage) bool { return u.HostUse != nil && stat.OrZero(u.HostUse.HeatTimes) > 0 }) {
			w.Trials++
		}
	}
	n.when(w.Trials > 0, -1, w)
}
