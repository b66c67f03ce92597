package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/procfit/procfit/internal/journal"
)

const (
	stealMuch = 0.01 // of the machine's CPU time
	unboundBy = 1.05 // of the quota: more is not the accounting's rounding
)

// run adds what concerns the whole run.
func (n *notes) run(r *Result, groups []*group) {
	if !r.Complete {
		fix := "run again with the same --out: it completes what is missing"
		if r.TrialsRun == r.TrialsInvalid && r.TrialsInvalid+r.PilotsInvalid > 0 {
			fix = "mend what made the trials invalid, then begin anew with another --out"
		}
		n.add(-1, "incomplete", fix,
			"only %d of %d planned trials are in the journal", min(r.TrialsRun, r.TrialsPlanned), r.TrialsPlanned)
	}
	n.drift(groups)
	all := allTrials(groups)
	if steal := over(medianRate(all, stealSeconds), float64(max(1, n.h.TargetHost.CPUs))); steal != nil && *steal > stealMuch {
		n.add(-1, "steal", "a machine that is not shared, or more --repeats", "the hypervisor took %s of the CPU time", percent(*steal))
	}
	limited, of := 0, 0
	other, first := 0, ""
	for _, t := range all {
		if !t.Valid {
			continue
		}
		of++
		if limitedByLoad(t) {
			limited++
		}
		for _, w := range t.Warnings {
			if !slices.Contains(covered, w.Code) {
				other++
				first = cmp.Or(first, w.Detail, string(w.Code))
			}
		}
	}
	if limited > 0 {
		n.add(-1, "load_limited", "drive the load from another machine, or with --load-cpuset on CPUs of its own",
			"the load engine was at its own limit in %d of %s: the program may be capable of more", limited, plural(of, "trial"))
	}
	if other > 0 {
		n.add(-1, "trial_warnings", "", "%s in trials, the first: %s", plural(other, "warning"), first)
	}
}

// company adds what ran beside the target: load on the same CPUs, and replicas
// beyond the machine.
func (n *notes) company(i int, r *Group) {
	machine := machineCPUs(n.h.TargetHost)
	var load, both float64
	for k := range r.Arms {
		e := r.Arms[k].Evidence
		if e.LoadCPUs != nil && e.CPUs != nil && *e.LoadCPUs+*e.CPUs > both {
			load, both = *e.LoadCPUs, *e.LoadCPUs+*e.CPUs
		}
	}
	if n.h.Load.SameMachine && n.h.Load.LoadCPUs == "" && both > crowded*machine {
		n.add(i, "shared_machine", "drive the load from another machine, or part the CPUs with --server-cpuset and --load-cpuset",
			"the load engine took %s of the machine's %s, and with the program all of them: figures are lower than the program alone would reach", cpus(round(load)), cpus(machine))
	}
	var unbound []string
	for k := range r.Arms {
		a := &r.Arms[k]
		if q := r.QuotaCPUs; q != nil && a.Evidence.CPUs != nil && *a.Evidence.CPUs > unboundBy**q*float64(r.Replicas) {
			unbound = append(unbound, fmt.Sprintf("%s (%s)", a.Label, cpus(round(*a.Evidence.CPUs))))
		}
	}
	if len(unbound) > 0 {
		n.add(i, "quota_unbound", "trials longer than a second: more work in a run, or a longer --duration",
			"more CPU was used than the quota of %s allows%s, as runs shorter than a few of its periods of 100 ms can, at GOMAXPROCS %s", cpus(*r.QuotaCPUs), replicasOf(r.Replicas), and(unbound))
	}
	if want := float64(r.Replicas) * r.EffectiveCPUs; r.QuotaCPUs != nil && r.Replicas > 1 && want > machine*1.01 {
		n.add(i, "oversubscribed", "fewer replicas or a smaller quota, unless nodes in production are as full",
			"%s with a quota of %s want %s of a machine with %s", plural(r.Replicas, "replica"), cpus(*r.QuotaCPUs), cpus(want), cpus(machine))
	}
}

// pilots adds why pilots were invalid: without one there is no rate, and so no
// trial.
func (n *notes) pilots(trials []journal.Trial) {
	run, invalid, why := 0, 0, map[string]int{}
	for _, t := range trials {
		if t.Role != journal.RolePilot {
			continue
		}
		run++
		if !t.Valid {
			invalid++
			why[t.InvalidReason]++
		}
	}
	if invalid > 0 {
		n.add(-1, "invalid_pilots", "read their output under logs/, or give a --rate: then no pilot is needed", "%d of %s invalid, most often: %s", invalid, plural(run, "pilot trial"), mostOften(why))
	}
}

func replicasOf(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" %d replicas", n)
}

func round(x float64) float64 { return math.Round(100*x) / 100 }

// limitedByLoad says whether a trial measured the load engine.
func limitedByLoad(t *journal.Trial) bool {
	if t.Load != nil && t.Load.ThreadBusiestRatio != nil && *t.Load.ThreadBusiestRatio >= loadLimitThread {
		return true
	}
	return slices.ContainsFunc(t.Warnings, func(w journal.Warning) bool { return w.Code == journal.WarnLoadLimited })
}

// covered are the warnings that a trial carries for a reader of the journal, and
// that are judged here from its figures, over all trials at once.
var covered = []journal.WarningCode{
	journal.WarnLoadLimited, journal.WarnSentLate, journal.WarnLoadTook, journal.WarnSaturated, journal.WarnProcsUnproven, journal.WarnNoGo,
}

// loadLimited is by majority of the group's valid trials.
func (g *group) loadLimited() bool {
	limited, of := 0, 0
	for _, t := range allTrials([]*group{g}) {
		if t.Valid {
			of++
			if limitedByLoad(t) {
				limited++
			}
		}
	}
	return 2*limited > of
}

// allTrials is every measured trial in the order in which they ran.
func allTrials(groups []*group) []*journal.Trial {
	var all []*journal.Trial
	for _, g := range groups {
		for _, a := range g.arms {
			all = append(all, a.measure...)
			all = append(all, a.aa...)
		}
	}
	slices.SortStableFunc(all, func(a, b *journal.Trial) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Order, b.Order))
	})
	return all
}

// drift is the trend of throughput over the run, after each arm's own level is
// taken out. Blocks make up for it; it says that the machine was not at rest.
func (n *notes) drift(groups []*group) {
	level := map[armKey]float64{}
	for _, g := range groups {
		for _, a := range g.arms {
			if v := values(slices.Concat(a.measure, a.aa), throughputOf); len(v) > 0 {
				level[a.key] = medianFloat(v)
			}
		}
	}
	var at, residual []float64
	for i, t := range allTrials(groups) {
		if x := t.ThroughputPerSecond; t.Valid && x != nil && *x > 0 && level[keyOf(t.Arm)] > 0 {
			at, residual = append(at, float64(i)), append(residual, math.Log(*x/level[keyOf(t.Arm)]))
		}
	}
	if len(at) < 12 { // too few for a trend
		return
	}
	alpha, beta := stat.LinearRegression(at, residual, nil, false)
	var squares float64
	for i := range at {
		e := residual[i] - alpha - beta*at[i]
		squares += e * e
	}
	df := len(at) - 2
	se := math.Sqrt(squares / float64(df) / (stat.Variance(at, nil) * float64(len(at)-1)))
	total := beta * (at[len(at)-1] - at[0])
	if math.Abs(total) > n.h.Plan.Margin && math.Abs(beta) > quantileT(0.975, df)*se {
		n.add(-1, "drift", "a quieter machine; comparisons within blocks stand, medians over the run mix early and late", "throughput drifted over the run: the end is %s than the start", change(total))
	}
}
