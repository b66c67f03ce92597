package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// guard withholds a verdict of what nobody saw. A value is named only if valid trials of it
// and of the default were seen to run at it. If the user said that they cannot be seen, or
// if nothing was counted that would show that other programs disturbed the trials, the
// verdict is likely at most.
func (g *group) guard(h journal.Header, w *outcome, r *Recommendation) {
	if r.Verdict == CannotTell || r.Verdict == Measured {
		return
	}
	unset, planned := g.unset(h)
	if planned && (unset == nil || valid(unset.measure) == 0) {
		r.withhold(CauseNoDefault, StepFix)
		return
	}
	cause, step := CauseUnseen, StepSee
	unseen := w.unseen(r, unset)
	if len(unseen) == 0 {
		cause, step = CauseUncounted, StepCount
		unseen = w.uncounted()
	}
	switch {
	case len(unseen) == 0:
	case (cause == CauseUncounted || h.Target.AnyProgram) && mayBeLikely(r.Verdict):
		if r.Confidence == Proven {
			r.Confidence, r.Settle = Likely, []Step{{Code: step}}
		}
	default:
		r.withhold(cause, step)
		r.Claim.List = unseen
	}
}

// capped reports whether guard made likely what was proven.
func (r *Recommendation) capped() bool {
	return slices.ContainsFunc(r.Settle, func(s Step) bool { return s.Code == StepSee || s.Code == StepCount })
}

// mayBeLikely reports whether a verdict has words for what is not proven.
func mayBeLikely(v Verdict) bool { return v == Recommended || v == KeepDefault || v == CarriesRate }

// withhold is a verdict that there is none, with the reasons of the one that there was.
func (r *Recommendation) withhold(cause ReasonCode, step StepCode) {
	*r = Recommendation{Verdict: CannotTell, Reasons: r.Reasons}
	r.because(cause, step)
}

// unset is the default's setting, nil without trials of it; false: the plan has none.
func (g *group) unset(h journal.Header) (a *setting, planned bool) {
	for _, a := range g.current() {
		if a.Procs == nil {
			return a, true
		}
	}
	return nil, slices.ContainsFunc(h.Plan.Of(g.key), func(a journal.Setting) bool { return a.Procs == nil && a.Variant == "" })
}

// unseen are the values that a verdict is about, and the default, if no valid trial was
// seen to run at them.
func (w *outcome) unseen(r *Recommendation, unset *setting) (list []Value) {
	rests := namedAll(w.contenders) // that nothing differs is about all of them
	if r.Verdict != NotYourKnob {
		rests = nil
		for _, v := range []*Value{r.Claim.Of, r.Claim.Than} {
			if v != nil {
				rests = append(rests, *v)
			}
		}
	}
	for _, s := range append(slices.Clone(w.contenders), w.unplaced) {
		if s == nil {
			continue
		}
		about := unset != nil && slices.Contains(s.settings, unset) || slices.ContainsFunc(rests, func(v Value) bool { return v.Setting == s.label })
		seen := s.settings
		if unset != nil && slices.Contains(seen, unset) { // what its number ran at says nothing of the default
			seen = []*setting{unset}
		}
		if p, _ := contest.Resolved(trialsOf(seen)); about && p == 0 {
			list = append(list, *s.named())
		}
	}
	return list
}

// uncounted are the compared values for which nothing was counted of other programs.
func (w *outcome) uncounted() (list []Value) {
	for _, s := range w.contenders {
		if uncounted(trialsOf(s.settings)) {
			list = append(list, *s.named())
		}
	}
	return list
}

// uncounted reports whether most of the valid trials tell nothing of what other programs did.
func uncounted(trials []*journal.Trial) bool {
	unknown, of := 0, 0
	for _, t := range trials {
		if t.Valid {
			of++
			if contest.MostOthers(t) == nil {
				unknown++
			}
		}
	}
	return 2*unknown > of
}

// guardCompared is guard for the values of a variable, which procfit sets and need not see. What
// is proven of them is likely if nothing was counted of other programs.
func (g *group) guardCompared(r *Recommendation) {
	if r.Confidence == Proven && slices.ContainsFunc(g.settings, func(a *setting) bool { return uncounted(trialsOf([]*setting{a})) }) {
		r.Confidence, r.Settle = Likely, []Step{{Code: StepCount}}
	}
}
