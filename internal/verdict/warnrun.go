package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

const unboundBy = 1.05 // of the quota: more is not the accounting's rounding

// The remarks that are made here.
type (
	// Incomplete is that planned trials are missing.
	Incomplete struct {
		Ran, Planned int
		NoneValid    bool
	}
	LoadLimited    struct{ Trials, Of int }           // in how many of the valid trials the load generator was at its limit
	// FaultHeld is how many of the Ps of one replica page faults held at the highest value.
	FaultHeld struct {
		Held  float64
		Procs int
	}
	// FewCollections is that a trial has too few garbage collections for its figures.
	FewCollections struct {
		AtSetting           // whose collections are longest
		Collections float64 // in a trial
		Share       float64 // of a trial's time that one takes
		Seconds     int     // of a trial that has room for enough
	}
	SharedMachine struct{ LoadCPUs, CPUs float64 } // the load and the program used nearly all CPUs of the machine together
	// QuotaUnbound are settings with the CPUs that they used, more than their quota allows.
	QuotaUnbound struct {
		Settings  []SettingFigure
		QuotaCPUs float64
		Replicas  int
	}
	OthersBusy struct{ TooFewCPUs []string } // other programs used CPUs of the target; the settings that are not compared because of it
	// Oversubscribed is that the replicas need more CPUs than there are.
	Oversubscribed struct {
		Replicas                         int
		QuotaCPUs, NeedCPUs, MachineCPUs float64
	}
)

func (Incomplete) Code() Code     { return "incomplete" }
func (LoadLimited) Code() Code    { return "load_limited" }
func (FaultHeld) Code() Code      { return "fault_held_ps" }
func (FewCollections) Code() Code { return "few_collections" }
func (SharedMachine) Code() Code  { return "shared_machine" }
func (QuotaUnbound) Code() Code   { return "quota_unbound" }
func (OthersBusy) Code() Code     { return "other_programs" }
func (Oversubscribed) Code() Code { return "oversubscribed" }

// run adds what concerns the whole run.
func (n *notes) run(r *Result, groups []*group) {
	if !r.Complete && !r.Settled() {
		n.add(-1, Incomplete{
			Ran: min(r.ran(), r.TrialsPlanned), Planned: r.TrialsPlanned,
			NoneValid: r.TrialsRun == r.TrialsInvalid && r.TrialsInvalid+r.PilotsInvalid > 0,
		})
	}
	n.nodes()
	n.kinds()
	n.drift(groups)
	all := allTrials(groups...)
	n.steal(all)
	n.heat(all)
	var limited LoadLimited
	var other TrialWarnings
	for _, t := range all {
		if !t.Valid {
			continue
		}
		if limited.Of++; limitedByLoad(t) {
			limited.Trials++
		}
		for k := range t.Warnings {
			if w := &t.Warnings[k]; !slices.Contains(covered, w.Code) {
				other.add(w)
			}
		}
	}
	n.when(limited.Trials > 0, -1, limited)
	n.when(other.Count > 0, -1, other)
}

// heldSome is the share of its Ps from which on page faults are a reason to measure more
// Ps: a program that loses less cannot become more than a ninth faster.
const heldSome = 0.1

// held adds that page faults held Ps of the highest value, if nothing shows that it is
// worse than another, and the Ps that were left are fewer than the CPUs.
func (n *notes) held(i int, r *Group) {
	if n.h.Plan.GateAgainst || n.h.Plan.SmallestFor || n.h.Target.Attached != nil {
		return
	}
	var top *Row
	for k := range r.Settings {
		if a := &r.Settings[k]; a.ResolvedProcs != nil && (top == nil || *a.ResolvedProcs > *top.ResolvedProcs) {
			top = a
		}
	}
	if top == nil || top.Evidence.FaultHeldPs == nil || r.Replicas < 1 || top.Label != r.Peak && !slices.Contains(r.Flatness.WithinMargin, top.Label) {
		return
	}
	ps, held := float64(*top.ResolvedProcs), *top.Evidence.FaultHeldPs/float64(r.Replicas)
	if held >= heldSome*ps && ps-held < r.EffectiveCPUs {
		n.add(i, FaultHeld{held, *top.ResolvedProcs})
	}
}

// collections warns where the throughput phase has so few garbage collections, each so
// long, that one more or one less shows in its figures. A run of a program that ends has
// all its collections, however few.
func (n *notes) collections(i int, r *Group) {
	if k := n.h.Target.Kind; k == "batch" || k == "gobench" {
		return
	}
	phases := 2.0 // that share --trial-time
	if n.h.Load.Command != "" || n.h.Target.Attached != nil {
		phases = 1
	}
	w := FewCollections{Share: journal.LongCollection}
	for k := range r.Rows {
		e := &r.Rows[k].Evidence
		cycles := stat.OrZero(e.gcCycles)
		if cycles <= 0 || cycles >= journal.LeastCollections {
			continue
		}
		share := stat.OrZero(e.GCBusyRatio) / cycles
		if !(share > journal.LongCollection) {
			continue
		}
		if share > w.Share {
			w.Setting, w.Collections, w.Share = r.Rows[k].Label, cycles, share
		}
		w.Seconds = max(w.Seconds, int(math.Ceil(phases*journal.LeastCollections / *e.GCCyclesPerSecond)))
	}
	n.when(w.Setting != "", i, w)
}

// company adds what ran next to the target: load on the same CPUs, and replicas
// beyond the machine.
func (n *notes) company(i int, r *Group) {
	machine := contest.MachineCPUs(n.h, nil)
	var load, both float64
	for k := range r.Settings {
		e := r.Settings[k].Evidence
		if e.LoadCPUs != nil && e.CPUs != nil && *e.LoadCPUs+*e.CPUs > both {
			load, both = *e.LoadCPUs, *e.LoadCPUs+*e.CPUs
		}
	}
	n.when(contest.Shared(n.h) && both > contest.Crowded*machine, i, SharedMachine{load, machine})
	var unbound []SettingFigure
	for k := range r.Settings {
		a := &r.Settings[k]
		if q := r.QuotaCPUs; q != nil && a.Evidence.CPUs != nil && *a.Evidence.CPUs > unboundBy**q*float64(r.Replicas) {
			unbound = append(unbound, SettingFigure{a.Label, *a.Evidence.CPUs})
		}
	}
	if len(unbound) > 0 {
		n.add(i, QuotaUnbound{unbound, *r.QuotaCPUs, r.Replicas})
	}
	if o := r.Others; o.Matter && o.CPUs != nil {
		w := OthersBusy{o.TooFewCPUs}
		if n.h.Plan.GateAgainst {
			w.TooFewCPUs = nil // pairs of two programs are compared all the same
		}
		n.add(i, w)
	}
	if want := float64(r.Replicas) * r.EffectiveCPUs; r.QuotaCPUs != nil && r.Replicas > 1 && want > machine*1.01 {
		n.add(i, Oversubscribed{r.Replicas, *r.QuotaCPUs, want, machine})
	}
}

// pilots adds why pilots were invalid: without one there is no rate, and so no
// trial.
func (n *notes) pilots(trials []journal.Trial) {
	var all []*journal.Trial
	for i := range trials {
		if trials[i].Role == journal.RolePilot {
			all = append(all, &trials[i])
		}
	}
	if w := (InvalidPilots{countInvalid(all)}); w.Count > 0 {
		n.add(-1, w)
	}
}

// covered are the warnings that a trial carries for a reader of the journal, and
// that are judged here from its metrics, over all trials at once.
var covered = []journal.WarningCode{
	journal.WarnLoadLimited, journal.WarnSentLate, journal.WarnLoadTook, journal.WarnSaturated, journal.WarnProcsUnproven, journal.WarnNoGo,
	journal.WarnUnanswered, journal.WarnRedirects,
}

// ran is how many trials there are of those that are planned: the budget of a race
// counts pilots.
func (r *Result) ran() int {
	if r.Plan.Racing() {
		return r.TrialsRun + r.PilotsRun
	}
	return r.TrialsRun
}

// group adds what concerns one group.
func (n *notes) group(i int, g *group, r *Group, losses []ReasonMetricWorse) {
	if len(g.measured()) > 0 {
		n.samples(i, g)
	}
	n.invalid(i, g, r)
	n.noise(i, r)
	n.collections(i, r)
	n.throttling(i, r)
	n.rate(i, g, r)
	n.answers(i, g, r)
	n.procs(i, g, r)
	n.company(i, r)
	n.held(i, r)
	n.metrics(i, losses)
	if v := r.Recommendation.Verdict; v != NoDifference && v != SustainsRate && g.flat() {
		n.add(i, FlatCurve{})
	}
}
