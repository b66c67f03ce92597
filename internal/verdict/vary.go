package verdict

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
)

func (r *Result) best(counted *contest.Counted) {
	h := counted.Header
	if len(h.Plan.Vary) == 0 {
		return
	}
	for _, s := range counted.Searches() {
		b := Best{Setting: s.At, Start: h.Plan.Start(), Complete: s.Done && r.Complete, Interact: namedValue(s.Interact), Apart: namedValue(s.Apart)}
		b.Compares, b.Replicas = "", max(1, b.Replicas)
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
	least, groups := Proven, slices.Concat(r.Groups, r.Compared)
	for _, c := range s.Contests {
		at := s.At
		if at.Compares = c.Group.Compares; at.Group() != c.Group {
			continue
		}
		i := slices.IndexFunc(groups, func(g Group) bool { return g.key() == c.Group })
		if i >= 0 && (groups[i].Recommendation.Verdict == Undecided || groups[i].Recommendation.Verdict == TradeOff) {
			return ""
		}
		capped := i >= 0 && groups[i].Recommendation.capped()
		switch sure := c.Sure(); {
		case sure == "":
			return ""
		case sure == race.Likely, capped:
			least = Likely
		}
	}
	return least
}

// namedValue are the names of variables, with that of GOMAXPROCS.
func namedValue(list []string) []string {
	out := []string{}
	for _, name := range list {
		out = append(out, cmp.Or(name, "GOMAXPROCS"))
	}
	return out
}

// variable is a group that compares a variable: its values, the preferred first.
func (g *group) variable() Group {
	axis, lead := g.header.Plan.Axis(g.Group.Compares), g.Lead()
	settings, rows := g.results()
	result := g.summary(settings)
	if result.Rows = rows; g.Best != nil {
		result.Peak = g.Best.Setting
	}
	result.Recommendation = Recommendation{Verdict: Undecided, Reasons: []Remark{}}
	if best := g.Answer(); best != nil {
		result.Recommendation = Recommendation{Verdict: KeepDefault, Confidence: lead.Confidence, Setting: best.Label, Reasons: []Remark{}}
		if start := axis.Rank(axis.Start); lead.Pick != start {
			result.Recommendation.Verdict, result.Recommendation.Versus = Recommended, &Versus{}
			if start > 0 {
				result.Recommendation.Versus = &Versus{Throughput: g.interval(lead.Pick, start, race.Throughput), Latency: g.interval(lead.Pick, start, race.P99)}
			}
			if named := g.Of(lead.Pick); named != nil && g.mayBeFaster(g.Of(start), named) {
				result.Recommendation.withhold(CauseLoadLimited{}, StepLoadElsewhere)
			}
		}
		g.guardCompared(&result.Recommendation)
	}
	result.Workload, result.Throttling.State = Workload{Kind: "unknown"}, ThrottledUnknown
	return result
}
