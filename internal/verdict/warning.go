package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// The remarks that are made here.
type (
	FlatCurve   struct{}               // all values are within the margin
	FewBlocks   struct{ Valid int }    // too few for a proof: the fewest valid trials of a setting
	FewSettings struct{ Settings int } // a curve of so few may hide the best value
	// InvalidTrials is that trials of a group are invalid.
	InvalidTrials struct {
		Invalid
		CrashedFrom int // the lowest value that crashed, where lower ones did not; 0: there is none
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
	Overloaded      struct{ Settings []string }     // settings could not keep up with the rate at which latency is judged
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

// when adds a remark if something is so.
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

// measured is the current settings with a valid trial.
func (g *group) measured() []journal.Setting {
	return slices.DeleteFunc(g.Current(), func(a journal.Setting) bool { return contest.Valid(g.Measured(a)) == 0 })
}

func (n *notes) samples(i int, g *group) {
	least := math.MaxInt
	for _, a := range g.Settings {
		least = min(least, contest.Valid(g.Measured(a)))
	}
	n.when(least < stat.FewestPairs && !n.h.Plan.Racing(), i, FewBlocks{least})
	settings, asked := len(g.Current()), n.h.Plan.Racing() || n.h.Plan.GateAgainst || n.h.Plan.SmallestFor || n.h.Target.Attached != nil
	n.when(settings < FewestSettings && !asked, i, FewSettings{settings})
}

// Invalid is how many of some trials are.
type Invalid struct {
	Count, Of int
	Reason    string // of most of them
	Stolen    bool   // a hypervisor made most of them so
}

func (n *notes) invalid(i int, g *group, r *Group) {
	w := InvalidTrials{countInvalid(g.all(g.Settings)), crashesFrom(g.all(g.Settings))}
	n.when(w.Count > r.Others.LeftOut+r.Others.Slow, i, w) // a reason names the others
}

// countInvalid counts the trials that are invalid, and finds why most of them are.
func countInvalid(trials []*journal.Trial) (w Invalid) {
	why, stolen := map[string]int{}, 0
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
	return w
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

func (n *notes) rate(i int, g *group, r *Group) {
	var full Overloaded
	var late SentLate
	dropped := int64(0)
	for k := range r.Rows {
		a := &r.Rows[k]
		if a.Saturated {
			full.Settings = append(full.Settings, a.Label)
		}
		dropped += a.Evidence.Dropped
		if n, of := lateTrials(a); n > 0 {
			late.Settings = append(late.Settings, LateTrials{a.Label, n, of})
		}
	}
	if len(full.Settings) > 0 && r.RatePerSecond != nil && !n.h.Plan.SmallestFor {
		n.add(i, full)
	}
	n.when(dropped > 0, i, Dropped{dropped})
	n.when(len(late.Settings) > 0, i, late)
	if carriers, _ := g.carriers(); r.Recommendation.Verdict == SustainsRate {
		if better := g.betterCarrier(carriers[0], carriers); better != nil {
			n.add(i, PrompterCarrier{Pair{better, carriers[0]}})
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
	valid := slices.DeleteFunc(g.measuredIn(g.Current()), func(t *journal.Trial) bool { return !t.Valid })
	return len(valid) > 0 && !slices.ContainsFunc(valid, func(t *journal.Trial) bool {
		return !slices.ContainsFunc(t.Warnings, func(w journal.Warning) bool { return w.Code == journal.WarnNoGo })
	})
}

// variesFrom reports whether a valid trial of the setting ran at another value.
func (g *group) variesFrom(a journal.Setting, resolved *int) bool {
	for _, t := range g.Measured(a) {
		for _, p := range t.ObservedProcs {
			if t.Valid && p != nil && resolved != nil && *p != *resolved {
				return true
			}
		}
	}
	return false
}

// add counts one.
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

// lateTrials counts those of a row whose generator was late, of the valid ones.
func lateTrials(a *Row) (late, of int) {
	for _, p := range a.Points {
		if p.Late {
			late++
		}
		if p.Valid {
			of++
		}
	}
	return late, of
}
