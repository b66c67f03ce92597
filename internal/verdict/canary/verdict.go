package canary

import (
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// concluded is the verdict on one setting.
func concluded(a verdict.CanarySetting) verdict.Verdict {
	better, worse := a.In(verdict.OutcomeBetter) != nil, a.In(verdict.OutcomeWorse) != nil
	switch {
	case better && worse:
		return verdict.TradeOff
	case better && a.In(verdict.OutcomeOpen) == nil:
		return verdict.Recommended
	case worse:
		return verdict.KeepDefault
	}
	return verdict.CannotTell
}

// recommend is what all settings come to, of a canary that came to its end: a value is
// named where one alone is better.
func recommend(c *verdict.Canary) *verdict.Recommendation {
	by := map[verdict.Verdict][]verdict.CanarySetting{}
	for _, a := range c.Settings {
		by[a.Verdict] = append(by[a.Verdict], a)
	}
	out := &verdict.Recommendation{Verdict: verdict.CannotTell}
	switch better := by[verdict.Recommended]; {
	case c.End == nil || c.End.Code != journal.EndComplete || c.Unreached:
		return out
	case better != nil:
		out.Verdict = verdict.Recommended
		if len(better) == 1 {
			out.Procs, out.Setting = better[0].Procs, better[0].Label
		}
	case by[verdict.TradeOff] != nil:
		out.Verdict = verdict.TradeOff
	case by[verdict.KeepDefault] != nil && by[verdict.CannotTell] == nil:
		out.Verdict = verdict.KeepDefault
	default:
		return out
	}
	out.Confidence = verdict.Proven
	return out
}

// fewSlices say little: an interval of a median takes six.
const fewSlices = 6

// warnings are what weakens it.
func (a *analysis) warnings(trials []journal.Trial) []verdict.Warning {
	list := []verdict.Warning{}
	add := func(code verdict.WarningCode, is func(verdict.CanarySetting) bool) {
		var settings []verdict.SettingFigure
		for _, s := range a.Settings {
			if is(s) {
				settings = append(settings, verdict.SettingFigure{Label: s.Label})
			}
		}
		if settings != nil {
			list = append(list, verdict.Warning{Code: code, Settings: settings})
		}
	}
	if len(a.Settings) > 0 && !a.PerRequest && a.Settings[0].Of(FigureCPU) != nil {
		list = append(list, verdict.Warning{Code: verdict.WarnPerPod})
	}
	if !a.Unreached {
		add(verdict.WarnIdle, func(s verdict.CanarySetting) bool {
			requests := s.Of(FigureRequests)
			return 2*s.Idle > s.Slices || requests != nil && *requests.Value.Median == 0
		})
	}
	add(verdict.WarnSame, func(s verdict.CanarySetting) bool { return s.Same })
	add(verdict.WarnUnproven, func(s verdict.CanarySetting) bool { return s.Slices > 0 && len(s.Observed) == 0 })
	told := verdict.Warning{Code: verdict.WarnTrials}
	for _, t := range trials {
		if n := len(t.Warnings); n > 0 && told.Trial == nil {
			told.Trial = &t.Warnings[0]
		}
		told.Count += int64(len(t.Warnings))
	}
	if told.Count > 0 {
		list = append(list, told)
	}
	if n := a.Canary.Slices; n > 0 && n < fewSlices {
		list = append(list, verdict.Warning{Code: verdict.WarnFewSlices, Count: int64(n)})
	}
	return list
}
