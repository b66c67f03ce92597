package verdict

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Best is the setting that GOMAXPROCS and the variables of --vary come to, under one CPU
// limit, with one number of replicas and one Go version.
type Best struct {
	QuotaCPUs *float64
	Replicas  int
	GoVersion string
	SetLive   bool
	Procs     *int // null: GOMAXPROCS is unset
	Variables []journal.Variable
	// Start is where the variables started.
	Start []journal.Variable
	// Confidence is that of the least sure comparison; empty: one named nothing, or the
	// search did not come to its end.
	Confidence Confidence
	Complete   bool
	// Interact are the variables whose best value changed with the others' values, and Apart
	// those whose best value was the same when others had changed.
	Interact []string
	Apart    []string
}

// best is what the searches of a sweep with --vary came to.
func (r *Result) best(counted *contest.Counted) {
	h := counted.Header
	if len(h.Plan.Vary) == 0 {
		return
	}
	for _, s := range counted.Searches() {
		at := s.At
		b := Best{
			QuotaCPUs: at.QuotaCPUs, Replicas: max(1, at.Replicas), GoVersion: at.GoVersion, SetLive: at.SetLive,
			Procs: at.Procs, Variables: at.Variables, Start: h.Plan.Start(), Complete: s.Done && r.Complete, Interact: named(s.Interact), Apart: named(s.Apart),
		}
		if b.Complete {
			b.Confidence = r.sureness(s)
		}
		r.Best = append(r.Best, b)
	}
}

// sureness is that of the least sure of the contests that a search ended with: those that
// compared a variable at the best values of all others. What the verdict of a group leaves open
// is not sure.
func (r *Result) sureness(s contest.Search) Confidence {
	least := Proven
	for _, c := range s.Contests {
		at := s.At
		if at.Compares = c.Group.Compares; at.Group() != c.Group {
			continue
		}
		i := slices.IndexFunc(r.Groups, func(g Group) bool { return g.key() == c.Group })
		if i >= 0 && (r.Groups[i].Recommendation.Verdict == CannotTell || r.Groups[i].Recommendation.Verdict == TradeOff) {
			return ""
		}
		capped := slices.ContainsFunc(slices.Concat(r.Groups, r.Compared), func(g Group) bool { return g.key() == c.Group && g.Recommendation.capped() })
		switch sure := c.Sure(); {
		case sure == "":
			return ""
		case sure == race.Likely, capped:
			least = Likely
		}
	}
	return least
}

// named are the names of variables, with that of GOMAXPROCS.
func named(list []string) []string {
	out := []string{}
	for _, name := range list {
		out = append(out, cmp.Or(name, "GOMAXPROCS"))
	}
	return out
}

// compare analyses the groups that compare a variable, and returns the others. One that has a
// single value of GOMAXPROCS compares nothing.
func (r *Result) compare(counted *contest.Counted, groups []*group) (others []*group) {
	h := counted.Header
	if len(h.Plan.Vary) == 0 {
		return groups
	}
	for _, g := range groups {
		g.contest = counted.Contest(g.key)
		switch {
		case g.key.Compares != "":
			r.Compared = append(r.Compared, g.compared(h))
		case len(h.Plan.Of(g.key)) > 1:
			others = append(others, g)
		}
	}
	return others
}

// compared is a group that compares a variable: its values, the preferred first.
func (g *group) compared(h journal.Header) Group {
	axis, lead := h.Plan.Axis(g.key.Compares), g.contest.Lead()
	sorting.Stable(g.settings, func(a, b *setting) int { return cmp.Compare(axis.Rank(a.key.Value), axis.Rank(b.key.Value)) })
	r := g.summary(h)
	if i := lead.Peak - 1; 0 <= i && i < len(axis.Values) {
		r.Peak = axis.Name + "=" + axis.Values[i]
	}
	for i, a := range g.settings {
		r.Rows = append(r.Rows, g.ranked(a, r.Settings[i], axis.Rank(a.key.Value), lead))
	}
	r.Recommendation = Recommendation{Verdict: CannotTell, Reasons: []Reason{}}
	start := axis.Rank(axis.Start)
	if best := g.contest.Answer(); best != nil {
		r.Recommendation = Recommendation{Verdict: KeepDefault, Confidence: confidenceOf(lead.Confidence), Setting: best.Label, Reasons: []Reason{}}
		if lead.Pick != start {
			r.Recommendation.Verdict = Recommended
			r.Recommendation.Versus = &Versus{Throughput: g.ratio(lead, start, race.Throughput), Latency: g.ratio(lead, start, race.P99)}
		}
		g.guardCompared(&r.Recommendation)
	}
	r.Race, r.Override = g.took(h), g.overrides(&r)
	r.Default = judgeDefault(&r, r.Override, h.Target, h.TargetHost)
	r.Workload, r.Throttling.State = Workload{Kind: "unknown"}, ThrottledUnknown
	return r
}

// ranked is a value as a row: its numbers are the levels that are compared.
func (g *group) ranked(of *setting, a SettingResult, rank int, lead race.Lead) SettingResult {
	level := g.contest.Level(rank)
	s := &contender{level: level, p99Trials: g.contest.P99Trials(rank)}
	a.Judged, a.Saturated = Interval{}, level.Saturated
	if l := s.levelOf(MetricThroughput); l.Mean != nil {
		a.Throughput = l.interval()
		a.NonInferior.Throughput = new(level.AsFast)
	}
	if l := s.levelOf(MetricP99); l.Mean != nil {
		a.Judged = l.interval()
		a.NonInferior.P99 = new(level.AsPrompt)
		a.Later = level.Later
	}
	if lead.Peak > 0 && rank != lead.Peak && level.Trials > 0 {
		a.VersusPeak = g.interval(lead, rank, lead.Peak, race.Throughput)
	}
	switch {
	case g.contest.TooLarge[of.key]:
		a.Excluded = new(ExcludedMemory)
	case g.contest.Withheld[of.key]:
		a.Excluded = new(ExcludedWithheld)
	case a.Trials == 0:
		a.Excluded = new(ExcludedInvalid)
	case level.Trials == 0:
		a.Excluded = new(ExcludedNoFigure)
	case level.Out:
		a.Excluded = new(ExcludedSlower)
	}
	return a
}

// ratio is what the contest's answer changes against another value.
func (g *group) ratio(lead race.Lead, than int, by race.Figure) Interval {
	if than == 0 {
		return Interval{}
	}
	return g.interval(lead, lead.Pick, than, by)
}

// interval is a ratio of two values of the group's variable.
func (g *group) interval(lead race.Lead, a, b int, by race.Figure) Interval {
	e := g.contest.Between(a, b, by)
	if e.N == 0 {
		return Interval{}
	}
	i := Interval{Median: ratio(e.Mid), N: e.N}
	if e.N >= contest.FewestProve {
		_, low, high := lead.Model.Interval(a, b, by)
		i.Low, i.High = known(low), known(high)
	}
	return i
}
