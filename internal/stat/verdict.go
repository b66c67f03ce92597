package stat

import "fmt"

// verdict turns the walk into a recommendation. Its sentence and reasons say
// what is proven, with numbers, and what is not.
func (g *group) verdict(w *walk, t telling) Recommendation {
	r := Recommendation{Verdict: CannotTell, Reasons: []string{}}
	if w.best == nil && w.loose != nil {
		r.Sentence = "Cannot tell: only the unset arm was measured, at a value that could not be read."
		r.Settle = []string{"measure at least five values: --procs auto"}
		return r
	}
	if w.best == nil {
		r.Sentence, r.Settle = g.nothing(t)
		return r
	}
	r.Reasons = t.reasons(w)
	switch {
	case len(w.settings) < 2 && w.loose == nil:
		r.Sentence = fmt.Sprintf("Cannot tell: only one number of Ps was measured, %d.", w.best.procs)
		r.Settle = []string{"measure at least five values: --procs auto"}
	case w.loose != nil && w.loose.procs > 0:
		r.Sentence = fmt.Sprintf("Cannot tell: unset chose %d and yet performs unlike GOMAXPROCS=%d.", w.loose.procs, w.loose.procs)
		r.Settle = []string{"find what else the program derives from the variable: pools sized from it, a library that sets GOMAXPROCS at start"}
	case t.loadLimited && w.alike():
		r.Sentence = "Cannot tell: every value gives the same, but it was the load engine that was at its limit."
		r.Settle = []string{"drive the load from another machine, or with --load-cpuset on CPUs of its own"}
	case w.alike():
		r.Verdict = NotYourKnob
		r.Sentence = "GOMAXPROCS is not your knob: " + t.alike(w) + "; profile first."
	case len(w.passes) == 0:
		r.Sentence = t.noneOnLatency(w)
		r.Settle = t.settle(w)
	default:
		w.choose(&r, t)
	}
	return r
}

// nothing is for a group without a figure to compare: it says what is missing,
// and what to do about that.
func (g *group) nothing(t telling) (sentence string, settle []string) {
	again := []string{"mend what made them invalid, then begin anew with another --out"}
	switch all := allTrials([]*group{g}); {
	case len(all) == 0 && t.pilotsInvalid:
		return "Cannot tell: no trial has been measured yet, since the pilot trials were invalid.", again
	case len(all) == 0:
		return "Cannot tell: no trial has been measured yet.", []string{"the same command with this directory as --out: it runs what is missing"}
	case valid(all) == 0:
		return "Cannot tell: no trial was valid.", again
	}
	return "Cannot tell: no valid trial has a throughput above zero.", []string{"look at what the target and the load printed, under logs/"}
}

// choose settles on the smallest setting that passes, unless the blocks leave
// open what the choice rests on.
func (w *walk) choose(r *Recommendation, t telling) {
	x := w.passes[0]
	undecided := w.undecided(x)
	rival := w.rival(x)
	switch {
	case rival != nil && w.throughput(rival.throughput, x.throughput).worse:
		r.Verdict = TradeOff
		r.BestThroughput, r.BestP99 = w.best.label, rival.label
		r.Sentence = t.tradeOff(w, x, rival)
		return
	case rival != nil:
		r.Sentence = fmt.Sprintf("Cannot tell: the p99 of %s is better than that of %s, but whether its throughput is as good is open.", t.name(rival), t.name(x))
	case w.floor > w.margin && len(undecided) > 0:
		r.Sentence = fmt.Sprintf("Cannot tell: whether %s is to be preferred to %s is open, and two copies of one setting differ by up to %s here, more than the margin of %s.",
			t.name(x), t.names(undecided), percent(*t.group.NoiseFloor.Throughput), percent(t.plan.Margin))
	case len(undecided) == len(w.settings)-1:
		r.Sentence = "Cannot tell: no two values could be told apart, nor be shown to be alike."
	case x.isDefault:
		r.Verdict, r.Arm = KeepDefault, unsetLabel(x)
		r.Sentence = t.keep(w, x)
		return
	case w.changes(x):
		r.Verdict, r.Procs, r.Arm = Recommended, new(x.procs), x.label
		r.Sentence = t.set(w, x)
		return
	default:
		r.Sentence = fmt.Sprintf("Cannot tell: whether GOMAXPROCS=%d is better than the default is open.", x.procs)
		if d := w.standard(); d == nil {
			r.Sentence = "Cannot tell: no value is proven worse than another."
		} else {
			r.Sentence += fmt.Sprintf(" The default chose %d; leave it until more is known.", d.procs)
		}
	}
	r.Settle = t.settle(w)
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
