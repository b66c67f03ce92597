package verdict

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// verdict turns the outcome of the comparisons into a recommendation: what is proven, and what is not.
func (g *group) verdict(w *outcome) Recommendation {
	r := Recommendation{Verdict: CannotTell, Reasons: []Reason{}}
	switch {
	case w.group.Origin == OriginMixed:
		r.because(CauseMixedOrigins, StepStartAgain)
		return r
	case w.starved() && len(w.contenders)+len(w.withheld) < 2 && g.overrides(w.group).Ran > 0:
		// A quieter machine would not give the others their values.
		r.because(CauseOverridden, StepFindDerived)
		return r
	case w.starved():
		r.because(CauseWithheld, w.group.Others.remedy())
		if r.Claim.List = namedAll(w.withheld); w.best != nil {
			r.Reasons = w.reasons(nil)
		}
		return r
	case w.best == nil && w.unplaced != nil:
		r.because(CauseOnlyUnset, StepMoreValues)
		return r
	case w.best == nil:
		r.because(g.nothing(w))
		return r
	}
	switch {
	case len(w.contenders) < 2 && w.unplaced == nil:
		if r.because(CauseOneValue, StepMoreValues); len(w.contest.TooLarge) > 0 {
			r.because(CauseMemory, StepMoreMemory)
		}
		r.Claim.Of = w.best.named()
	case w.unplaced != nil && w.unplaced.procs > 0:
		r.because(CauseUnsetDiffers, StepFindDerived)
		r.Claim.Of = w.unplaced.named()
	case g.loadLimited() && w.equal():
		r.because(CauseLoadLimited, StepLoadElsewhere)
	case w.equal():
		r.Verdict, r.Confidence = NotYourKnob, Proven
		r.Claim = Reason{List: namedAll(w.contenders), Proven: w.latency}
	default:
		g.choose(w, &r)
	}
	r.Reasons = w.reasons(g.costs(w, cmp.Or(w.recommended(&r), w.best)))
	return r
}

// attached is for the one value of a server that ran already: what was seen, and
// nothing to choose. What other programs took is a warning, as nothing is compared.
func (g *group) attached(w *outcome) Recommendation {
	r := g.verdict(w)
	if valid(allTrials([]*group{g})) == 0 {
		return r
	}
	r.Verdict, r.Claim, r.Settle = Measured, Reason{}, nil
	for _, s := range slices.Concat(w.contenders, w.withheld) {
		r.Claim.Of = s.named()
	}
	r.Reasons = slices.DeleteFunc(w.common(), func(x Reason) bool { return x.Code == ReasonShared || x.Code == ReasonWithheld })
	w.group.allLatency(r.Claim.Of)
	return r
}

// allLatency takes the latency of all valid trials, where comparisons are of p99. Which
// of them a late generator spoils is judged by the trial's own p99, so that those
// without them are the slowest: that is right between values, and no metric of one.
func (g *Group) allLatency(of *Value) {
	if g.Latency.Quantile != 0.99 || len(g.Settings) != 1 {
		return
	}
	g.Settings[0].Judged = g.Settings[0].P99
	for i := range g.Rows {
		g.Rows[i].P50, g.Rows[i].P99, g.Rows[i].Judged = g.Settings[0].P50, g.Settings[0].P99, g.Settings[0].P99
	}
	if of != nil {
		of.P99 = g.Settings[0].P99.Median
	}
}

// starved reports whether so much is withheld that nothing can be advised: all but one
// value, or the default, against which a change is advised.
func (w *outcome) starved() bool {
	if len(w.withheld) == 0 {
		return false
	}
	if len(w.contenders) < 2 {
		return true
	}
	for _, s := range w.withheld {
		if s.isDefault {
			return true
		}
	}
	return false
}

// because is why there is no verdict, and what would decide it.
func (r *Recommendation) because(cause ReasonCode, steps ...StepCode) {
	r.Claim = Reason{Code: cause}
	r.Settle = nil
	for _, s := range steps {
		r.Settle = append(r.Settle, Step{Code: s})
	}
}

// nothing is for a group without a metric to compare: what is missing, and what to
// do about that.
func (g *group) nothing(w *outcome) (ReasonCode, StepCode) {
	switch all := allTrials([]*group{g}); {
	case len(all) == 0 && w.pilotsInvalid:
		return CausePilotsInvalid, StepFix
	case len(all) == 0:
		return CauseNotMeasured, StepResume
	case valid(all) == 0:
		return CauseNoneValid, StepFix
	case len(w.contest.TooLarge) > 0:
		return CauseMemory, StepMoreMemory
	}
	return CauseNoThroughput, StepReadOutput
}

// choose settles on what the contest picked, unless the trials leave open what the
// choice rests on.
func (g *group) choose(w *outcome, r *Recommendation) {
	x := w.of(w.Pick)
	if x != nil && w.Confidence != race.Proven && w.wild() {
		r.Claim = Reason{Code: CauseNoise, Of: x.named()}
		r.Settle = w.settle()
		return
	}
	if x != nil && w.rival(x) != nil {
		rival := w.rival(x)
		r.Verdict, r.Confidence = TradeOff, Proven
		r.BestThroughput, r.BestP99 = x.label, rival.label
		r.Claim = Reason{
			Of: x.named(), Than: rival.named(), Change: expm1(w.throughput(rival, x).Mid),
			P99Change: new(expm1(w.p99(rival, x).Mid)),
		}
		return
	}
	if x == nil {
		r.Claim = w.none()
		r.Settle = w.settle()
		return
	}
	if x.saturated {
		r.because(CauseSaturated, StepLessRate)
		r.Claim.Of = x.named()
		return
	}
	w.advise(r, x)
	if r.Confidence != Proven {
		r.Settle = w.settle()
	}
}

// advise is what the pick means for the default.
func (w *outcome) advise(r *Recommendation, x *contender) {
	r.Confidence = confidenceOf(w.Confidence)
	standard := w.defaultContender()
	switch matters := w.worseThan(x); {
	case x.isDefault:
		w.keep(r, x)
	case standard == nil:
		w.set(r, x)
		if !matters {
			r.Claim.Metric, r.Claim.List = MetricOpen, namedAll(w.untold(x))
		}
	// The default is not proven worse, and no smaller value matches it: it may be as good.
	case matters && !w.givesUp(standard, x):
		if r.Confidence = Likely; w.Default != "" {
			w.keep(r, standard)
		} else {
			w.set(r, x)
		}
	case matters:
		w.set(r, x)
	// Where nothing is proven worse, GOMAXPROCS is not shown to matter, and no change is
	// advised. That the default is as good is another claim than that the pick is.
	case w.Default == race.Proven, w.Default == race.Likely && !w.wild():
		r.Confidence = confidenceOf(w.Default)
		w.keep(r, standard)
		if r.Claim.Code = ClaimAsGood; w.Confidence == race.Proven {
			r.Claim.Than = x.named()
		}
	default:
		r.Claim, r.Confidence = w.defaultOpen(x, standard), ""
	}
}

// givesUp reports whether the default is given up for x: it is proven worse, or x is
// smaller and matches it.
func (w *outcome) givesUp(standard, x *contender) bool {
	return w.beats(x, standard) || w.out(standard) || x.procs < standard.procs && w.coversFor(x, standard)
}

// keep names the default.
func (w *outcome) keep(r *Recommendation, x *contender) {
	r.Verdict, r.Setting = KeepDefault, unsetLabel(x)
	r.Claim = Reason{Of: x.named(), Proven: w.provenSmallest(x)}
}

// set names another value.
func (w *outcome) set(r *Recommendation, x *contender) {
	r.Verdict, r.Procs, r.Setting = Recommended, new(x.procs), x.label
	r.Claim = w.change(x)
}

// untold are the values that are not proven to be as good as x, where nothing is proven
// worse.
func (w *outcome) untold(x *contender) []*contender {
	return slices.DeleteFunc(slices.Clone(w.contenders), func(s *contender) bool { return s == x || w.coversFor(s, x) })
}

// defaultOpen is that x is as good as any, and that the default may be worse.
func (w *outcome) defaultOpen(x, d *contender) Reason {
	rival := x
	for _, s := range w.contenders {
		if w.coversFor(d, rival) && s != d && !w.out(s) {
			rival = s
		}
	}
	r := Reason{Code: CauseDefaultOpen, Of: x.named(), Than: d.named(), List: namedAll([]*contender{rival}), Metric: MetricThroughput, Proven: w.Confidence == race.Proven}
	c := w.throughput(d, rival)
	if c.asGood && w.latency && rival.hasP99() && d.hasP99() {
		r.Metric, c = MetricP99, w.p99(d, rival)
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

// wild reports whether trials stray too far for a mere likelihood.
func (w *outcome) wild() bool {
	return w.Spread.Throughput > race.WildThroughput || w.latency && w.Spread.P99 > race.WildLatency
}

// none is why the contest picked nothing.
func (w *outcome) none() Reason {
	if len(w.tail) == 1 && w.best.saturated {
		return Reason{Code: CauseSaturated, Of: w.best.named()}
	}
	if w.wild() {
		return Reason{Code: CauseNoise, Of: w.best.named()}
	}
	open := w.open()
	if len(open) > 0 && open[0].metric == MetricP99 {
		r := Reason{Code: CauseP99Open, List: namedAll(pairOf(open[0]))}
		if d := w.defaultContender(); d != nil && w.inTail(d) {
			r.Than = d.named()
		}
		return r
	}
	if d := w.defaultContender(); d != nil && len(open) > 0 && (open[0].a == d || open[0].b == d) {
		return Reason{Code: CauseThroughputOpen, List: namedAll(pairOf(open[0])), Than: d.named()}
	}
	return Reason{Code: CauseNothingProven}
}

// provenSmallest reports whether every smaller value is proven worse than x.
func (w *outcome) provenSmallest(x *contender) bool {
	for _, s := range w.smaller(x) {
		if !w.beats(x, s) {
			return false
		}
	}
	return true
}

// change is what speaks for value x.
func (w *outcome) change(x *contender) Reason {
	r := Reason{Of: x.named(), Proven: w.provenSmallest(x)}
	d := w.defaultContender()
	if d == nil {
		return r
	}
	r.Than = d.named()
	switch c, l := w.throughput(d, x), w.p99(d, x); {
	case c.worse, w.out(d) && c.Mid < -w.margin:
		r.Metric, r.Change = MetricThroughput, expm1(c.Mid)
	case w.later(d, x):
		r.Metric, r.Change = MetricP99, expm1(l.Mid)
	case d.saturated && !x.saturated:
		r.Metric = MetricSaturated
	case !w.coversFor(x, d) || x.procs > d.procs:
		r.Metric = MetricOpen // not proven either way
	}
	return r
}

// rival is the value that is worse than the pick in throughput and whose latency is
// proven better by more, as a ratio: then the two want different values.
func (w *outcome) rival(x *contender) *contender {
	s := w.of(w.Trade)
	if s == nil || s == x || s.saturated || w.beyond(s) || w.bound > 0 && x.isDefault {
		return nil
	}
	return s
}

func unsetLabel(s *contender) string {
	if a := s.byDefault(); a != nil {
		return a.Label
	}
	return s.label
}
