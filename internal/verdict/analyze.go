package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
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

// strays is how far a trial does, as a ratio. One trial of each value does not show it:
// what a contest assumes before it has more is not reported.
func (g *group) strays() Spread {
	spread := g.Lead().Spread
	s := Spread{DF: int(spread.DF)}
	again := slices.ContainsFunc(g.Values, func(v *contest.Value) bool { return v.N > 1 })
	againP99 := slices.ContainsFunc(g.Values, func(v *contest.Value) bool { return v.P99.N > 1 })
	if x := spread.Throughput; again && x > 0 && !math.IsInf(x, 0) {
		s.Throughput = &x
	}
	if x := spread.P99; g.ByLatency && againP99 && x > 0 && !math.IsInf(x, 0) {
		s.P99 = &x
	}
	return s
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

func newGroup(counted *contest.Counted, key journal.GroupKey) *group {
	g := &group{Contest: counted.Contest(key), header: counted.Header, trialSeconds: counted.TrialSeconds()}
	all := g.all(g.Settings)
	current := g.all(g.Current())
	g.origin = originOf(all)
	g.machine, g.effective = contest.MachineCPUs(g.header, current), contest.EffectiveCPUs(g.header, key, current)
	g.latencyMode, g.rate = g.findLatencyMode(), g.findRate()
	g.spread = g.strays()
	g.others = g.otherPrograms()
	g.pilotsInvalid = slices.ContainsFunc(counted.Trials, func(t journal.Trial) bool { return t.Role == journal.RolePilot && !t.Valid })
	return g
}

// Settled reports whether a race has proven its answer in each group, and which setting is the
// cheapest where that was asked for, whether or not it came to its end: nothing that it lacks is
// needed.
func (r *Result) Settled() bool {
	if c := r.Cheapest; c != nil && (c.Answer == nil || c.Answer.Carries != CarriesIt || c.Open > 0) {
		return false
	}
	open := func(g Group) bool { return g.Recommendation.Confidence != Proven }
	return r.Plan.Racing() && !r.Plan.GateAgainst && len(r.Groups) > 0 && len(r.Best) == 0 && !slices.ContainsFunc(r.Groups, open)
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

// group is the contest of a group's settings, with what was found of them before anything
// is compared.
type group struct {
	*contest.Contest
	header journal.Header
	origin journal.Origin
	// machine and effective are the CPUs of the machine, and those that one replica may use.
	machine, effective float64
	latencyMode        journal.Mode
	rate               *float64 // of the open loop; nil without one
	spread             Spread
	others             OtherPrograms
	pilotsInvalid      bool    // some pilot was, of whichever group
	trialSeconds       float64 // of whichever group, the mean
}

// all are all trials of settings, both copies of an A/A pair.
func (g *group) all(settings []journal.Setting) (list []*journal.Trial) {
	for _, a := range settings {
		list = append(list, g.Trials(a)...)
	}
	return list
}

// figure reads one number off a trial; nil where there is no such number.
type figure func(*journal.Trial) *float64

func throughputOf(t *journal.Trial) *float64 { return t.ThroughputPerSecond }

// differences are those of a metric's logarithm between two lists of trials, in the blocks in
// which both have one. Of several trials in a block it is the mean.
func differences(f figure, a, b []*journal.Trial) []float64 {
	return stat.LogRatios(contest.ByBlock(a, f), contest.ByBlock(b, f))
}

// crashesFrom is the lowest value at which the program crashed or failed, if it did so in
// two trials at least, at the highest value too, and in none of three or more with a lower value; else 0.
func crashesFrom(trials []*journal.Trial) int {
	crashed, lowest, highest, top := 0, math.MaxInt, 0, 0
	for _, t := range trials {
		top = max(top, stat.OrZero(t.Setting.Procs))
		if p := t.Setting.Procs; p != nil && (t.InvalidCode == journal.InvalidCrashed || t.InvalidCode == journal.InvalidExit) {
			crashed++
			lowest, highest = min(lowest, *p), max(highest, *p)
		}
	}
	ran := contest.HowMany(trials, func(t *journal.Trial) bool {
		p := t.Setting.Procs
		return p != nil && *p < lowest && t.Valid
	})
	if crashed < 2 || ran < 3 || highest < top {
		return 0
	}
	return lowest
}

// measuredIn are the trials of settings without second copies.
func (g *group) measuredIn(settings []journal.Setting) (list []*journal.Trial) {
	for _, a := range settings {
		list = append(list, g.Measured(a)...)
	}
	return list
}

// Proportion is k of n with the exact 95% interval (Clopper and Pearson, Biometrika
// 1934); nothing of none.
func Proportion(k, n int) stat.Interval {
	if n <= 0 || k < 0 || k > n {
		return stat.Interval{}
	}
	low, high := 0.0, 1.0
	if k > 0 {
		low = stat.BetaQuantile(0.025, float64(k), float64(n-k+1))
	}
	if k < n {
		high = stat.BetaQuantile(0.975, float64(k+1), float64(n-k))
	}
	return stat.Interval{Median: new(float64(k) / float64(n)), Low: &low, High: &high, N: n}
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

// took counts a group's race; nil of a grid.
func (g *group) took() *Raced {
	if !g.header.Plan.Racing() {
		return nil
	}
	r := &Raced{Measured: []int{}, Trials: len(g.all(g.Settings))} // those of an old version too
	for _, a := range g.Current() {
		all := g.Trials(a)
		p, _ := contest.Resolved(all)
		if p == 0 && a.Procs != nil { // a value that cannot be read is the one that was asked for
			p = *a.Procs
		}
		if p > 0 && contest.Valid(g.Measured(a)) > 0 {
			r.Measured = append(r.Measured, p)
		}
	}
	slices.Sort(r.Measured)
	r.Measured = slices.Compact(r.Measured)
	var candidates []int
	for _, a := range g.header.Plan.Settings {
		if a.Group() == g.Group && a.Procs != nil && a.Variant == "" && !slices.Contains(candidates, *a.Procs) {
			candidates = append(candidates, *a.Procs)
		}
	}
	r.Candidates = len(candidates)
	return r
}

// findRate is the open loop's rate, as the first valid trial offered it. Within an objective each
// trial tried rates of its own.
func (g *group) findRate() *float64 {
	if g.header.Plan.SLO != nil {
		return nil
	}
	for _, t := range g.measuredIn(g.Settings) {
		if p := t.Phase(journal.ModeOpen); t.Valid && p != nil && p.RatePerSecond != nil {
			return p.RatePerSecond
		}
	}
	return nil
}

func (g *group) unit() string {
	for _, t := range g.measuredIn(g.Settings) {
		if t.Valid && t.ThroughputUnit != "" {
			return t.ThroughputUnit
		}
	}
	return ""
}

// anyLatency reports whether the latency of all valid trials is shown, where comparisons are of
// p99 and there is one value of a server that ran already. Which trials a late generator spoils
// is judged by the trial's own p99, so that those without them are the slowest: that is
// right between values, and no metric of one.
func (g *group) anyLatency() bool {
	return g.header.Target.Attached != nil && !g.header.Plan.SmallestFor && g.Latency.Quantile == 0.99 && len(g.Settings) == 1 && contest.Valid(g.all(g.Settings)) > 0
}

// findLatencyMode is the loop that shown takes; empty without any latency.
func (g *group) findLatencyMode() journal.Mode {
	mode := journal.Mode("")
	for _, t := range g.measuredIn(g.Settings) {
		if t.Valid && t.LatencySeconds != nil {
			return journal.ModeOpen
		}
		if p := t.Phase(journal.ModeClosed); t.Valid && p != nil && p.LatencySeconds != nil {
			mode = journal.ModeClosed
		}
	}
	return mode
}

// originOf is where trials came from; empty of none.
func originOf(trials []*journal.Trial) journal.Origin {
	var origin journal.Origin
	for _, t := range trials {
		switch of := t.Origin; {
		case of == "":
		case origin == "":
			origin = of
		case origin != of:
			return OriginMixed
		}
	}
	return origin
}

func (g *group) loadLimited() bool { return contest.Most(g.all(g.Settings), limitedByLoad) }

func allTrials(groups ...*group) []*journal.Trial {
	var all []*journal.Trial
	for _, g := range groups {
		all = append(all, g.all(g.Settings)...)
	}
	sorting.Stable(all, func(a, b *journal.Trial) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Order, b.Order))
	})
	return all
}

func limitedByLoad(t *journal.Trial) bool {
	if t.Load != nil && t.Load.ThreadBusiestRatio != nil && *t.Load.ThreadBusiestRatio >= loadLimitThread {
		return true
	}
	return slices.ContainsFunc(t.Warnings, func(w journal.Warning) bool { return w.Code == journal.WarnLoadLimited })
}
