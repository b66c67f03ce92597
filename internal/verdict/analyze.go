package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Analyze says what a journal shows. It is pure: the same journal gives the same
// result, and no number comes from anywhere else.
func Analyze(h journal.Header, trials []journal.Trial) *Result {
	r := Of(h, trials)
	counted := contest.Count(h, trials)
	trials = counted.Trials
	notes := &notes{h: h}
	notes.units(counted.LeftOut)
	r.count(trials)
	r.Engines = engines(trials)
	groups := collect(h, trials)
	r.Origin = originOf(allTrials(groups))
	all := groups
	groups = r.compare(counted, all)
	for i, g := range groups {
		g.contest = counted.Contest(g.key)
		result, w := g.analyze(h, r)
		r.Groups = append(r.Groups, result)
		notes.group(i, g, &r.Groups[i], w)
	}
	r.raced(counted)
	r.best(counted)
	r.contradicted()
	r.Cheapest = r.priceSettings(h, trials)
	notes.run(r, all)
	notes.pilots(trials)
	if counted.Repeated > 0 {
		notes.add(-1, Duplicates{counted.Repeated})
	}
	r.Warnings = append(r.Warnings, notes.list...)
	if h.Plan.GateAgainst {
		r.Gate = gateAgainst(counted, all)
	}
	if len(r.Groups) == 1 && r.Best == nil {
		r.Recommendation = &r.Groups[0].Recommendation
	}
	return r
}

// Of is a Result that is not analysed yet.
func Of(h journal.Header, trials []journal.Trial) *Result {
	return &Result{
		Schema: ResultSchema, Name: h.Name, Started: h.Started,
		Host: h.TargetHost, LoadHost: h.LoadHost, Spec: h.Spec, Tool: h.Tool, Target: program(h, trials), Load: h.Load, Plan: h.Plan,
		SharedCPUs: contest.Shared(h),
		Groups:     []Group{}, Warnings: []Warning{},
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

func (g *group) analyze(h journal.Header, run *Result) (Group, *outcome) {
	r := g.summary(h)
	machine := contest.MachineCPUs(h, g.trials())
	r.NoiseFloor = g.noise()
	w := g.contenders(newMargins(h.Plan.Margin, h.Plan.MarginP99))
	w.group, w.pilotsInvalid, w.trialSeconds = &r, run.PilotsInvalid > 0, secondsOf(allTrials([]*group{g}))
	r.Spread = w.spread()
	if w.best != nil {
		r.Peak = w.best.label
		r.Detectable = detectableEffect(w.best, w.contenders)
		g.versusPeak(&r, w)
		r.Flatness = flatness(&r, w, h.Plan.Margin)
	}
	g.place(&r, w, machine)
	speedups(r.Settings)
	speedups(r.Rows)
	r.Workload = workload(&r, h)
	switch {
	case h.Plan.SmallestFor:
		r.Recommendation = g.carries(w)
	case h.Target.Attached != nil:
		r.Recommendation = g.attached(w)
	default:
		r.Recommendation = g.verdict(w)
	}
	if r.Recommendation.Verdict == CannotTell && r.Others.slowed() && !remains(r.Recommendation.Claim.Code) {
		r.Recommendation.because(CauseSlow, StepSteady)
	}
	g.guard(h, w, &r.Recommendation)
	r.Recommendation.Versus = w.against(&r.Recommendation)
	r.Race = g.took(h)
	g.qualify(&r.Recommendation, w, h.Plan.Margin)
	r.Benchmarks = g.benchmarks(w)
	r.Override, r.Beyond = g.overrides(&r), judgeBeyond(&r)
	r.Default = judgeDefault(&r, r.Override, h.Target, h.TargetHost)
	r.ProcsLogged = g.logged()
	r.Throttling = g.throttling(&r, w, h.TargetHost)
	if r.Allocates = g.allocates(&r, w); r.Allocates != nil && len(h.Plan.Vary) == 0 && r.Origin == journal.OriginLocal {
		r.Recommendation.Settle = append(r.Recommendation.Settle, Step{Code: StepVary})
	}
	if r.Recommendation.Verdict == NotYourKnob && len(r.Recommendation.Settle) == 0 && canProfile(h) && r.Origin == journal.OriginLocal {
		r.Recommendation.Settle = append(r.Recommendation.Settle, Step{Code: StepProfile})
	}
	return r, w
}

// spread is how far a trial strays, as a ratio. One trial of each value does not show it:
// what a contest assumes before it has more is not reported.
func (w *outcome) spread() Spread {
	s := Spread{DF: int(w.Spread.DF)}
	var again, againP99 bool
	for _, c := range w.contenders {
		again, againP99 = again || c.level.Trials > 1, againP99 || c.p99Trials > 1
	}
	if x := w.Spread.Throughput; again && x > 0 && !math.IsInf(x, 0) {
		s.Throughput = &x
	}
	if x := w.Spread.P99; w.latency && againP99 && x > 0 && !math.IsInf(x, 0) {
		s.P99 = &x
	}
	return s
}

// summary is the settings by themselves, and what ran next to them.
func (g *group) summary(h journal.Header) Group {
	machine := contest.MachineCPUs(h, g.trials())
	effective := contest.EffectiveCPUs(h, g.key, g.trials())
	part := partOf(h, machine)
	if part != nil && effective < float64(part.CPUs) {
		part = nil // a limit holds it, not the load
	}
	mode := g.latencyMode()
	r := Group{
		Replicas: g.key.Replicas, GoVersion: g.key.GoVersion, SetLive: g.key.SetLive, Origin: originOf(allTrials([]*group{g})), EffectiveCPUs: effective, LimitAround: limitAround(g.trials()),
		ThroughputUnit: g.unit(), LatencyMode: string(mode), RatePerSecond: g.rate(),
		Latency: g.contest.Latency, Part: part, Values: []ValueResult{},
		Settings: []SettingResult{}, Flatness: Flatness{WithinMargin: []string{}},
	}
	if g.key.Limited {
		r.QuotaCPUs = new(g.key.QuotaCPUs)
	}
	if r.Compares = g.key.Compares; g.key.Procs > 0 {
		r.Procs = new(g.key.Procs)
	}
	for _, a := range g.settings {
		r.Variables = slices.DeleteFunc(slices.Clone(a.Variables), func(v journal.Variable) bool { return v.Name == r.Compares })
	}
	for _, a := range g.settings {
		r.Settings = append(r.Settings, g.summarize(a, machine, effective, mode))
	}
	g.others(&r)
	return r
}

// limitAround is the tightest of the limits around the target in the measured trials.
func limitAround(trials []*journal.Trial) (tightest *Limit) {
	for _, t := range trials {
		for _, l := range t.OuterLimits {
			if t.Role == journal.RoleMeasure && l.CPUs > 0 && (tightest == nil || l.CPUs < tightest.CPUs) {
				tightest = &Limit{CPUs: l.CPUs, Group: l.Group}
			}
		}
	}
	return tightest
}

// partOf is the target's part of a machine whose other CPUs the load has.
func partOf(h journal.Header, machine float64) *Part {
	a := h.Load.Arrangement
	if a == nil || *a != journal.ArrangementApart {
		return nil
	}
	p := Part{CPUs: len(h.Target.Had()), Of: int(machine), LoadHas: len(h.Load.Had())}
	if p.CPUs <= 0 || p.CPUs >= p.Of {
		return nil
	}
	return &p
}

// versusPeak gives each current setting what was found of its value.
func (g *group) versusPeak(r *Group, w *outcome) {
	of := map[journal.SettingKey]*contender{}
	for _, s := range w.contenders {
		for _, a := range s.settings {
			of[a.key] = s
		}
	}
	for i, a := range g.settings {
		s, result := of[a.key], &r.Settings[i]
		if s == nil {
			continue
		}
		result.VersusPeak = w.ratio(s)
		if !math.IsNaN(s.rate) {
			result.NonInferior.Throughput = new(w.inTail(s))
		}
		if w.latency && w.inTail(s) && len(w.tail) > 1 && s.hasP99() {
			result.NonInferior.P99 = new(w.passesLatency(s))
		}
	}
}

// OriginMixed is the origin of trials that were not all measured in the same place. They
// are never compared.
const OriginMixed journal.Origin = "mixed"

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

// program fills in what ran where the header does not say it: the Go version and the
// main module that most trials saw.
func program(h journal.Header, trials []journal.Trial) journal.Target {
	t := h.Target
	for _, a := range h.Plan.Settings {
		if a.GoVersion != "" {
			return t // each group has its own
		}
	}
	versions, modules := map[string]int{}, map[string]int{}
	for i := range trials {
		if v := trials[i].ObservedGoVersion; v != "" && trials[i].Setting.Variant == "" {
			versions[v]++
		}
		if m := trials[i].ObservedMainModule; m != "" && trials[i].Setting.Variant == "" {
			modules[m]++
		}
	}
	if t.GoVersion == "" {
		t.GoVersion = contest.MostOften(versions)
	}
	if t.MainModule == "" {
		t.MainModule = contest.MostOften(modules)
	}
	return t
}

// Engine is one of procfit's own that offered the load of some trials, what it spoke
// and what that cost.
type Engine struct {
	Name                 string
	Protocol             string
	Trials               int
	CPUSecondsPerRequest *float64 // the engine's own, in the closed loop; the median
}

// engines are those of the valid trials, in the order in which they appear. There is
// none in an older journal, and of another generator.
func engines(trials []journal.Trial) []Engine {
	var list []Engine
	costs := map[int][]float64{} // by index
	for i := range trials {
		t := &trials[i]
		if !t.Valid || len(t.Phases) == 0 || t.Phases[0].Engine == "" {
			continue
		}
		p := &t.Phases[0]
		at := slices.IndexFunc(list, func(e Engine) bool { return e.Name == p.Engine && e.Protocol == p.Protocol })
		if at < 0 {
			at, list = len(list), append(list, Engine{Name: p.Engine, Protocol: p.Protocol})
		}
		list[at].Trials++
		if t.Load != nil && p.Requests > 0 {
			costs[at] = append(costs[at], t.Load.CPUSeconds/float64(p.Requests))
		}
	}
	for at, each := range costs {
		slices.Sort(each)
		list[at].CPUSecondsPerRequest = new(median(each))
	}
	return list
}
