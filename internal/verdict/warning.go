package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

type (
	FlatCurve struct{} // all values are within the margin
	// FewBlocks is that there are too few for a proof: the fewest valid trials of a setting, and how many
	// more one needs than are planned.
	FewBlocks   struct{ Valid, Lacks int }
	FewSettings struct{ Settings int } // a curve of so few may hide the best value
	// InvalidTrials is that trials of a group are invalid.
	InvalidTrials struct {
		Invalid
		CrashedFrom int                 // the lowest value that crashed, where lower ones did not; 0: there is none
		Only        string              // the one setting of several that they are of; empty: of more
		Why         journal.InvalidCode // of most of them
	}
	InvalidPilots   struct{ Invalid }        // without a valid one there is no rate
	Noisy           struct{ Spread float64 } // trials stray too far in throughput for small differences to be proven
	NoisyP99        struct{ Spread float64 } // the same for the judged latency
	ThrottledBeyond struct{ Throttled }      // of settings with more Ps than their limit allows CPUs
	ThrottledWithin struct{ Throttled }      // of settings with no more
	// ThrottledAround is of settings that a limit of a parent cgroup throttled.
	ThrottledAround struct {
		Throttled
		Group string // the cgroup
	}
	Overloaded      struct{ Settings []LateTrials } // settings could not keep up with the rate at which latency is judged, in these trials
	Dropped         struct{ Requests int64 }        // requests were due and never sent
	SentLate        struct{ Settings []LateTrials } // the load generator itself was late in trials of these settings
	PrompterCarrier struct{ Pair }                  // another value than the one that is named carries the rate too, with a lower p99
	NoGo            struct{}                        // no trial saw a Go program
	// ProcsUnread is that the value of these settings could not be read in the program.
	ProcsUnread struct {
		Settings []string
		Why      string // empty: no trial says why
	}
	DefaultVaries      struct{ Settings []string } // the default was not the same in all trials
	UnsetPerformsApart struct{ Procs int }         // the default performs unlike its value where that is set
	// TrialWarnings is that trials have warnings of their own which no other remark is about.
	TrialWarnings struct {
		Count int
		First *journal.Warning
	}
)

func (FlatCurve) Code() Code          { return "flat_curve" }
func (FewBlocks) Code() Code          { return "few_blocks" }
func (FewSettings) Code() Code        { return "few_settings" }
func (InvalidTrials) Code() Code      { return "invalid_trials" }
func (InvalidPilots) Code() Code      { return "rate_trials_invalid" }
func (Noisy) Code() Code              { return "noisy" }
func (NoisyP99) Code() Code           { return "noisy_p99" }
func (ThrottledBeyond) Code() Code    { return "throttled_beyond_quota" }
func (ThrottledWithin) Code() Code    { return "throttled_within_quota" }
func (ThrottledAround) Code() Code    { return "throttled_around" }
func (Overloaded) Code() Code         { return "saturated" }
func (Dropped) Code() Code            { return "dropped" }
func (SentLate) Code() Code           { return "send_lag" }
func (PrompterCarrier) Code() Code    { return "carrier_p99" }
func (NoGo) Code() Code               { return "no_go" }
func (ProcsUnread) Code() Code        { return "unproven_procs" }
func (DefaultVaries) Code() Code      { return "default_varies" }
func (UnsetPerformsApart) Code() Code { return "default_differs" }
func (TrialWarnings) Code() Code      { return "trial_warnings" }

// notes gathers what weakens a result. A warning that every run would have
// is noise: each has a threshold, and its number passed it.
type notes struct {
	h    journal.Header
	list []Warning
}

func (n *notes) when(is bool, group int, x Remark) {
	if is {
		n.add(group, x)
	}
}

// add is of a group, or of the whole run where group is negative.
func (n *notes) add(group int, x Remark) {
	w := Warning{Remark: x}
	if group >= 0 && len(n.h.Plan.Settings) > 0 {
		w.Group = new(group)
	}
	n.list = append(n.list, w)
}

const (
	// FewestSettings is how many settings a curve needs.
	FewestSettings = 5

	throttledMuch   = 0.1  // share of periods
	unansweredFew   = 0.01 // of the requests: what is on its way as a phase ends is less
	noisyThroughput = 0.10 // a trial's spread
	noisyLatency    = 0.50
	loadLimitThread = 0.9 // CPU time ÷ wall time of the busiest engine thread
)

func (g *group) measured() []journal.Setting {
	return slices.DeleteFunc(g.Current(), func(a journal.Setting) bool { return contest.Valid(g.Measured(a)) == 0 })
}

func (n *notes) samples(i int, g *group) {
	least, lacks := math.MaxInt, 0
	for _, a := range g.Settings {
		all, valid := g.Measured(a), contest.Valid(g.Measured(a))
		if valid == 0 && len(all) >= stat.FewestPairs { // more of them would fail too
			continue
		}
		least, lacks = min(least, valid), max(lacks, stat.FewestPairs-valid-max(0, n.h.Plan.Blocks-len(all)))
	}
	n.when(lacks > 0 && !n.h.Plan.Racing(), i, FewBlocks{least, lacks})
	settings, asked := len(g.Current()), n.h.Plan.Racing() || n.h.Plan.GateAgainst || n.h.Plan.SmallestFor || n.h.Target.Attached != nil
	n.when(settings < FewestSettings && !asked, i, FewSettings{settings})
}

// Invalid is how many of some trials are.
type Invalid struct {
	Count, Of int
	Reason    string // of most of them
	Stolen    bool   // a hypervisor made most of them so
}

func invalidTrials(trials []*journal.Trial) InvalidTrials {
	labels, invalid, codes := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, t := range trials {
		if labels[t.Setting.Label] = true; !t.Valid {
			invalid[t.Setting.Label] = true
			codes[string(t.InvalidCode)]++
		}
	}
	x := InvalidTrials{Invalid: countInvalid(trials), CrashedFrom: crashesFrom(trials), Why: journal.InvalidCode(contest.MostOften(codes))}
	for label := range invalid {
		if len(invalid) == 1 && len(labels) > 1 {
			x.Only = label
		}
	}
	return x
}

func countInvalid(trials []*journal.Trial) Invalid {
	invalid := contest.Where(trials, func(t *journal.Trial) bool { return !t.Valid })
	why := map[string]int{}
	for _, t := range invalid {
		why[t.InvalidReason]++
	}
	stolen := contest.HowMany(invalid, func(t *journal.Trial) bool { return t.InvalidCode == journal.InvalidStolen })
	return Invalid{len(invalid), len(trials), contest.MostOften(why), 2*stolen > len(invalid)}
}

// noise warns of trials that stray so far that little can be proven.
func (n *notes) noise(i int, r *Group) {
	if x := r.Spread.Throughput; x != nil && *x > noisyThroughput {
		n.add(i, Noisy{*x})
	}
	if x := r.Spread.P99; x != nil && *x > noisyLatency {
		n.add(i, NoisyP99{*x})
	}
}

// Throttled are settings that a limit throttled much.
type Throttled struct {
	Settings  []SettingFigure // with the share of periods
	LimitCPUs float64         // the tightest
	Advised   bool            // the group's advice on throttling is about this
}

// add takes in a setting, and reports whether its limit is the tightest so far.
func (t *Throttled) add(a ThrottledSetting) bool {
	t.Settings = append(t.Settings, SettingFigure{a.Label, a.Share})
	tightest := t.LimitCPUs == 0 || a.LimitCPUs < t.LimitCPUs
	if tightest {
		t.LimitCPUs = a.LimitCPUs
	}
	return tightest
}

// throttling warns of each setting that a limit throttled much, whether or not the
// verdict is about it.
func (n *notes) throttling(i int, r *Group) {
	var beyond ThrottledBeyond
	var within ThrottledWithin
	var around ThrottledAround
	for _, a := range r.Throttling.Settings {
		switch {
		case a.Share < throttledMuch:
		case !a.Own:
			if around.add(a) {
				around.Group = a.Group
			}
		case a.ps == 0:
		case a.Beyond:
			beyond.add(a)
		default:
			within.add(a)
		}
	}
	// The one advice is with what it fits best.
	fits := []*Throttled{&beyond.Throttled, &within.Throttled, &around.Throttled}
	if a := r.Throttling.Advice; a == AdviceRaise || a == AdviceProven {
		fits = append(fits[1:], fits[0])
	}
	if k := slices.IndexFunc(fits, func(t *Throttled) bool { return len(t.Settings) > 0 }); k >= 0 {
		fits[k].Advised = true
	}
	n.when(len(beyond.Settings) > 0, i, beyond)
	n.when(len(within.Settings) > 0, i, within)
	n.when(len(around.Settings) > 0, i, around)
}

// LateTrials are those of a setting, of its valid ones.
type LateTrials struct {
	Label    string
	Late, Of int
}

func (n *notes) rate(i int, r *Group) {
	var full Overloaded
	var late SentLate
	dropped := int64(0)
	for k := range r.Rows {
		a := &r.Rows[k]
		slower := a.Excluded != nil && *a.Excluded == contest.ExcludedSlower // nobody asks for its latency
		if x := trialsOf(a, func(p Point) bool { return p.Saturated }); x.Late > 0 && !slower {
			full.Settings = append(full.Settings, x)
		}
		dropped += a.Evidence.Dropped
		if x := trialsOf(a, func(p Point) bool { return contest.Late(p.Trial) }); x.Late > 0 {
			late.Settings = append(late.Settings, x)
		}
	}
	if len(full.Settings) > 0 && r.RatePerSecond != nil && !n.h.Plan.SmallestFor {
		n.add(i, full)
	}
	n.when(dropped > 0, i, Dropped{dropped})
	n.when(len(late.Settings) > 0, i, late)
	for _, x := range r.Recommendation.Reasons {
		if c, is := x.(ReasonCarrierP99); is && r.Recommendation.Verdict == SustainsRate {
			n.add(i, PrompterCarrier{Pair{c.Than, c.Of}})
		}
	}
}

func (n *notes) procs(i int, g *group, r *Group) {
	var unread, varied []string
	for k, a := range g.Settings {
		if len(contest.Figures(g.Measured(a), throughputOf)) > 0 && r.Settings[k].ResolvedProcs == nil {
			unread = append(unread, a.Label)
		}
		if a.Procs == nil && g.variesFrom(a, r.Settings[k].ResolvedProcs) {
			varied = append(varied, a.Label)
		}
	}
	switch {
	case len(unread) > 0 && g.noGo():
		n.add(i, NoGo{})
	case len(unread) > 0:
		n.add(i, ProcsUnread{unread, g.whyUnread()})
	}
	n.when(len(varied) > 0, i, DefaultVaries{varied})
	if g.Apart != nil && g.Apart.Procs > 0 {
		n.add(i, UnsetPerformsApart{g.Apart.Procs})
	}
}

// whyUnread is why most of the trials have no live value; empty: they do not say it.
func (g *group) whyUnread() string {
	why := map[string]int{}
	for _, t := range g.measuredIn(g.Current()) {
		for _, w := range t.Warnings {
			if w.Code == journal.WarnProcsUnproven && w.Detail != "" {
				why[w.Detail]++
			}
		}
	}
	return contest.MostOften(why)
}

// noGo reports whether no valid trial saw a Go program.
func (g *group) noGo() bool {
	trials := g.measuredIn(g.Current())
	return contest.Valid(trials) > 0 && !slices.ContainsFunc(trials, func(t *journal.Trial) bool {
		return t.Valid && !slices.ContainsFunc(t.Warnings, func(w journal.Warning) bool { return w.Code == journal.WarnNoGo })
	})
}

func (g *group) variesFrom(a journal.Setting, resolved *int) bool {
	other := func(p *int) bool { return p != nil && resolved != nil && *p != *resolved }
	return slices.ContainsFunc(g.Measured(a), func(t *journal.Trial) bool { return t.Valid && slices.ContainsFunc(t.ObservedProcs, other) })
}

func (x *TrialWarnings) add(w *journal.Warning) {
	x.First, x.Count = cmp.Or(x.First, w), x.Count+1
}

// OfTrials is the warning that trials of a live comparison have warnings, with the first; nil:
// none has.
func OfTrials(trials []journal.Trial) []Warning {
	var x TrialWarnings
	for i := range trials {
		for k := range trials[i].Warnings {
			x.add(&trials[i].Warnings[k])
		}
	}
	if x.Count == 0 {
		return nil
	}
	return []Warning{{Remark: x}}
}

func trialsOf(a *Row, late func(Point) bool) LateTrials {
	x := LateTrials{Label: a.Label}
	for _, p := range a.Points {
		if !p.Valid {
			continue
		}
		if x.Of++; late(p) {
			x.Late++
		}
	}
	return x
}

const unboundBy = 1.05 // of the quota: more is not the accounting's rounding

type (
	// Incomplete is that planned trials are missing.
	Incomplete struct {
		Ran, Planned int
		NoneValid    bool
	}
	LoadLimited struct{ Trials, Of int } // in how many of the valid trials the load generator was at its limit
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

func (n *notes) run(r *Result, groups []*group) {
	if !r.Complete && !r.Settled() {
		ran := r.TrialsRun
		if r.Plan.Racing() { // whose budget counts pilots
			ran += r.PilotsRun
		}
		n.add(-1, Incomplete{
			Ran: min(ran, r.TrialsPlanned), Planned: r.TrialsPlanned,
			NoneValid: r.TrialsRun == r.TrialsInvalid && r.TrialsInvalid+r.PilotsInvalid > 0,
		})
	}
	n.topology()
	n.drift(groups)
	all := allTrials(groups...)
	n.steal(all)
	n.heat(all)
	valid := contest.Where(all, func(t *journal.Trial) bool { return t.Valid })
	limited := contest.HowMany(valid, limitedByLoad)
	var other TrialWarnings
	for _, t := range valid {
		for k := range t.Warnings {
			if w := &t.Warnings[k]; !slices.Contains(covered, w.Code) {
				other.add(w)
			}
		}
	}
	n.when(limited > 0, -1, LoadLimited{limited, len(valid)})
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
	if k := n.h.Target.Kind; k == journal.KindBatch || k == journal.KindGoBench {
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
	n.when(n.h.Load.Shared() && both > contest.Crowded*machine, i, SharedMachine{load, machine})
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
	w := InvalidPilots{countInvalid(all)}
	n.when(w.Count > 0, -1, w)
}

// covered are the warnings that a trial carries for a reader of the journal, and
// that are judged here from its metrics, over all trials at once.
var covered = []journal.WarningCode{
	journal.WarnLoadLimited, journal.WarnSentLate, journal.WarnLoadTook, journal.WarnSaturated, journal.WarnProcsUnproven, journal.WarnNoGo,
	journal.WarnUnanswered, journal.WarnRedirects,
}

func (n *notes) group(i int, g *group, r *Group, losses []ReasonMetricWorse) {
	if len(g.measured()) > 0 {
		n.samples(i, g)
	}
	invalid := invalidTrials(g.all(g.Settings))
	n.when(invalid.Count > r.Others.LeftOut+r.Others.Slow, i, invalid) // a reason names the others
	n.noise(i, r)
	n.collections(i, r)
	n.throttling(i, r)
	n.rate(i, r)
	n.answers(i, g, r)
	n.procs(i, g, r)
	n.company(i, r)
	n.held(i, r)
	if len(losses) > 0 {
		n.add(i, MetricsWorse{AtSetting{losses[0].Of.Setting}, losses})
	}
	if v := r.Recommendation.Verdict; v != NoDifference && v != SustainsRate && len(losses) == 0 && g.flat() {
		n.add(i, FlatCurve{})
	}
}

const (
	stealMuch  = 0.01 // of the machine's CPU time, in the middle of all trials
	stealHeavy = 0.2  // in one loop of one trial: its metrics are hardly the program's
)

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
	heavy := contest.HowMany(all, func(t *journal.Trial) bool { return worstSteal(t)/machine >= stealHeavy })
	share := over(contest.Median(all, func(t *journal.Trial) *float64 { return evidenceOf(&t.Usage).StealRatio }), machine)
	w := Steal{stat.OrZero(share), heavy, len(all)}
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

// topology adds that the target's CPUs are on several nodes, so that its memory may be far from
// where it runs, and that they are of two kinds: how fast it is depends on which of them the
// kernel chooses.
func (n *notes) topology() {
	t := n.h.TargetHost.Topology
	if t == nil || n.h.Target.Attached != nil {
		return
	}
	own := func(cpus cpuset.Set) cpuset.Set {
		if target := n.h.Target.Had(); len(target) > 0 {
			return cpus.Within(target)
		}
		return cpus
	}
	var nodes []journal.Node
	for _, node := range t.Nodes {
		if cpus := own(node.CPUs); len(cpus) > 0 {
			nodes = append(nodes, journal.Node{ID: node.ID, CPUs: cpus})
		}
	}
	n.when(len(nodes) > 1, -1, SpansNodes{nodes})
	fast, slow := own(t.PerformanceCPUs), own(t.EfficiencyCPUs)
	n.when(len(fast) > 0 && len(slow) > 0, -1, SpansKinds{fast, slow})
}

func (n *notes) heat(all []*journal.Trial) {
	hot := contest.HowMany(all, func(t *journal.Trial) bool {
		return slices.ContainsFunc(t.Usages(), func(u *journal.Usage) bool { return u.HostUse != nil && stat.OrZero(u.HostUse.HeatTimes) > 0 })
	})
	n.when(hot > 0, -1, Heat{hot, len(all)})
}

type (
	// Unanswered is that requests of these settings were never answered.
	Unanswered struct {
		Count, Of int64
		Settings  []string
	}
	// Redirects is that at least half of the answers were redirects, which do little of the work.
	Redirects struct {
		Count, Of int64
		Settings  []string // nil: with all
	}
)

func (Unanswered) Code() Code { return "unanswered" }
func (Redirects) Code() Code  { return "redirects" }

// answers warns of requests that nobody answered and of answers that do no work.
func (n *notes) answers(i int, g *group, r *Group) {
	var lost Unanswered
	var moved Redirects
	all := true
	for k := range r.Settings {
		a := &r.Settings[k]
		if unansweredMuch(g.Measured(g.Settings[k])) {
			lost.Count, lost.Of = lost.Count+a.Unanswered, lost.Of+a.Requests+a.Unanswered
			lost.Settings = append(lost.Settings, a.Label)
		}
		if redirected(a.Redirects, a.Requests) {
			moved.Count, moved.Of = moved.Count+a.Redirects, moved.Of+a.Requests
			moved.Settings = append(moved.Settings, a.Label)
		} else {
			all = all && a.Requests == 0
		}
	}
	if all {
		moved.Settings = nil
	}
	n.when(len(lost.Settings) > 0, i, lost)
	n.when(moved.Count > 0, i, moved)
}

func redirected(redirects, answers int64) bool { return redirects > 0 && 2*redirects >= answers }

// unansweredMuch reports that many of the requests of a phase were never answered: the many
// answers of one phase would hide those that another lacks.
func unansweredMuch(trials []*journal.Trial) bool {
	waiting, sent := map[journal.Mode]float64{}, map[journal.Mode]float64{}
	for _, t := range trials {
		for i := range t.Phases {
			if p := &t.Phases[i]; t.Valid {
				waiting[p.Mode] += float64(p.Unanswered)
				sent[p.Mode] += float64(p.Requests + p.Unanswered)
			}
		}
	}
	for mode, n := range waiting {
		if n > unansweredFew*sent[mode] {
			return true
		}
	}
	return false
}
