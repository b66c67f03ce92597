package stat

// verdict turns the walk into a recommendation: what is proven, and what is not.
func (g *group) verdict(w *walk) Recommendation {
	r := Recommendation{Verdict: CannotTell, Reasons: []Reason{}}
	switch {
	case w.group.Origin == OriginMixed:
		r.because(CauseMixedOrigins, StepAnew)
		return r
	case w.starved():
		r.because(CauseWithheld, StepQuietMachine)
		if r.Claim.List = namedAll(w.withheld); w.best != nil {
			r.Reasons = w.reasons()
		}
		return r
	case w.best == nil && w.unplaced != nil:
		r.because(CauseOnlyUnset, StepMoreValues)
		return r
	case w.best == nil:
		r.because(g.nothing(w))
		return r
	}
	r.Reasons = w.reasons()
	switch {
	case len(w.settings) < 2 && w.unplaced == nil:
		r.because(CauseOneSetting, StepMoreValues)
		r.Claim.Of = w.best.named()
	case w.unplaced != nil && w.unplaced.procs > 0:
		r.because(CauseUnsetDiffers, StepFindDerived)
		r.Claim.Of = w.unplaced.named()
	case g.loadLimited() && w.alike():
		r.because(CauseLoadLimited, StepLoadElsewhere)
	case w.alike():
		r.Verdict = NotYourKnob
		r.Claim = Reason{List: namedAll(w.settings), Proven: w.latency}
	case len(w.passes) == 0:
		r.Claim = w.noneOnLatency()
		r.Settle = w.settle()
	default:
		w.choose(&r)
	}
	return r
}

// starved says whether so much is withheld that nothing can be advised: all but one
// setting, or the default, against which a change is advised.
func (w *walk) starved() bool {
	if len(w.withheld) == 0 {
		return false
	}
	if len(w.settings) < 2 {
		return true
	}
	for _, s := range w.withheld {
		if s.isDefault {
			return true
		}
	}
	return false
}

// because is why nothing can be told, and what would settle it.
func (r *Recommendation) because(cause ReasonCode, steps ...StepCode) {
	r.Claim = Reason{Code: cause}
	r.Settle = nil
	for _, s := range steps {
		r.Settle = append(r.Settle, Step{Code: s})
	}
}

// nothing is for a group without a figure to compare: what is missing, and what to
// do about that.
func (g *group) nothing(w *walk) (ReasonCode, StepCode) {
	switch all := allTrials([]*group{g}); {
	case len(all) == 0 && w.pilotsInvalid:
		return CausePilotsInvalid, StepMend
	case len(all) == 0:
		return CauseNotMeasured, StepResume
	case valid(all) == 0:
		return CauseNoneValid, StepMend
	}
	return CauseNoThroughput, StepReadOutput
}

// choose settles on the smallest setting that passes, unless the blocks leave
// open what the choice rests on.
func (w *walk) choose(r *Recommendation) {
	x := w.passes[0]
	undecided := w.undecided(x)
	rival := w.rival(x)
	standard := w.standard()
	switch {
	case rival != nil && w.throughput(rival.throughput, x.throughput).worse:
		r.Verdict = TradeOff
		r.BestThroughput, r.BestP99 = x.label, rival.label
		r.Claim = Reason{
			Of: x.named(), Than: rival.named(), Change: expm1(w.throughput(rival.throughput, x.throughput).mid),
			P99Change: new(expm1(w.p99(rival.p99, x.p99).mid)),
		}
		return
	case rival != nil:
		r.Claim = Reason{Code: CauseThroughputOpen, Of: x.named(), Than: rival.named()}
	case w.floor > w.margin && len(undecided) > 0:
		r.Claim = Reason{Code: CauseNoise, Of: x.named(), List: namedAll(undecided)}
	case len(undecided) == len(w.settings)-1:
		r.Claim = Reason{Code: CauseNothingTold}
	case x.isDefault:
		r.Verdict, r.Arm = KeepDefault, unsetLabel(x)
		r.Claim = Reason{Of: x.asDefault().named(), Proven: w.provenSmallest(x)}
		return
	case w.changes(x):
		r.Verdict, r.Procs, r.Arm = Recommended, new(x.procs), x.label
		r.Claim = w.change(x)
		return
	case standard == nil:
		r.Claim = Reason{Code: CauseNoneWorse}
	default:
		r.Claim = Reason{Code: CauseDefaultOpen, Of: x.named(), Than: standard.named()}
	}
	r.Settle = w.settle()
}

// provenSmallest says whether every smaller setting is proven worse than x.
func (w *walk) provenSmallest(x *setting) bool {
	for _, s := range w.undecided(x) {
		if s.procs < x.procs {
			return false
		}
	}
	return true
}

// change is what speaks for setting x.
func (w *walk) change(x *setting) Reason {
	r := Reason{Of: x.named(), Proven: w.provenSmallest(x)}
	d := w.standard()
	if d == nil {
		return r
	}
	r.Than = d.named()
	if c := w.throughput(d.throughput, x.throughput); c.worse {
		r.Metric, r.Change = MetricThroughput, expm1(c.mid)
	} else if c := w.p99(d.p99, x.p99); w.latency && c.worse {
		r.Metric, r.Change = MetricP99, expm1(c.mid)
	}
	return r
}

// rival is the setting outside T whose p99 is proven better than x's, and by
// more, as a ratio, than its throughput is less: then throughput and latency
// want different values. Within T there is no such conflict, since there the
// lowest p99 comes at no loss of throughput beyond the margin.
func (w *walk) rival(x *setting) *setting {
	var best *setting
	for _, s := range w.settings {
		if !w.latency || s.saturated || w.inTail(s) {
			continue
		}
		outweighs := locate(x.perTail().minus(s.perTail())).upper < 0
		if outweighs && w.p99(x.p99, s.p99).worse && (best == nil || s.tail < best.tail) {
			best = s
		}
	}
	return best
}

// changes says whether x is proven to be worth setting. Some setting must be
// proven worse, or GOMAXPROCS has not been shown to matter; and against the
// default x must be better, or as good with fewer Ps.
func (w *walk) changes(x *setting) bool {
	matters := false
	for _, s := range w.settings {
		matters = matters || s != x && w.beats(x, s)
	}
	d := w.standard()
	return matters && (d == nil || w.decided(x, d))
}

// standard is the setting that unset came to; nil when that was not measured or
// has no place among the settings.
func (w *walk) standard() *setting {
	for _, s := range w.settings {
		if s.isDefault {
			return s
		}
	}
	return nil
}

func unsetLabel(s *setting) string {
	if a := s.byDefault(); a != nil {
		return a.Label
	}
	return s.label
}
