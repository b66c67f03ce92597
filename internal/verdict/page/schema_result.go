package page

import (
	"encoding/json"
	"fmt"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// JSON is result.json: indented, with a newline at its end. What the Result has as
// codes is there with its words.
func JSON(r *verdict.Result) ([]byte, error) {
	b, err := json.MarshalIndent(resultSchema(r), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the result as JSON: %w", err)
	}
	return append(b, '\n'), nil
}

// resultSchema is a Result as its schema has it. A type of the schema that has the fields of one
// of package verdict is converted from it, so that a new field does not compile until the
// schema has it or leaves it out.
func resultSchema(r *verdict.Result) resultJSON {
	out := resultJSON{
		Schema: r.Schema, Name: r.Name, Started: r.Started, Spec: r.Spec, Origin: r.Origin, Host: r.Host, LoadHost: r.LoadHost, Tool: r.Tool, Target: r.Target, Load: r.Load,
		SharedCPUs: r.SharedCPUs, Plan: r.Plan, Complete: r.Complete,
		TrialsPlanned: r.TrialsPlanned, TrialsRun: r.TrialsRun, TrialsInvalid: r.TrialsInvalid, PilotsRun: r.PilotsRun, PilotsInvalid: r.PilotsInvalid,
		Compared: listOf(r.Compared, func(g *verdict.Group) groupJSON { return groupSchema(g, recommendationSchema(&g.Recommendation)) }),
		Canary:   optional(r.Canary, canarySchema), Live: optional(r.Live, liveSchema), Cheapest: optional(r.Cheapest, cheapestSchema), Profile: optional(r.Profiled, profileSchema),
		Groups: []groupJSON{}, Best: listOf(r.Best, func(b *verdict.Best) bestJSON { return bestSchema(r, b) }),
		Gate: optional(r.Gate, func(g *verdict.Gate) gateJSON { return gateSchema(g, r) }), Warnings: []warningJSON{},
	}
	for i := range r.Groups {
		out.Groups = append(out.Groups, groupSchema(&r.Groups[i], worded(groupOf(r, &r.Groups[i], ""))))
	}
	if r.Recommendation != nil && len(out.Groups) == 1 {
		out.Recommendation = &out.Groups[0].Recommendation
	}
	if r.Recommendation != nil && (r.Canary != nil || r.Live != nil) {
		v, rec := VerdictOf(r), recommendationSchema(r.Recommendation)
		rec.wordedJSON = &wordedJSON{Sentence: v.Answer.Sentence(), Reasons: v.Reasons, Next: phrase.Each(v.Next, document.Item.String)}
		out.Recommendation = &rec
	}
	for i := range r.Warnings {
		w := &r.Warnings[i]
		a := warn(r, w)
		x := warningJSON{Code: w.Code(), Group: w.Group, Message: a.text, Fix: a.fix}
		if of, ok := w.Remark.(interface{ OfSetting() string }); ok {
			x.Setting = of.OfSetting()
		}
		out.Warnings = append(out.Warnings, x)
	}
	return out
}

// listOf is a list of another type; nil of nil, which is null in JSON.
func listOf[A, B any](list []A, of func(*A) B) []B {
	if list == nil {
		return nil
	}
	out := make([]B, len(list))
	for i := range list {
		out[i] = of(&list[i])
	}
	return out
}

// optional is a value of another type; nil of nil.
func optional[A, B any](a *A, of func(*A) B) *B {
	if a == nil {
		return nil
	}
	return new(of(a))
}

func groupSchema(g *verdict.Group, rec recommendationJSON) groupJSON {
	return groupJSON{
		QuotaCPUs: g.QuotaCPUs, Replicas: g.Replicas, GoVersion: g.GoVersion, Variables: g.Variables, Compares: g.Compares, Procs: g.Procs,
		Origin: g.Origin, EffectiveCPUs: g.EffectiveCPUs, LimitAround: (*limitJSON)(g.LimitAround), ThroughputUnit: g.ThroughputUnit, LatencyMode: g.LatencyMode, RatePerSecond: g.RatePerSecond,
		Latency: latencyJSON{
			Quantile: g.Latency.Quantile, Reason: g.Latency.Reason, Requests: g.Latency.Requests, Periods: g.Latency.Periods,
			Passed: g.Latency.Passed, Strays: g.Latency.Strays, Short: g.Latency.Short, Late: g.Latency.Late,
		},
		Settings: listOf(g.Settings, settingSchema), Values: listOf(g.Values, func(v **contest.Value) valueJSON { return valueSchema(*v) }),
		NoiseFloor: noiseFloorJSON(g.NoiseFloor), Peak: g.Peak, Flatness: flatnessJSON(g.Flatness), Workload: workloadJSON(g.Workload), Default: defaultJSON(g.Default),
		ProcsLogged: g.ProcsLogged, Throttling: throttlingSchema(&g.Throttling), Others: othersJSON(g.Others),
		Recommendation: rec, Sliced: optional(g.Sliced, slicedSchema),
	}
}

func slicedSchema(s *contest.Sliced) slicedJSON {
	values := listOf(s.Values, func(v *contest.SliceValue) sliceJSON {
		return sliceJSON{v.Procs, v.Slices, v.Kept, v.Slower, intervalJSON(v.Throughput)}
	})
	return slicedJSON{Kept: s.Kept, Why: s.Why, Invalid: s.Invalid, Detail: s.Detail, Values: append([]sliceJSON{}, values...), Seconds: s.Took, Apart: (*slicedApartJSON)(s.Apart), SizedAtStart: s.SizedAtStart}
}

func worded(g *group) recommendationJSON {
	rec := &g.Recommendation
	out := recommendationSchema(rec)
	out.wordedJSON = &wordedJSON{Sentence: g.answer().Sentence(), Reasons: g.reasons(), Next: phrase.Each(g.next(), document.Item.String)}
	if rec.Claim != nil {
		out.Cause = rec.Claim.Code()
	}
	return out
}

func recommendationSchema(r *verdict.Recommendation) recommendationJSON {
	return recommendationJSON{
		Verdict: r.Verdict, Confidence: r.Confidence, Procs: r.Procs, Setting: r.Setting, BestThroughput: r.BestThroughput, BestP99: r.BestP99,
		Versus: optional(r.Versus, func(v *verdict.Versus) versusJSON {
			return versusJSON{Procs: v.Procs, DefaultProcs: v.DefaultProcs, Throughput: intervalJSON(v.Throughput), Latency: intervalJSON(v.Latency)}
		}),
	}
}

func settingSchema(a *verdict.Row) settingJSON {
	out := settingJSON{
		Label: a.Label, Procs: a.Procs, Variable: a.Variable, ResolvedProcs: a.ResolvedProcs, ResolvedSource: a.ResolvedSource, Variant: a.Variant, Trials: a.Trials, Invalid: a.Invalid,
		InvalidReasons: listOf(a.InvalidReasons, func(r *verdict.ReasonCount) reasonJSON { return reasonJSON(*r) }),
		Throughput:     intervalJSON(a.Throughput), P50: intervalJSON(a.P50), P99: intervalJSON(a.P99),
		ByRequest: listOf(a.ByRequest, func(r *verdict.RequestLatency) requestJSON {
			return requestJSON{Name: r.Name, Requests: r.Requests, Errors: r.Errors, P50: intervalJSON(r.P50), P99: intervalJSON(r.P99)}
		}),
		Speedup: a.Speedup, NonInferior: nonInferiorJSON(a.NonInferior), VersusPeak: intervalJSON(a.VersusPeak), Saturated: a.Saturated, Missed: a.Missed, Unmet: a.Unmet,
		Requests: a.Requests, Unanswered: a.Unanswered, Redirects: a.Redirects, TooFewCPUs: a.TooFewCPUs, Excluded: a.Excluded, PooledWith: a.PooledWith,
		Evidence: evidenceSchema(&a.Evidence), OpenEvidence: optional(a.OpenEvidence, evidenceSchema),
	}
	for name, m := range a.Metrics {
		if out.Metrics == nil {
			out.Metrics = map[string]metricJSON{}
		}
		out.Metrics[name] = metricJSON{intervalJSON: intervalJSON(m.Interval), Unit: m.Unit, Better: m.Better}
	}
	return out
}

func evidenceSchema(e *verdict.Evidence) evidenceJSON {
	return evidenceJSON{
		CPUs: e.CPUs, UserCPUs: e.UserCPUs, SystemCPUs: e.SystemCPUs, CPUUtilisation: e.CPUUtilisation, VoluntaryPerSecond: e.VoluntaryPerSecond, InvoluntaryPerSecond: e.InvoluntaryPerSecond,
		RunQueueWaitRatio: e.RunQueueWaitRatio, ThreadsMax: e.ThreadsMax, ThrottledPeriodsRatio: e.ThrottledPeriodsRatio,
		StealRatio: e.StealRatio, OtherCPUs: e.OtherCPUs, BesideCPUs: e.BesideCPUs, CPUSecondsEach: e.CPUSecondsEach, LoadCPUs: e.LoadCPUs,
		PeakRSSBytes: e.PeakRSSBytes, GCCyclesPerSecond: e.GCCyclesPerSecond, GCBusyRatio: e.GCBusyRatio,
	}
}

func valueSchema(v *contest.Value) valueJSON {
	out := valueJSON{
		Settings: []string{}, Trials: contest.Valid(v.Trials), Throughput: levelJSON(v.Throughput), Latency: levelJSON(v.P99),
		VersusPeak: boundsJSON(v.VersusPeak), Unmet: v.Unmet, Excluded: v.Excluded,
	}
	if v.Procs > 0 {
		out.Procs = new(v.Procs)
	}
	for _, a := range v.Settings {
		out.Settings = append(out.Settings, a.Label)
	}
	return out
}

func throttlingSchema(t *verdict.Throttling) throttlingJSON {
	return throttlingJSON{
		State: t.State, Share: t.Share, LimitCPUs: t.LimitCPUs, Own: t.Own, Group: t.Group, OuterKnown: t.OuterKnown,
		Settings: listOf(t.Settings, func(a *verdict.ThrottledSetting) throttledJSON {
			return throttledJSON{Label: a.Label, Judged: a.Judged, Share: a.Share, LimitCPUs: a.LimitCPUs, Own: a.Own, Group: a.Group, Beyond: a.Beyond}
		}),
		Advice: t.Advice, Procs: t.Procs,
	}
}

func bestSchema(r *verdict.Result, b *verdict.Best) bestJSON {
	return bestJSON{
		QuotaCPUs: b.QuotaCPUs, Replicas: b.Replicas, GoVersion: b.GoVersion, Procs: b.Procs, Variables: b.Variables, Start: b.Start,
		Confidence: b.Confidence, Complete: b.Complete, Interact: b.Interact, Apart: b.Apart, Sentence: bestSentence(r, b),
	}
}

func gateSchema(g *verdict.Gate, r *verdict.Result) gateJSON {
	out := gateJSON{Kind: g.Kind, Pass: g.Pass, Checks: []checkJSON{}, Unjudged: Unjudged(g)}
	for i := range g.Checks {
		c := &g.Checks[i]
		out.Checks = append(out.Checks, checkJSON{
			Setting: gateSetting(c.Setting), Metric: c.Metric, Ratio: intervalJSON(c.Ratio), Margin: c.Margin, Judged: c.Judged, Worse: c.Worse, Proven: c.Proven,
			Outcome: c.Outcome, Bounds: boundsJSON(c.Bounds), Quantile: c.Quantile, Rate: c.RatePerSecond, Behind: c.Behind, Note: gateNote(c, r.Plan),
		})
	}
	return out
}

func canarySchema(c *verdict.Canary) canaryJSON {
	return canaryJSON{
		Canary: c.Canary, End: c.End, Slices: c.Slices, Planned: c.Planned, PerRequest: c.PerRequest, Unreached: c.Unreached, Comparisons: c.Comparisons,
		Settings: listOf(c.Settings, canarySettingSchema),
	}
}

func canarySettingSchema(a *verdict.CanarySetting) canarySettingJSON {
	return canarySettingJSON{
		Setting: a.Setting, Slices: a.Slices, Idle: a.Idle, Observed: a.Observed, Same: a.Same, Verdict: a.Verdict,
		Figures: listOf(a.Figures, func(f *verdict.CanaryFigure) canaryFigureJSON {
			return canaryFigureJSON{Name: f.Name, Value: intervalJSON(f.Value), Control: intervalJSON(f.Control), Ratio: intervalJSON(f.Ratio), Outcome: f.Outcome}
		}),
	}
}

func liveSchema(l *verdict.Live) liveJSON {
	return liveJSON{
		Live: l.Live, End: l.End, Blocks: l.Blocks, Seconds: l.Seconds, Least: l.Least, Most: l.Most, Carried: l.Carried,
		Settings: listOf(l.Settings, func(a *verdict.LiveSetting) liveSettingJSON {
			return liveSettingJSON{
				canarySettingJSON: canarySettingSchema(&a.CanarySetting),
				Came:              a.Came, Unequal: a.Unequal, Failing: a.Failing, Left: a.Left, LeftAfter: a.LeftAfter, InSystem: a.InSystem, Beyond: a.Beyond,
			}
		}),
	}
}

func cheapestSchema(c *verdict.Cheapest) cheapestJSON {
	return cheapestJSON{
		Objective: c.Objective, RatePerSecond: c.RatePerSecond, Settings: listOf(c.Settings, pricedSchema),
		Answer: optional(c.Answer, pricedSchema), Today: optional(c.Today, pricedSchema), Open: c.Open,
	}
}

func pricedSchema(p *verdict.Priced) pricedJSON {
	return pricedJSON{
		Label: p.Label, Procs: p.Procs, QuotaCPUs: p.QuotaCPUs, Replicas: p.Replicas, GoVersion: p.GoVersion, CPUs: p.CPUs, TotalCPUs: p.TotalCPUs,
		Trials: p.Trials, Invalid: p.Invalid, Met: p.Met, Capacity: intervalJSON(p.Capacity), Carries: p.Carries, Unseen: p.Unseen,
	}
}

func profileSchema(p *verdict.Profile) profileJSON {
	return profileJSON{
		Settings: listOf(p.Settings, func(a *verdict.ProfiledSetting) profiledJSON { return profiledJSON(*a) }),
		CPU:      optional(p.CPU, profileTableSchema), Allocations: optional(p.Allocations, profileTableSchema),
	}
}

func profileTableSchema(t *verdict.ProfileTable) profileTableJSON {
	taken := make([]*profileTakenJSON, len(t.Taken))
	for i, one := range t.Taken {
		taken[i] = (*profileTakenJSON)(one)
	}
	return profileTableJSON{Taken: taken, Functions: listOf(t.Functions, func(r *verdict.ProfileRow) profileRowJSON { return profileRowJSON(*r) })}
}
