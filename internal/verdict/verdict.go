package verdict

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func (g *group) verdict() Recommendation {
	rec := Recommendation{Verdict: Undecided, Reasons: []Remark{}}
	switch {
	case g.origin == OriginMixed:
		rec.because(CauseMixedOrigins{}, StepStartAgain)
		return rec
	case g.lacksCPUs() && len(g.Values)+len(g.TooFewCPUs) < 2 && g.overrides().Ran > 0:
		// A quieter machine would not give the others their values.
		rec.because(CauseOverridden{}, StepFindDerived)
		return rec
	case g.lacksCPUs():
		if rec.because(CauseTooFewCPUs{g.TooFewCPUs}, g.others.remedy()); g.Best != nil {
			rec.Reasons = g.reasons(nil)
		}
		return rec
	}
	switch alone := len(g.Values) < 2 && g.Apart == nil; {
	case alone && len(g.TooLarge)+len(g.Unweighed) == 0 && g.overrides().Ran > 0:
		rec.because(CauseOverridden{}, StepFindDerived)
	case g.Best != nil && g.defaultFails():
		rec.because(CauseNoDefault{}, StepFix)
	case g.Best == nil && slices.ContainsFunc(g.Values, func(v *contest.Value) bool { return v.Unmet }):
		steps := []StepCode{StepObjective}
		if g.header.Load.Tunnelled() || g.loadLimited() {
			steps = []StepCode{StepLoadElsewhere, StepObjective}
		}
		rec.because(CauseUnmet{}, steps...)
	case g.Best == nil && g.Apart != nil:
		rec.because(CauseOnlyUnset{}, StepMoreValues)
	case g.Best == nil:
		rec.because(g.nothing())
	case alone && len(g.Unweighed) > 0:
		rec.because(CauseUnweighed{}, StepWeigh)
	case alone && len(g.TooLarge) > 0:
		rec.because(CauseMemory{About{g.Best}}, StepMoreMemory)
	case alone && slices.ContainsFunc(g.all(g.Settings), func(t *journal.Trial) bool { return !t.Valid }):
		rec.because(CauseOneValue{About{g.Best}, true}, StepFix)
	case alone:
		rec.because(CauseOneValue{About: About{g.Best}}, StepMoreValues)
	case g.Apart != nil && g.Apart.Procs > 0:
		rec.because(CauseUnsetDiffers{About{g.Apart}}, StepFindDerived)
	case g.loadLimited() && g.AllEqual():
		rec.because(CauseLoadLimited{}, StepLoadElsewhere)
	case g.AllEqual():
		rec.Verdict, rec.Confidence = NoDifference, Proven
		rec.Claim = ClaimAlike{}
	default:
		g.choose(&rec)
	}
	if g.Best != nil {
		rec.Reasons = g.reasons(g.costs(cmp.Or(g.recommended(&rec), g.Best)))
	}
	return rec
}

// attached is for the one value of a server that ran already: what was seen, and
// nothing to choose. What other programs took is a warning, as nothing is compared.
func (g *group) attached() Recommendation {
	rec := g.verdict()
	if contest.Valid(g.all(g.Settings)) == 0 {
		return rec
	}
	var of *contest.Value
	for _, v := range slices.Concat(g.Values, g.TooFewCPUs) {
		of = v
		if g.anyLatency() {
			seen := *v
			seen.P99.Median = stat.Median(contest.Figures(g.Measured(g.Settings[0]), shownLatency(g.latencyMode, ofP99))).Median
			of = &seen
		}
	}
	rec.Verdict, rec.Claim, rec.Next = Measured, ClaimAsItRuns{About{of}}, nil
	rec.Reasons = slices.DeleteFunc(g.common(), func(x Remark) bool {
		_, shared := x.(ReasonShared)
		_, tooFewCPUs := x.(ReasonTooFewCPUs)
		return shared || tooFewCPUs
	})
	return rec
}

// lacksCPUs reports whether so many had too few CPUs that nothing can be advised: all but one
// value, or the default, against which a change is advised.
func (g *group) lacksCPUs() bool {
	return len(g.TooFewCPUs) > 0 && (len(g.Values) < 2 || slices.ContainsFunc(g.TooFewCPUs, func(v *contest.Value) bool { return v.Default }))
}

// because is why there is no verdict, and what would decide it.
func (rec *Recommendation) because(cause Remark, steps ...StepCode) {
	rec.Claim, rec.Next = cause, nil
	for _, s := range steps {
		rec.Next = append(rec.Next, Step{Code: s})
	}
}

// nothing is for a group without a metric to compare: what is missing, and what to
// do about that.
func (g *group) nothing() (Remark, StepCode) {
	switch all := g.all(g.Settings); {
	case len(all) == 0 && g.pilotsInvalid:
		return CausePilotsInvalid{}, StepFix
	case len(all) == 0:
		return CauseNotMeasured{}, StepResume
	case contest.Valid(all) == 0:
		return CauseNoneValid{}, StepFix
	case len(g.Unweighed) > 0:
		return CauseUnweighed{}, StepWeigh
	case len(g.TooLarge) > 0:
		return CauseMemory{}, StepMoreMemory
	}
	return CauseNoThroughput{}, StepReadOutput
}

// choose takes what the contest picked, unless the trials leave open what the
// choice rests on.
func (g *group) choose(rec *Recommendation) {
	chosen := g.Of(g.Lead().Pick)
	if chosen == nil {
		rec.Claim, rec.Next = g.none(), g.next()
		return
	}
	switch rival := g.rival(chosen); {
	case g.Lead().Confidence != race.Proven && g.Wild():
		rec.Claim, rec.Next = CauseNoise{}, g.next()
	case rival != nil:
		rec.Verdict, rec.Confidence = TradeOff, Proven
		rec.BestThroughput, rec.BestP99 = chosen.Setting, rival.Setting
		rec.Claim = ClaimTrade{Pair{chosen, rival}, expm1(g.Throughput(rival, chosen).Mid), expm1(g.P99(rival, chosen).Mid)}
	case chosen.Saturated:
		rec.because(CauseSaturated{About{chosen}}, StepLessRate)
	default:
		if g.advise(rec, chosen); rec.Confidence != Proven {
			rec.Next = g.next()
		}
		if standard := g.DefaultValue(); rec.Verdict == Recommended && slices.ContainsFunc(g.Values, func(v *contest.Value) bool {
			return (standard == nil || v == standard) && g.mayBeFaster(v, chosen)
		}) {
			rec.withhold(CauseLoadLimited{}, StepLoadElsewhere)
		}
	}
}

// mayBeFaster reports whether the load generator was at its limit with a value, so that the chosen one,
// which has the same throughput, may be slower. Within an objective, throughput is not what the generator
// reached.
func (g *group) mayBeFaster(v, chosen *contest.Value) bool {
	return v != nil && v != chosen && g.header.Plan.SLO == nil && contest.Most(v.Trials, limitedByLoad) && !g.Throughput(v, chosen).Worse
}

// advise is what the pick means for the default.
func (g *group) advise(rec *Recommendation, chosen *contest.Value) {
	rec.Confidence = g.Lead().Confidence
	standard := g.DefaultValue()
	switch matters := g.Worse(chosen); {
	case chosen.Default:
		g.keep(rec, chosen)
	case standard == nil || matters && g.givesUp(standard, chosen):
		g.set(rec, chosen)
	// The default is not proven worse, and no smaller value matches it: it may be as good.
	case matters:
		if rec.Confidence = Likely; g.Lead().Default != "" {
			g.keep(rec, standard)
		} else {
			g.set(rec, chosen)
		}
	// Where nothing is proven worse, GOMAXPROCS is not shown to matter, and no change is
	// advised. That the default is as good is another claim than that the pick is.
	case g.Lead().Default == race.Proven, g.Lead().Default == race.Likely && !g.Wild():
		rec.Confidence = g.Lead().Default
		g.keep(rec, standard)
		claim := ClaimAsGood{Pair{Of: standard}}
		if g.Lead().Confidence == race.Proven {
			claim.Than = chosen
		}
		rec.Claim = claim
	default:
		rec.Claim, rec.Confidence = g.defaultOpen(chosen, standard), ""
	}
}

// givesUp reports whether the default is given up for the chosen value: it is proven worse, or that is
// smaller and matches it.
func (g *group) givesUp(standard, chosen *contest.Value) bool {
	return g.Beats(chosen, standard) || g.Out(standard) || chosen.Procs < standard.Procs && g.Covers(chosen, standard)
}

func (g *group) keep(rec *Recommendation, chosen *contest.Value) {
	rec.Verdict, rec.Setting, rec.Claim = KeepDefault, unsetLabel(chosen), ClaimKeep{About{chosen}}
}

func (g *group) set(rec *Recommendation, chosen *contest.Value) {
	rec.Verdict, rec.Procs, rec.Setting, rec.Claim = Recommended, new(chosen.Procs), chosen.Setting, ClaimSet{About{chosen}}
}

// defaultOpen is that the chosen value is as good as any, and that the default may be worse.
func (g *group) defaultOpen(chosen, standard *contest.Value) CauseDefaultOpen {
	rival := chosen
	for _, v := range g.Values {
		if g.Covers(standard, rival) && v != standard && !g.Out(v) {
			rival = v
		}
	}
	cause := CauseDefaultOpen{Difference{Pair: Pair{chosen, standard}}, rival, MetricThroughput, g.Lead().Confidence == race.Proven}
	if standard.Unmet {
		return cause // what it carries is not known
	}
	c := g.Throughput(standard, rival)
	if c.AsGood && g.ByLatency && rival.HasLatency() && standard.HasLatency() {
		cause.Metric, c = MetricP99, g.P99(standard, rival)
	}
	cause.N, cause.Change = c.N, expm1(c.Mid)
	return cause
}

// none is why the contest picked nothing.
func (g *group) none() Remark {
	if len(g.Tail) == 1 && g.Best.Saturated {
		return CauseSaturated{About{g.Best}}
	}
	if g.Wild() {
		return CauseNoise{}
	}
	open := g.Open()
	if len(open) > 0 && open[0].By == race.P99 {
		two := Rivals{List: g.pair(open[0])}
		if standard := g.DefaultValue(); standard != nil && g.InTail(standard) {
			two.Default = standard
		}
		return CauseP99Open{two}
	}
	if standard := g.DefaultValue(); standard != nil && len(open) > 0 && slices.Contains(g.pair(open[0]), standard) {
		return CauseThroughputOpen{Rivals{g.pair(open[0]), standard}}
	}
	return CauseNothingProven{}
}

// rival is the value that is worse than the pick in throughput and whose latency is
// proven better by more, as a ratio: then the two want different values.
func (g *group) rival(chosen *contest.Value) *contest.Value {
	v := g.Of(g.Lead().Trade)
	if v == nil || v == chosen || v.Saturated || g.Beyond(v) || g.Rules().MaxByLatency > 0 && chosen.Default {
		return nil
	}
	return v
}

func unsetLabel(v *contest.Value) string {
	if unset := v.ByDefault(); unset != nil {
		return unset.Label
	}
	return v.Setting
}

// next says what would make a verdict possible, or prove a likely one: how many more
// trials, and how long they take; or that no trials do, where a value missed the objective.
func (g *group) next() []Step {
	if g.header.Load.Tunnelled() {
		return []Step{{Code: StepLoadElsewhere}} // more of the same trials would measure the API server too
	}
	if g.Wild() {
		if g.Lead().Spread.Throughput > race.WildThroughput {
			return []Step{g.quieter(race.Throughput)}
		}
		return []Step{g.quieter(race.P99)}
	}
	standard, open := g.DefaultValue(), g.Open()
	never := func(c race.Comparison) bool {
		return c.Trials == 0 && slices.ContainsFunc(g.pair(c), func(v *contest.Value) bool { return v.Unmet })
	}
	if slices.ContainsFunc(open, never) || len(open) == 0 && standard != nil && standard.Unmet && standard.N >= race.Enough {
		return []Step{{Code: StepObjective}}
	}
	if i := slices.IndexFunc(open, func(c race.Comparison) bool { return c.Trials == 0 }); i >= 0 { // it takes more than can be asked
		return []Step{g.quieter(open[i].By)}
	}
	step := Step{Code: StepGoOn, TrialSeconds: g.trialSeconds}
	for _, v := range g.Values {
		step.Have += contest.Valid(v.Trials)
	}
	for i, c := range open {
		if i == 0 {
			step.Metric, step.List = string(c.By), g.pair(c)
		}
		step.More = max(step.More, c.Trials)
	}
	if step.More == 0 {
		step.More = step.Have
	}
	return []Step{step}
}

// quieter is that trials stray too much in a metric for any number of them to decide.
func (g *group) quieter(by race.Figure) Step {
	if by == race.P99 {
		return Step{Code: StepQuieter, Metric: MetricP99, Spread: g.Lead().Spread.P99}
	}
	return Step{Code: StepQuieter, Metric: MetricThroughput, Spread: g.Lead().Spread.Throughput}
}

// pair are the two values of a comparison, by Ps.
func (g *group) pair(c race.Comparison) []*contest.Value {
	return []*contest.Value{g.Of(min(c.A, c.B)), g.Of(max(c.A, c.B))}
}

// recommended is the value that a verdict comes to: of no_difference, which says
// to leave things as they are, the default.
func (g *group) recommended(rec *Recommendation) *contest.Value {
	switch {
	case rec.Verdict == NoDifference:
		return cmp.Or(g.DefaultValue(), g.Best)
	case rec.Verdict.Decides():
		return rec.Of()
	}
	return nil
}

// guard refuses a verdict of what nobody saw. A value is named only if valid trials of it
// and of the default were seen to run at it. If the user said that they cannot be seen, if the
// load came through the API server, if nothing was counted that would show that other programs
// disturbed the trials, or if a latency that is judged may be the load generator's own, the verdict
// is likely at most.
func (g *group) guard(rec *Recommendation) {
	if rec.Verdict == Undecided || rec.Verdict == Measured {
		return
	}
	if g.defaultMissing() {
		rec.withhold(CauseNoDefault{}, StepFix)
		return
	}
	for key := range g.Unweighed { // the default took no part: nothing was compared with it
		if key.Procs == 0 && key.Variant == "" && key.Group.Compares == "" {
			rec.withhold(CauseUnweighed{}, StepWeigh)
			return
		}
	}
	unseen, uncounted := g.unseen(rec), g.uncounted()
	var cause Remark
	step, capped := StepSee, g.header.Target.AnyProgram
	switch {
	case len(unseen) > 0:
		cause = CauseUnseen{unseen}
	case g.header.Load.Tunnelled():
		cause, step, capped = CauseTunnel{}, StepLoadElsewhere, true
	case len(uncounted) > 0:
		cause, step, capped = CauseUncounted{uncounted}, StepCount, true
	case rec.Verdict != SustainsRate && g.lagUnknown():
		cause, step, capped = CauseLagUnknown{}, StepOwnLoad, true
	default:
		return
	}
	switch {
	case !capped || !rec.Verdict.Decides():
		rec.withhold(cause, step)
	case rec.Confidence == Proven:
		rec.Confidence, rec.Next = Likely, []Step{{Code: step}}
	}
}

// capped reports whether guard made likely what was proven.
func (rec *Recommendation) capped() bool {
	return slices.ContainsFunc(rec.Next, func(s Step) bool { return slices.Contains([]StepCode{StepSee, StepCount, StepOwnLoad}, s.Code) })
}

// withhold is a verdict that there is none, with the reasons of the one that there was.
func (rec *Recommendation) withhold(cause Remark, step StepCode) {
	*rec = Recommendation{Verdict: Undecided, Reasons: rec.Reasons}
	rec.because(cause, step)
}

func (g *group) defaultMissing() bool {
	isUnset := func(a journal.Setting) bool { return a.Procs == nil && a.Variant == "" }
	if i := slices.IndexFunc(g.Settings, isUnset); i >= 0 {
		return contest.Valid(g.Measured(g.Settings[i])) == 0
	}
	return slices.ContainsFunc(g.header.Plan.Of(g.Group), isUnset)
}

// defaultFails reports whether the default has trials, none of which is valid, and one at least by a
// fault of the program.
func (g *group) defaultFails() bool {
	return g.defaultMissing() && slices.ContainsFunc(g.measuredIn(g.Current()), func(t *journal.Trial) bool {
		return t.Setting.Procs == nil && !t.InvalidCode.Passing() && t.InvalidCode != journal.InvalidSlow && t.InvalidCode != journal.InvalidCrowded
	})
}

// unseen are the values that a verdict is about, and the default, if no valid trial was
// seen to run at them.
func (g *group) unseen(rec *Recommendation) (list []*contest.Value) {
	rests := g.Values // that nothing differs is about all of them
	if rec.Verdict != NoDifference {
		of, than := rec.values()
		rests = []*contest.Value{of, than}
	}
	for _, v := range append(slices.Clone(g.Values), g.Apart) {
		if v == nil || !v.Default && !slices.Contains(rests, v) {
			continue
		}
		seen := v.Trials
		if unset := v.ByDefault(); unset != nil { // what its number ran at says nothing of the default
			seen = g.Trials(*unset)
		}
		if p, _ := contest.Resolved(seen); p == 0 {
			list = append(list, v)
		}
	}
	return list
}

func (g *group) uncounted() []*contest.Value {
	return slices.DeleteFunc(slices.Clone(g.Values), func(v *contest.Value) bool { return !uncountedValues(v.Trials) })
}

// lagUnknown reports whether latency is judged that may be the load generator's own.
func (g *group) lagUnknown() bool {
	return g.ByLatency && contest.Most(g.measuredIn(g.Current()), contest.LagUnknown)
}

// uncountedValues reports whether most of the valid trials tell nothing of what other programs did.
func uncountedValues(trials []*journal.Trial) bool {
	return contest.Most(trials, func(t *journal.Trial) bool { return contest.MostOthers(t) == nil })
}

// guardCompared is guard for the values of a variable, which procfit sets and need not see. What
// is proven of them is likely if nothing was counted of other programs, or a latency that is judged may be
// the load generator's own.
func (g *group) guardCompared(rec *Recommendation) {
	switch {
	case rec.Confidence != Proven:
	case slices.ContainsFunc(g.Settings, func(a journal.Setting) bool { return uncountedValues(g.Trials(a)) }):
		rec.Confidence, rec.Next = Likely, []Step{{Code: StepCount}}
	case g.lagUnknown():
		rec.Confidence, rec.Next = Likely, []Step{{Code: StepOwnLoad}}
	}
}
