package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// throttledFew is a share of periods: below it throttling is not what one feels.
const throttledFew = 0.01

func (g *group) throttling(settings []Row, rec *Recommendation, peak string) Throttling {
	found := Throttling{State: ThrottledUnknown, OuterKnown: g.outerKnown()}
	judged := judgedSettings(settings, rec, peak)
	for i, a := range g.Settings {
		held, known := g.heldBack(a, &settings[i])
		if !known || a.Variant != "" {
			continue
		}
		held.Judged = slices.Contains(judged, a.Label)
		found.Settings = append(found.Settings, held)
		if held.Judged && (found.Share == nil || held.Share > *found.Share) {
			found.Share, found.LimitCPUs, found.Own, found.Group = new(held.Share), new(held.LimitCPUs), held.Own, held.Group
		}
	}
	switch {
	case found.Share == nil && !g.Group.Limited && found.OuterKnown && len(g.measured()) > 0:
		found.State = ThrottledNo
	case found.Share == nil || *found.Share == 0 && !found.OuterKnown:
	case *found.Share == 0:
		found.State = ThrottledNo
	case *found.Share < throttledFew:
		found.State = ThrottledHardly
	default:
		found.State = ThrottledYes
	}
	g.adviseThrottling(&found, rec)
	return found
}

func judgedSettings(settings []Row, rec *Recommendation, peak string) []string {
	var list []string
	for i := range settings {
		if a := &settings[i]; a.Variant == "" && (a.Procs == nil || a.Label == rec.Setting) {
			list = append(list, a.Label)
		}
	}
	if list == nil {
		list = append(list, peak)
	}
	return list
}

// outerKnown reports whether limits around the target are counted, or that there are known to be none.
func (g *group) outerKnown() bool {
	counted := slices.ContainsFunc(g.measuredIn(g.Settings), func(t *journal.Trial) bool { return len(t.OuterLimits) > 0 })
	h := g.header.TargetHost
	return counted || !h.LimitsUnknown && h.EffectiveCPUs >= float64(h.AffinityCPUs)
}

// heldBack is the limit that throttled a setting most, by the median over its trials.
func (g *group) heldBack(a journal.Setting, result *Row) (ThrottledSetting, bool) {
	worst := ThrottledSetting{Label: a.Label, Share: -1, ps: stat.OrZero(cmp.Or(result.ResolvedProcs, a.Procs))}
	see := func(share *float64, limit float64, own bool, group string) {
		if share != nil && *share > worst.Share {
			worst.Share, worst.LimitCPUs, worst.Own, worst.Group = *share, limit, own, group
		}
	}
	if g.Group.Limited {
		see(result.Evidence.ThrottledPeriodsRatio, g.Group.QuotaCPUs, true, "")
	}
	var outer []journal.OuterLimit // one of each group
	for _, t := range g.Measured(a) {
		for _, l := range t.OuterLimits {
			if t.Valid && !slices.ContainsFunc(outer, func(o journal.OuterLimit) bool { return o.Group == l.Group }) {
				outer = append(outer, l)
			}
		}
	}
	for _, l := range outer {
		see(contest.Median(g.Measured(a), func(t *journal.Trial) *float64 {
			for _, x := range t.OuterLimits {
				if x.Group == l.Group {
					return throttledShare(&x.Cgroup)
				}
			}
			return nil
		}), l.CPUs, false, l.Group)
	}
	worst.Beyond = float64(worst.ps) > math.Ceil(worst.LimitCPUs)
	return worst, worst.Share >= 0
}

func throttledShare(c *journal.Cgroup) *float64 {
	if c == nil || c.Periods <= 0 {
		return nil
	}
	return new(float64(c.ThrottledPeriods) / float64(c.Periods))
}

// adviseThrottling is one advice for the group, from its most throttled setting: of those that are
// judged, or else of all.
func (g *group) adviseThrottling(found *Throttling, rec *Recommendation) {
	var worst *ThrottledSetting
	for i := range found.Settings {
		a := &found.Settings[i]
		worse := worst == nil || a.Judged && !worst.Judged || a.Judged == worst.Judged && a.Share > worst.Share
		if a.Share >= throttledFew && worse {
			worst = a
		}
	}
	if worst == nil {
		return
	}
	found.AdviceOwn = worst.Own
	of := rec.Of()
	decided := rec.Verdict.Decides()
	lower := int(math.Ceil(worst.LimitCPUs))
	switch better := g.lowerAsGood(worst, found.Settings); {
	case decided && !worst.Judged:
		found.Advice, found.Procs = AdviceAvoid, new(of.Procs)
	case decided && of.Procs > 0 && of.Procs < worst.ps:
		// That a value carries the rate, or is likely, does not prove that it is as good.
		found.Advice, found.Procs = AdviceLower, new(of.Procs)
		if rec.Verdict != SustainsRate && rec.Confidence == Proven || better != nil && better.Procs == of.Procs {
			found.Advice = AdviceMeasured
		}
	case decided && rec.Confidence == Proven && of.Procs >= worst.ps:
		// What was measured beats the numbers of Ps and CPUs.
		if found.Advice = AdviceRaise; of.Procs == worst.ps && g.lowerAreWorse(worst.ps) {
			found.Advice = AdviceProven
		}
	case rec.Verdict != TradeOff && better != nil:
		found.Advice, found.Procs = AdviceMeasured, new(better.Procs)
	case decided && of.Procs == worst.ps && g.lowerAreWorse(worst.ps):
		found.Advice = AdviceProven
	case worst.Beyond && relieves(lower, worst, found.Settings):
		found.Advice, found.Procs = AdviceLower, &lower
	default:
		found.Advice = AdviceRaise
	}
}

// relieves reports whether n Ps may be throttled less than a setting: by a quarter at least, where they
// were measured.
func relieves(n int, worst *ThrottledSetting, all []ThrottledSetting) bool {
	return !slices.ContainsFunc(all, func(a ThrottledSetting) bool { return a.ps == n && a.Own == worst.Own && a.Share > 0.75*worst.Share })
}

// lowerAsGood is the smallest value of fewer Ps that is proven better than a throttled one, or as good
// on all that is judged and throttled less.
func (g *group) lowerAsGood(worst *ThrottledSetting, all []ThrottledSetting) *contest.Value {
	at := g.Of(worst.ps)
	if at == nil || g.Best == nil {
		return nil
	}
	for _, v := range g.Values {
		if v.Procs > 0 && v.Procs < worst.ps && g.Decided(v, at) && !g.Throughput(v, at).Worse && (g.Beats(v, at) || relieves(v.Procs, worst, all)) {
			return v
		}
	}
	return nil
}

func (g *group) lowerAreWorse(ps int) bool {
	at, some := g.Of(ps), false
	for _, v := range g.Values {
		if v.Procs > 0 && v.Procs < ps {
			if some = true; at == nil || !g.Beats(at, v) {
				return false
			}
		}
	}
	return some
}
