package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Analyze says what a journal shows. It is pure: the same journal gives the same
// result, and no number comes from anywhere else. sliced are the journal's slices.
func Analyze(h journal.Header, trials []journal.Trial, sliced ...journal.Trial) *Result {
	r := NewResult(h, trials)
	counted := contest.Count(h, trials, sliced...)
	notes := &notes{h: h}
	r.count(counted.Trials)
	r.TrialSeconds = counted.TrialSeconds()
	var all []*group
	for _, key := range counted.Groups {
		all = append(all, newGroup(counted, key))
	}
	r.Origin = originOf(allTrials(all...))
	for _, g := range all {
		switch {
		case g.Group.Compares != "" && len(h.Plan.Vary) > 0:
			r.Compared = append(r.Compared, g.variable())
		case len(h.Plan.Vary) == 0 || len(h.Plan.Of(g.Group)) > 1: // a single value compares nothing
			result, losses := g.analyze()
			notes.group(len(r.Groups), g, &result, losses)
			r.Groups = append(r.Groups, result)
		}
	}
	r.raced(counted)
	r.best(counted)
	r.contradicted()
	r.Cheapest = r.priceSettings(h, counted.Trials)
	notes.run(r, all)
	notes.pilots(counted.Trials)
	r.Warnings = append(r.Warnings, notes.list...)
	if h.Plan.GateAgainst {
		r.Gate = gateAgainst(counted, all)
	}
	if len(r.Groups) == 1 && r.Best == nil {
		r.Recommendation = &r.Groups[0].Recommendation
	}
	return r
}

// NewResult is a Result that is not analysed yet.
func NewResult(h journal.Header, trials []journal.Trial) *Result {
	return &Result{
		Schema: ResultSchema, Name: h.Name, Started: h.Started,
		Host: h.TargetHost, LoadHost: h.LoadHost, Spec: h.Spec, Tool: h.Tool, Target: program(h, trials), Load: h.Load, Plan: h.Plan,
		Groups: []Group{}, Warnings: []Warning{},
	}
}

// count is by planned place: setting, role and block. Pilots are planned in number
// only, and their absence shows in what follows them.
func (r *Result) count(trials []journal.Trial) {
	type place struct {
		journal.SettingKey
		role  journal.Role
		block int
	}
	run := map[place]bool{}
	for i := range trials {
		t := &trials[i]
		if t.Role == journal.RolePilot {
			r.PilotsRun++
			if !t.Valid {
				r.PilotsInvalid++
			}
			continue
		}
		r.TrialsRun++
		if !t.Valid {
			r.TrialsInvalid++
		}
		run[place{t.Setting.Key(), t.Role, t.Block}] = true
	}
	if r.Plan.Racing() {
		return // a budget has no places: see raced
	}
	missing := false
	perBlock := len(r.Plan.Settings) + len(r.Plan.AA)
	for block := 0; block < r.Plan.Blocks && perBlock > 0 && !missing; block++ {
		for _, a := range r.Plan.Settings {
			missing = missing || !run[place{a.Key(), journal.RoleMeasure, block}]
		}
		for _, a := range r.Plan.AA {
			missing = missing || !run[place{a.Key(), journal.RoleAA, block}]
		}
	}
	r.TrialsPlanned = min(max(0, r.Plan.Blocks), math.MaxInt32) * perBlock // a journal may be anyone's
	r.Complete = !missing
}

// analyze is what a group's values come to: what was measured, the answer, and what speaks for
// and against it.
func (g *group) analyze() (Group, []ReasonMetricWorse) {
	settings, rows := g.results()
	answer, losses := g.answer()
	result := g.summary(settings)
	result.Rows, result.Values = g.withSliced(rows), append(result.Values, g.All()...)
	if g.Best != nil {
		result.Peak = g.Best.Setting
	}
	result.NoiseFloor, result.Spread, result.Flatness = g.noise(), g.spread, g.flatness()
	result.Workload, result.Beyond = g.workload(settings), g.beyondCPUs(rows)
	result.Benchmarks, result.ProcsLogged = g.benchmarks(losses), g.logged()
	result.Throttling, result.Allocates = g.throttling(settings, &answer, result.Peak), g.allocates(rows, &answer)
	answer.Next = append(answer.Next, g.worthTrying(&answer, result.Allocates)...)
	result.Recommendation = answer
	return result, losses
}

func (g *group) answer() (answer Recommendation, losses []ReasonMetricWorse) {
	switch plan := &g.header.Plan; {
	case plan.SmallestFor:
		answer = g.carries()
	case g.header.Target.Attached != nil:
		answer = g.attached()
	default:
		answer = g.verdict()
	}
	if answer.Verdict == Undecided && g.others.slowed() && !remains(answer.Claim) {
		answer.because(CauseSlow{}, StepSteady)
	}
	g.guard(&answer)
	answer.Versus = g.against(&answer)
	return answer, g.qualify(&answer)
}

// worthTrying is what else to measure in a program of which the answer is known.
func (g *group) worthTrying(answer *Recommendation, much *Allocates) (steps []Step) {
	if much != nil && len(g.header.Plan.Vary) == 0 && g.origin == journal.OriginLocal {
		return []Step{{Code: StepVary}}
	}
	if answer.Verdict == NoDifference && len(answer.Next) == 0 && canProfile(g.header) && g.origin == journal.OriginLocal {
		return []Step{{Code: StepProfile}}
	}
	return nil
}

// program fills in what ran where the header does not say it: the Go version and the
// main module that most trials saw.
func program(h journal.Header, trials []journal.Trial) journal.Target {
	t := h.Target
	if slices.ContainsFunc(h.Plan.Settings, func(a journal.Setting) bool { return a.GoVersion != "" }) {
		return t // each group has its own
	}
	seen := func(of func(*journal.Trial) string) string {
		count := map[string]int{}
		for i := range trials {
			if text := of(&trials[i]); text != "" && trials[i].Setting.Variant == "" {
				count[text]++
			}
		}
		return contest.MostOften(count)
	}
	t.GoVersion = cmp.Or(t.GoVersion, seen(func(t *journal.Trial) string { return t.ObservedGoVersion }))
	t.MainModule = cmp.Or(t.MainModule, seen(func(t *journal.Trial) string { return t.ObservedMainModule }))
	return t
}

// raced reports whether a race came to its end in each group.
func (r *Result) raced(counted *contest.Counted) {
	if !r.Plan.Racing() {
		return
	}
	r.TrialsPlanned = max(r.Plan.MaxTrials, r.TrialsRun+r.PilotsRun)
	ends := counted.Ends()
	for _, g := range slices.Concat(r.Groups, r.Compared) {
		g.Race.Stop = string(ends[g.key()])
	}
	r.Complete = len(counted.Contests()) == len(ends)
}

// Failed returns the last trial of a sweep that has no verdict, since its target ran in
// none of the trials that count. It returns nil if there is something to compare, or if
// nothing has failed yet.
func Failed(trials []journal.Trial) *journal.Trial {
	ran := func(t journal.Trial) bool {
		return t.Role != journal.RolePilot && (t.Valid || !t.InvalidCode.NoTarget())
	}
	if len(trials) == 0 || slices.ContainsFunc(trials, ran) {
		return nil
	}
	if last := &trials[len(trials)-1]; !last.Valid && last.InvalidCode.NoTarget() {
		return last
	}
	return nil
}
