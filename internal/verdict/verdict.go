package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// verdict is what the comparisons come to: what is proven, and what is not.
func (g *group) verdict() Recommendation {
	r := Recommendation{Verdict: CannotTell, Reasons: []Remark{}}
	switch {
	case g.origin == OriginMixed:
		r.because(CauseMixedOrigins{}, StepStartAgain)
		return r
	case g.starved() && len(g.Values)+len(g.Starved) < 2 && g.overrides().Ran > 0:
		// A quieter machine would not give the others their values.
		r.because(CauseOverridden{}, StepFindDerived)
		return r
	case g.starved():
		if r.because(CauseWithheld{g.Starved}, g.others.remedy()); g.Best != nil {
			r.Reasons = g.reasons(nil)
		}
		return r
	case g.Best == nil && g.Apart != nil:
		r.because(CauseOnlyUnset{}, StepMoreValues)
		return r
	case g.Best == nil:
		r.because(g.nothing())
		return r
	}
	switch {
	case len(g.Values) < 2 && g.Apart == nil && len(g.TooLarge) > 0:
		r.because(CauseMemory{About{g.Best}}, StepMoreMemory)
	case len(g.Values) < 2 && g.Apart == nil:
		r.because(CauseOneValue{About{g.Best}}, StepMoreValues)
	case g.Apart != nil && g.Apart.Procs > 0:
		r.because(CauseUnsetDiffers{About{g.Apart}}, StepFindDerived)
	case g.loadLimited() && g.AllEqual():
		r.because(CauseLoadLimited{}, StepLoadElsewhere)
	case g.AllEqual():
		r.Verdict, r.Confidence = NotYourKnob, Proven
		r.Claim = ClaimAlike{g.Values, g.ByLatency}
	default:
		g.choose(&r)
	}
	r.Reasons = g.reasons(g.costs(cmp.Or(g.recommended(&r), g.Best)))
	return r
}

// attached is for the one value of a server that ran already: what was seen, and
// nothing to choose. What other programs took is a warning, as nothing is compared.
func (g *group) attached() Recommendation {
	r := g.verdict()
	if contest.Valid(g.all(g.Settings)) == 0 {
		return r
	}
	var of *contest.Value
	for _, v := range slices.Concat(g.Values, g.Starved) {
		of = v
		if g.anyLatency() {
			seen := *v
			seen.P99.Mean = Median(values(g.Measured(g.Settings[0]), shown(g.latencyMode, ofP99))).Median
			of = &seen
		}
	}
	r.Verdict, r.Claim, r.Settle = Measured, ClaimAsItRuns{About{of}}, nil
	r.Reasons = slices.DeleteFunc(g.common(), func(x Remark) bool {
		_, shared := x.(ReasonShared)
		_, withheld := x.(ReasonWithheld)
		return shared || withheld
	})
	return r
}

// anyLatency reports whether the latency of all valid trials is shown, where comparisons are of
// p99 and there is one value of a server that ran already. Which trials a late generator spoils
// is judged by the trial's own p99, so that those without them are the slowest: that is
// right between values, and no metric of one.
func (g *group) anyLatency() bool {
	return g.header.Target.Attached != nil && !g.header.Plan.SmallestFor && g.Latency.Quantile == 0.99 && len(g.Settings) == 1 && contest.Valid(g.all(g.Settings)) > 0
}

// starved reports whether so much is withheld that nothing can be advised: all but one
// value, or the default, against which a change is advised.
func (g *group) starved() bool {
	if len(g.Starved) == 0 {
		return false
	}
	if len(g.Values) < 2 {
		return true
	}
	for _, s := range g.Starved {
		if s.Default {
			return true
		}
	}
	return false
}

// because is why there is no verdict, and what would decide it.
func (r *Recommendation) because(cause Remark, steps ...StepCode) {
	r.Claim, r.Settle = cause, nil
	for _, s := range steps {
		r.Settle = append(r.Settle, Step{Code: s})
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
	case len(g.TooLarge) > 0:
		return CauseMemory{}, StepMoreMemory
	}
	return CauseNoThroughput{}, StepReadOutput
}

// choose settles on what the contest picked, unless the trials leave open what the
// choice rests on.
func (g *group) choose(r *Recommendation) {
	x := g.Of(g.Lead().Pick)
	if x != nil && g.Lead().Confidence != race.Proven && g.Wild() {
		r.Claim, r.Settle = CauseNoise{}, g.settle()
		return
	}
	if x != nil && g.rival(x) != nil {
		rival := g.rival(x)
		r.Verdict, r.Confidence = TradeOff, Proven
		r.BestThroughput, r.BestP99 = x.Setting, rival.Setting
		r.Claim = ClaimTrade{Pair{x, rival}, expm1(g.Throughput(rival, x).Mid), expm1(g.P99(rival, x).Mid)}
		return
	}
	if x == nil {
		r.Claim, r.Settle = g.none(), g.settle()
		return
	}
	if x.Saturated {
		r.because(CauseSaturated{About{x}}, StepLessRate)
		return
	}
	g.advise(r, x)
	if r.Confidence != Proven {
		r.Settle = g.settle()
	}
}

// advise is what the pick means for the default.
func (g *group) advise(r *Recommendation, x *contest.Value) {
	r.Confidence = confidenceOf(g.Lead().Confidence)
	standard := g.DefaultValue()
	switch matters := g.Worse(x); {
	case x.Default:
		g.keep(r, x)
	case standard == nil:
		claim := g.change(x)
		if !matters {
			claim.Metric, claim.Open = MetricOpen, g.untold(x)
		}
		g.set(r, x, claim)
	// The default is not proven worse, and no smaller value matches it: it may be as good.
	case matters && !g.givesUp(standard, x):
		if r.Confidence = Likely; g.Lead().Default != "" {
			g.keep(r, standard)
		} else {
			g.set(r, x, g.change(x))
		}
	case matters:
		g.set(r, x, g.change(x))
	// Where nothing is proven worse, GOMAXPROCS is not shown to matter, and no change is
	// advised. That the default is as good is another claim than that the pick is.
	case g.Lead().Default == race.Proven, g.Lead().Default == race.Likely && !g.Wild():
		r.Confidence = confidenceOf(g.Lead().Default)
		g.keep(r, standard)
		claim := ClaimAsGood{Pair{Of: standard}}
		if g.Lead().Confidence == race.Proven {
			claim.Than = x
		}
		r.Claim = claim
	default:
		r.Claim, r.Confidence = g.defaultOpen(x, standard), ""
	}
}

// givesUp reports whether the default is given up for x: it is proven worse, or x is
// smaller and matches it.
func (g *group) givesUp(standard, x *contest.Value) bool {
	return g.Beats(x, standard) || g.Out(standard) || x.Procs < standard.Procs && g.Covers(x, standard)
}

// keep names the default.
func (g *group) keep(r *Recommendation, x *contest.Value) {
	r.Verdict, r.Setting = KeepDefault, unsetLabel(x)
	r.Claim = ClaimKeep{About{x}, g.provenSmallest(x)}
}

// set names another value.
func (g *group) set(r *Recommendation, x *contest.Value, claim ClaimSet) {
	r.Verdict, r.Procs, r.Setting, r.Claim = Recommended, new(x.Procs), x.Setting, claim
}

// untold are the values that are not proven to be as good as x, where nothing is proven
// worse.
func (g *group) untold(x *contest.Value) []*contest.Value {
	return slices.DeleteFunc(slices.Clone(g.Values), func(s *contest.Value) bool { return s == x || g.Covers(s, x) })
}

// defaultOpen is that x is as good as any, and that the default may be worse.
func (g *group) defaultOpen(x, d *contest.Value) CauseDefaultOpen {
	rival := x
	for _, s := range g.Values {
		if g.Covers(d, rival) && s != d && !g.Out(s) {
			rival = s
		}
	}
	r := CauseDefaultOpen{Difference{Pair: Pair{x, d}}, rival, MetricThroughput, g.Lead().Confidence == race.Proven}
	c := g.Throughput(d, rival)
	if c.AsGood && g.ByLatency && rival.HasLatency() && d.HasLatency() {
		r.Metric, c = MetricP99, g.P99(d, rival)
	}
	if r.N = c.N; c.N > 0 {
		r.Change = expm1(c.Mid)
	}
	return r
}

func confidenceOf(c race.Goal) Confidence {
	if c == race.Proven {
		return Proven
	}
	return Likely
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
		two := Undecided{List: g.pair(open[0])}
		if d := g.DefaultValue(); d != nil && g.InTail(d) {
			two.Default = d
		}
		return CauseP99Open{two}
	}
	if d := g.DefaultValue(); d != nil && len(open) > 0 && slices.Contains(g.pair(open[0]), d) {
		return CauseThroughputOpen{Undecided{g.pair(open[0]), d}}
	}
	return CauseNothingProven{}
}

// provenSmallest reports whether every smaller value is proven worse than x.
func (g *group) provenSmallest(x *contest.Value) bool {
	for _, s := range g.Smaller(x) {
		if !g.Beats(x, s) {
			return false
		}
	}
	return true
}

// change is what speaks for value x.
func (g *group) change(x *contest.Value) ClaimSet {
	r := ClaimSet{Pair: Pair{Of: x}, Smallest: g.provenSmallest(x)}
	d := g.DefaultValue()
	if d == nil {
		return r
	}
	r.Than = d
	switch c, l := g.Throughput(d, x), g.P99(d, x); {
	case c.Worse, g.Out(d) && c.Mid < -contest.Loss(g.Rules().Margin):
		r.Metric, r.Change = MetricThroughput, expm1(c.Mid)
	case g.Later(d, x):
		r.Metric, r.Change = MetricP99, expm1(l.Mid)
	case d.Saturated && !x.Saturated:
		r.Metric = MetricSaturated
	case !g.Covers(x, d) || x.Procs > d.Procs:
		r.Metric = MetricOpen // not proven either way
	}
	return r
}

// rival is the value that is worse than the pick in throughput and whose latency is
// proven better by more, as a ratio: then the two want different values.
func (g *group) rival(x *contest.Value) *contest.Value {
	s := g.Of(g.Lead().Trade)
	if s == nil || s == x || s.Saturated || g.Beyond(s) || g.Rules().MaxByLatency > 0 && x.Default {
		return nil
	}
	return s
}

func unsetLabel(v *contest.Value) string {
	if unset := v.ByDefault(); unset != nil {
		return unset.Label
	}
	return v.Setting
}

// settle says what would make a verdict possible, or prove a likely one: how many more
// trials, and how long they take.
func (g *group) settle() []Step {
	if g.Wild() {
		step := Step{Code: StepQuieter, Metric: MetricThroughput, Spread: g.Lead().Spread.Throughput}
		if g.Lead().Spread.Throughput <= race.WildThroughput {
			step.Metric, step.Spread = MetricP99, g.Lead().Spread.P99
		}
		return []Step{step}
	}
	step := Step{Code: StepGoOn, TrialSeconds: secondsOf(allTrials(g))}
	for _, s := range g.Values {
		step.Have += contest.Valid(s.Trials)
	}
	for i, open := range g.Open() {
		if i == 0 {
			step.Metric, step.List = string(open.By), g.pair(open)
		}
		step.More = max(step.More, open.Trials)
	}
	if step.More == 0 {
		step.More = step.Have
	}
	return []Step{step}
}

// secondsOf is the wall time of a trial, from one start to the next: the median.
func secondsOf(trials []*journal.Trial) float64 {
	var gaps []float64
	for i := 1; i < len(trials); i++ {
		if d := trials[i].Started.Sub(trials[i-1].Started).Seconds(); d > 0 && d < 3600 {
			gaps = append(gaps, d)
		}
	}
	if len(gaps) == 0 {
		for _, t := range trials {
			if t.DurationSeconds > 0 && !math.IsInf(t.DurationSeconds, 0) {
				gaps = append(gaps, t.DurationSeconds)
			}
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	return medianFloat(gaps)
}

// pair are the two values of a comparison, by Ps.
func (g *group) pair(c race.Comparison) []*contest.Value {
	return []*contest.Value{g.Of(min(c.A, c.B)), g.Of(max(c.A, c.B))}
}
