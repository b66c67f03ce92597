package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Warning is something that weakens the result: a code with its numbers. Which of them
// a code has is next to the code.
type Warning struct {
	Code    WarningCode
	Group   *int // index into groups; absent: the whole run
	Setting string

	Settings  []SettingFigure
	Count, Of int64
	Value     float64
	Limit     float64
	Reason    string // of most of the trials
	Stolen    bool   // a hypervisor made most of them so
	Unit      string
	Procs     int
	NoneValid bool
	Advised   bool // the group's advice on throttling is of this warning
	Trial     *journal.Warning
	Losses    []Reason
	Nodes     []journal.Node
}

// SettingFigure is a setting with the metric that a warning is of, and what that is to be
// compared with.
type SettingFigure struct {
	Label string
	Value float64
	Limit float64
}

// WarningCode is stable: it is in result.json.
type WarningCode string

const (
	WarnFewBlocks       WarningCode = "few_blocks"             // Count: the fewest valid trials of a setting
	WarnFewSettings     WarningCode = "few_settings"           // Count: settings
	WarnInvalid         WarningCode = "invalid_trials"         // Count, Of, Reason; Procs: the lowest value that crashed it, where lower ones did not
	WarnInvalidPilots   WarningCode = "invalid_pilots"         // Count, Of, Reason
	WarnNoisy           WarningCode = "noisy"                  // Value: how far a trial strays
	WarnNoisyP99        WarningCode = "noisy_p99"              // in the same way
	WarnFewCollections  WarningCode = "few_collections"        // Setting: whose collections are longest; Value: how many a trial has, Limit: share of the time that one takes; Count: seconds that have room for enough
	WarnThrottledBeyond WarningCode = "throttled_beyond_quota" // Settings: Value of periods; Limit, the quota
	WarnThrottledWithin WarningCode = "throttled_within_quota" // Settings, Limit
	WarnThrottledAround WarningCode = "throttled_around"       // in the same way by a limit around the target, of group Reason
	WarnOthers          WarningCode = "other_programs"         // Value: CPUs used of Count; Settings: withheld
	WarnMixedUnits      WarningCode = "mixed_units"            // Count skipped, in Reason a second instead of Unit
	WarnUnanswered      WarningCode = "unanswered"             // Count: requests that were never answered
	WarnRedirects       WarningCode = "redirects"              // Count, Of: answers; Settings
	WarnSaturated       WarningCode = "saturated"              // Settings
	WarnDropped         WarningCode = "dropped"                // Count
	WarnSendLag         WarningCode = "send_lag"               // Settings: Value of Limit trials whose generator was late
	WarnCarrierP99      WarningCode = "carrier_p99"            // Settings: the better one, then the verdict's; Value: p99, seconds
	WarnUnproven        WarningCode = "unproven_procs"         // Settings, Reason
	WarnNoGo            WarningCode = "no_go"                  // no trial saw a Go program
	WarnDefaultVaries   WarningCode = "default_varies"         // Settings
	WarnUnsetDiffers    WarningCode = "unset_differs"          // Procs
	WarnShared          WarningCode = "shared_machine"         // Value: CPUs that the load took, Limit: of the machine
	WarnUnbound         WarningCode = "quota_unbound"          // Settings: CPUs used; Limit: the quota, Count: replicas
	WarnOversubscribed  WarningCode = "oversubscribed"         // Count: replicas, Value: CPUs that they want, Limit: of the machine
	WarnFlat            WarningCode = "flat_curve"
	WarnHeld            WarningCode = "fault_held_ps"    // Value: Ps of one replica; Procs: the highest value
	WarnSetLive         WarningCode = "set_live_differs" // Settings: Value times the throughput if set at the start
	WarnSpansNodes      WarningCode = "spans_nodes"      // Nodes
	WarnSpansKinds      WarningCode = "spans_kinds"      // Nodes: performance, then efficiency cores
	WarnHeat            WarningCode = "heat"             // Count, Of: trials in which the CPUs lowered their clock
	WarnMetricWorse     WarningCode = "metric_worse"     // Setting, Losses
	WarnIncomplete      WarningCode = "incomplete"       // Count, Of; NoneValid: none was valid
	WarnDrift           WarningCode = "drift"            // Value: the end against the start, a ratio less 1
	WarnSteal           WarningCode = "steal"            // Value: share of the CPU time
	WarnLoadLimited     WarningCode = "load_limited"     // Count, Of
	WarnTrials          WarningCode = "trial_warnings"   // Count, Trial: the first
	WarnDuplicates      WarningCode = "duplicate_trials" // Count
	WarnNoProfile       WarningCode = "no_profile"       // Setting, Reason; Advised: a server has none

	// Of a canary:
	WarnFewSlices WarningCode = "few_slices"  // Count
	WarnPerPod    WarningCode = "cpu_per_pod" // no query counted the requests
	WarnIdle      WarningCode = "no_requests" // Settings: in most slices
	WarnSame      WarningCode = "same_procs"  // Settings: that run with what unset comes to
)

// notes gathers what weakens a result. A warning that every run would have
// is noise: each has a threshold, and its number passed it.
type notes struct {
	h    journal.Header
	list []Warning
}

// add is of a group, or of the whole run where group is negative.
func (n *notes) add(group int, w Warning) {
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

// group adds what concerns one group.
func (n *notes) group(i int, g *group, r *Group, w *outcome) {
	if len(g.measured()) > 0 {
		n.samples(i, g)
	}
	n.invalid(i, g, r)
	n.noise(i, r, w)
	n.collections(i, r)
	n.throttling(i, r)
	n.rate(i, r, w)
	n.answers(i, g, r)
	n.procs(i, g, r, w)
	n.company(i, r)
	n.held(i, r)
	n.metrics(i, w)
	if v := r.Recommendation.Verdict; v != NotYourKnob && v != CarriesRate && g.flat(r, w) {
		n.add(i, Warning{Code: WarnFlat})
	}
}

// measured is the current settings with a valid trial.
func (g *group) measured() []*setting {
	return slices.DeleteFunc(g.current(), func(a *setting) bool { return valid(a.measure) == 0 })
}

func (n *notes) samples(i int, g *group) {
	least := math.MaxInt
	for _, a := range g.settings {
		least = min(least, valid(a.measure))
	}
	if least < FewestPairs && !n.h.Plan.Racing() {
		n.add(i, Warning{Code: WarnFewBlocks, Count: int64(least)})
	}
	if settings := len(g.current()); settings < FewestSettings && !n.h.Plan.Racing() && !n.h.Plan.GateAgainst && !n.h.Plan.SmallestFor && n.h.Target.Attached == nil {
		n.add(i, Warning{Code: WarnFewSettings, Count: int64(settings)})
	}
}

func (n *notes) invalid(i int, g *group, r *Group) {
	w := Warning{Code: WarnInvalid, Procs: crashesFrom(trialsOf(g.settings))}
	if w.countInvalid(trialsOf(g.settings)); w.Count > int64(r.Others.LeftOut+r.Others.Slow) { // a reason names the others
		n.add(i, w)
	}
}

// countInvalid counts the trials that are, and why most of them are.
func (w *Warning) countInvalid(trials []*journal.Trial) {
	why, stolen := map[string]int{}, int64(0)
	for _, t := range trials {
		w.Of++
		if t.Valid {
			continue
		}
		w.Count++
		why[t.InvalidReason]++
		if t.InvalidCode == journal.InvalidStolen {
			stolen++
		}
	}
	w.Reason, w.Stolen = contest.MostOften(why), 2*stolen > w.Count
}

// noise warns of trials that stray so far that little can be proven.
func (n *notes) noise(i int, r *Group, _ *outcome) {
	if x := r.Spread.Throughput; x != nil && *x > noisyThroughput {
		n.add(i, Warning{Code: WarnNoisy, Value: *x})
	}
	if x := r.Spread.P99; x != nil && *x > noisyLatency {
		n.add(i, Warning{Code: WarnNoisyP99, Value: *x})
	}
}

// throttling warns of each setting that a limit throttled much, whether or not the
// verdict is about it.
func (n *notes) throttling(i int, r *Group) {
	of := map[WarningCode]*Warning{}
	for _, code := range []WarningCode{WarnThrottledBeyond, WarnThrottledWithin, WarnThrottledAround} {
		of[code] = &Warning{Code: code}
	}
	for _, a := range r.Throttling.Settings {
		if a.Share < throttledMuch {
			continue
		}
		w := of[WarnThrottledWithin]
		switch {
		case !a.Own:
			w = of[WarnThrottledAround]
		case a.ps == 0:
			continue
		case a.Beyond:
			w = of[WarnThrottledBeyond]
		}
		w.Settings = append(w.Settings, SettingFigure{Label: a.Label, Value: a.Share})
		if w.Limit == 0 || a.LimitCPUs < w.Limit {
			w.Limit, w.Reason = a.LimitCPUs, a.Group
		}
	}
	// The one advice is with what it fits best.
	order := []WarningCode{WarnThrottledBeyond, WarnThrottledWithin, WarnThrottledAround}
	fits := order
	if a := r.Throttling.Advice; a == AdviceRaise || a == AdviceProven {
		fits = []WarningCode{WarnThrottledWithin, WarnThrottledAround, WarnThrottledBeyond}
	}
	for _, code := range fits {
		if w := of[code]; len(w.Settings) > 0 {
			w.Advised = true
			break
		}
	}
	for _, code := range order {
		if w := of[code]; len(w.Settings) > 0 {
			n.add(i, *w)
		}
	}
}

func (n *notes) rate(i int, r *Group, w *outcome) {
	var full, late []SettingFigure
	dropped := int64(0)
	for k := range r.Rows {
		a := &r.Rows[k]
		if a.Saturated {
			full = append(full, SettingFigure{Label: a.Label})
		}
		dropped += a.Evidence.Dropped
		if n, of := lateTrials(a); n > 0 {
			late = append(late, SettingFigure{a.Label, float64(n), float64(of)})
		}
	}
	if len(full) > 0 && r.RatePerSecond != nil && !n.h.Plan.SmallestFor {
		n.add(i, Warning{Code: WarnSaturated, Settings: full})
	}
	if dropped > 0 {
		n.add(i, Warning{Code: WarnDropped, Count: dropped})
	}
	if len(late) > 0 {
		n.add(i, Warning{Code: WarnSendLag, Settings: late})
	}
	if carriers, _ := w.carriers(); r.Recommendation.Verdict == CarriesRate {
		if better := w.betterCarrier(carriers[0], carriers); better != nil {
			n.add(i, Warning{Code: WarnCarrierP99, Settings: []SettingFigure{{Label: better.label, Value: better.tail}, {Label: carriers[0].label, Value: carriers[0].tail}}})
		}
	}
}

func (n *notes) procs(i int, g *group, r *Group, w *outcome) {
	var unread, varied []SettingFigure
	for k, a := range g.settings {
		if len(values(a.measure, throughputOf)) > 0 && r.Settings[k].ResolvedProcs == nil {
			unread = append(unread, SettingFigure{Label: a.Label})
		}
		if a.Procs == nil && g.variesFrom(a, r.Settings[k].ResolvedProcs) {
			varied = append(varied, SettingFigure{Label: a.Label})
		}
	}
	switch {
	case len(unread) > 0 && g.noGo():
		n.add(i, Warning{Code: WarnNoGo})
	case len(unread) > 0:
		n.add(i, Warning{Code: WarnUnproven, Settings: unread, Reason: g.whyUnread()})
	}
	if len(varied) > 0 {
		n.add(i, Warning{Code: WarnDefaultVaries, Settings: varied})
	}
	if w.unplaced != nil && w.unplaced.procs > 0 {
		n.add(i, Warning{Code: WarnUnsetDiffers, Procs: w.unplaced.procs})
	}
}

// whyUnread is why most of the trials have no live value; empty: they do not say it.
func (g *group) whyUnread() string {
	why := map[string]int{}
	for t := range measuredIn(g.current()) {
		for _, w := range t.Warnings {
			if w.Code == journal.WarnProcsUnproven && w.Detail != "" {
				why[w.Detail]++
			}
		}
	}
	if len(why) == 0 {
		return ""
	}
	return contest.MostOften(why)
}

// noGo reports whether no valid trial saw a Go program.
func (g *group) noGo() bool {
	seen := false
	for t := range measuredIn(g.current()) {
		if !t.Valid {
			continue
		}
		if seen = true; !slices.ContainsFunc(t.Warnings, func(w journal.Warning) bool { return w.Code == journal.WarnNoGo }) {
			return false
		}
	}
	return seen
}

// variesFrom reports whether a valid trial of the setting ran at another value.
func (g *group) variesFrom(a *setting, resolved *int) bool {
	for _, t := range a.measure {
		for _, p := range t.ObservedProcs {
			if t.Valid && p != nil && resolved != nil && *p != *resolved {
				return true
			}
		}
	}
	return false
}

// OfTrials is the warning that trials of a live comparison have warnings, with the first; nil:
// none has.
func OfTrials(trials []journal.Trial) []Warning {
	w := Warning{Code: WarnTrials}
	for i := range trials {
		if list := trials[i].Warnings; len(list) > 0 {
			w.Trial, w.Count = cmp.Or(w.Trial, &list[0]), w.Count+int64(len(list))
		}
	}
	if w.Count == 0 {
		return nil
	}
	return []Warning{w}
}
