package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// guard refuses a verdict of what nobody saw. A value is named only if valid trials of it
// and of the default were seen to run at it. If the user said that they cannot be seen, if the
// load came through the API server, or if nothing was counted that would show that other programs
// disturbed the trials, the verdict is likely at most.
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
	return slices.ContainsFunc(rec.Next, func(s Step) bool { return s.Code == StepSee || s.Code == StepCount })
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

// uncountedValues reports whether most of the valid trials tell nothing of what other programs did.
func uncountedValues(trials []*journal.Trial) bool {
	return contest.Most(trials, func(t *journal.Trial) bool { return contest.MostOthers(t) == nil })
}

// guardCompared is guard for the values of a variable, which procfit sets and need not see. What
// is proven of them is likely if nothing was counted of other programs.
func (g *group) guardCompared(rec *Recommendation) {
	if rec.Confidence == Proven && slices.ContainsFunc(g.Settings, func(a journal.Setting) bool { return uncountedValues(g.Trials(a)) }) {
		rec.Confidence, rec.Next = Likely, []Step{{Code: StepCount}}
	}
}
