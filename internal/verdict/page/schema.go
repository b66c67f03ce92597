package page

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// The types of result.json: its only JSON tags, but for what it has of the journal as it is
// there. docs/reference/formats/result.schema.json says what each key means; resultSchema makes them.

type resultJSON struct {
	Schema         string              `json:"schema"`
	Name           string              `json:"name"`
	Started        time.Time           `json:"started"`
	Spec           spec.Spec           `json:"spec"`
	Origin         journal.Origin      `json:"origin,omitempty"`
	Host           journal.Host        `json:"host"`
	LoadHost       *journal.Host       `json:"load_host"`
	Tool           journal.Tool        `json:"tool"`
	Target         journal.Target      `json:"target"`
	Load           journal.Load        `json:"load"`
	SharedCPUs     bool                `json:"shared_cpus"`
	Plan           journal.Plan        `json:"plan"`
	Complete       bool                `json:"complete"`
	TrialsPlanned  int                 `json:"trials_planned"`
	TrialsRun      int                 `json:"trials_run"`
	TrialsInvalid  int                 `json:"trials_invalid"`
	PilotsRun      int                 `json:"rate_trials_run"`
	PilotsInvalid  int                 `json:"rate_trials_invalid"`
	Compared       []groupJSON         `json:"compared,omitempty"`
	Canary         *canaryJSON         `json:"canary,omitempty"`
	Live           *liveJSON           `json:"live,omitempty"`
	Cheapest       *cheapestJSON       `json:"cheapest,omitempty"`
	Profile        *profileJSON        `json:"profile,omitempty"`
	Groups         []groupJSON         `json:"groups"`
	Best           []bestJSON          `json:"best,omitempty"`
	Gate           *gateJSON           `json:"gate,omitempty"`
	Warnings       []warningJSON       `json:"warnings"`
	Recommendation *recommendationJSON `json:"recommendation"`
}

type groupJSON struct {
	QuotaCPUs      *float64           `json:"quota_cpus"`
	Replicas       int                `json:"replicas"`
	GoVersion      string             `json:"go_version,omitempty"`
	Variables      []journal.Variable `json:"variables,omitempty"`
	Compares       string             `json:"compares,omitempty"`
	Procs          *int               `json:"procs,omitempty"`
	Origin         journal.Origin     `json:"origin,omitempty"`
	EffectiveCPUs  float64            `json:"effective_cpus"`
	LimitAround    *limitJSON         `json:"limit_around,omitempty"`
	ThroughputUnit string             `json:"throughput_unit"`
	LatencyMode    string             `json:"latency_mode,omitempty"`
	RatePerSecond  *float64           `json:"rate_per_second"`
	Latency        latencyJSON        `json:"latency_judged"`
	Settings       []settingJSON      `json:"settings"`
	Values         []valueJSON        `json:"values"`
	Sliced         *slicedJSON        `json:"slices,omitempty"`
	NoiseFloor     noiseFloorJSON     `json:"noise_floor"`
	Peak           string             `json:"peak"`
	Flatness       flatnessJSON       `json:"flatness"`
	Workload       workloadJSON       `json:"workload"`
	Default        defaultJSON        `json:"default"`
	ProcsLogged    *bool              `json:"procs_logged,omitempty"`
	Throttling     throttlingJSON     `json:"throttling"`
	Others         othersJSON         `json:"other_programs"`
	Recommendation recommendationJSON `json:"recommendation"`
}

type bestJSON struct {
	QuotaCPUs  *float64           `json:"quota_cpus"`
	Replicas   int                `json:"replicas"`
	GoVersion  string             `json:"go_version,omitempty"`
	Procs      *int               `json:"procs"`
	Variables  []journal.Variable `json:"variables"`
	Start      []journal.Variable `json:"start"`
	Confidence verdict.Confidence `json:"confidence,omitempty"`
	Complete   bool               `json:"complete"`
	Interact   []string           `json:"interact"`
	Apart      []string           `json:"apart"`
	Sentence   string             `json:"sentence"`
}

type recommendationJSON struct {
	Verdict        verdict.Verdict    `json:"verdict"`
	Confidence     verdict.Confidence `json:"confidence,omitempty"`
	Procs          *int               `json:"procs"`
	Setting        string             `json:"setting,omitempty"`
	BestThroughput string             `json:"best_throughput,omitempty"`
	BestP99        string             `json:"best_p99,omitempty"`
	Versus         *versusJSON        `json:"versus_default,omitempty"`
	*wordedJSON                       // nil: of a group that compares a variable
}

type wordedJSON struct {
	Cause    verdict.Code `json:"cause,omitempty"`
	Sentence string       `json:"sentence"`
	Reasons  []string     `json:"reasons"`
	Next     []string     `json:"next,omitempty"`
}

type warningJSON struct {
	Code    verdict.Code `json:"code"`
	Group   *int         `json:"group,omitempty"`
	Setting string       `json:"setting,omitempty"`
	Message string       `json:"message"`
	Fix     string       `json:"fix"`
}

type gateJSON struct {
	Kind     string      `json:"kind"`
	Pass     bool        `json:"pass"`
	Checks   []checkJSON `json:"checks"`
	Unjudged string      `json:"unjudged,omitempty"`
}

type checkJSON struct {
	Setting  string          `json:"setting"`
	Metric   string          `json:"metric"`
	Ratio    intervalJSON    `json:"ratio"`
	Margin   float64         `json:"margin"`
	Judged   bool            `json:"judged"`
	Worse    bool            `json:"worse"`
	Proven   bool            `json:"proven"`
	Outcome  verdict.Outcome `json:"outcome"`
	Bounds   boundsJSON      `json:"bounds"`
	Itself   *float64        `json:"itself,omitempty"`
	Quantile float64         `json:"quantile,omitempty"`
	Rate     *float64        `json:"rate_per_second,omitempty"`
	Behind   string          `json:"behind,omitempty"`
	Note     string          `json:"note"`
}

type limitJSON struct {
	CPUs  float64 `json:"cpus"`
	Group string  `json:"group"`
}

type latencyJSON struct {
	Quantile float64              `json:"quantile"`
	Reason   journal.UnjudgedCode `json:"reason,omitempty"`
	Requests int64                `json:"requests,omitempty"`
	Periods  int64                `json:"periods,omitempty"`
	Passed   float64              `json:"passed,omitempty"`
	Strays   float64              `json:"strays,omitempty"`
	Short    int                  `json:"short_trials"`
	Late     int                  `json:"late_trials"`
}

type settingJSON struct {
	Label          string                `json:"label"`
	Procs          *int                  `json:"procs"`
	Variable       string                `json:"variable,omitempty"`
	ResolvedProcs  *int                  `json:"resolved_procs"`
	ResolvedSource string                `json:"resolved_source,omitempty"`
	Variant        string                `json:"variant,omitempty"`
	Trials         int                   `json:"trials"`
	Invalid        int                   `json:"invalid"`
	InvalidReasons []reasonJSON          `json:"invalid_reasons,omitempty"`
	Throughput     intervalJSON          `json:"throughput_per_second"`
	P50            intervalJSON          `json:"p50_seconds"`
	P99            intervalJSON          `json:"p99_seconds"`
	Metrics        map[string]metricJSON `json:"metrics,omitempty"`
	ByRequest      []requestJSON         `json:"by_request,omitempty"`
	Speedup        *float64              `json:"speedup"`
	NonInferior    nonInferiorJSON       `json:"noninferior"`
	VersusPeak     intervalJSON          `json:"throughput_versus_peak"`
	Saturated      bool                  `json:"saturated"`
	Missed         int                   `json:"objective_missed,omitempty"`
	Unmet          bool                  `json:"objective_unmet,omitempty"`
	Requests       int64                 `json:"requests"`
	Unanswered     int64                 `json:"unanswered"`
	Redirects      int64                 `json:"redirects"`
	TooFewCPUs     bool                  `json:"too_few_cpus,omitempty"`
	Excluded       *contest.Excluded     `json:"excluded"`
	PooledWith     []string              `json:"pooled_with,omitempty"`
	Evidence       evidenceJSON          `json:"evidence"`
	OpenEvidence   *evidenceJSON         `json:"open_loop_evidence,omitempty"`
}

type valueJSON struct {
	Procs      *int              `json:"procs"`
	Settings   []string          `json:"settings"`
	Trials     int               `json:"trials"`
	Throughput levelJSON         `json:"throughput_per_second"`
	Latency    levelJSON         `json:"latency_seconds"`
	VersusPeak boundsJSON        `json:"throughput_versus_peak"`
	Unmet      bool              `json:"objective_unmet,omitempty"`
	Excluded   *contest.Excluded `json:"excluded"`
}

type intervalJSON struct {
	Median *float64 `json:"median"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	N      int      `json:"n"`
}

type levelJSON struct {
	Median *float64 `json:"mean"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	N      int      `json:"n"`
}

type boundsJSON struct {
	Median *float64 `json:"ratio"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	N      int      `json:"n"`
}

type metricJSON struct {
	intervalJSON
	Unit   string `json:"unit,omitempty"`
	Better string `json:"better"`
}

type requestJSON struct {
	Name     string       `json:"name"`
	Requests int64        `json:"requests"`
	Errors   int64        `json:"errors"`
	P50      intervalJSON `json:"p50_seconds"`
	P99      intervalJSON `json:"p99_seconds"`
}

type nonInferiorJSON struct {
	Throughput *bool `json:"throughput"`
	P99        *bool `json:"p99"`
}

type evidenceJSON struct {
	CPUs                  *float64 `json:"cpus"`
	UserCPUs              *float64 `json:"user_cpus"`
	SystemCPUs            *float64 `json:"system_cpus"`
	CPUUtilisation        *float64 `json:"cpu_utilisation"`
	VoluntaryPerSecond    *float64 `json:"voluntary_switches_per_second"`
	InvoluntaryPerSecond  *float64 `json:"involuntary_switches_per_second"`
	RunQueueWaitRatio     *float64 `json:"run_queue_wait_ratio"`
	ThreadsMax            *float64 `json:"threads_max"`
	ThrottledPeriodsRatio *float64 `json:"throttled_periods_ratio"`
	StealRatio            *float64 `json:"steal_ratio"`
	OtherCPUs             *float64 `json:"other_cpus"`
	BesideCPUs            *float64 `json:"beside_cpus,omitempty"`
	CPUSecondsEach        *float64 `json:"cpu_seconds_per_request"`
	LoadCPUs              *float64 `json:"load_cpus"`
	PeakRSSBytes          *float64 `json:"peak_rss_bytes,omitempty"`
	GCCyclesPerSecond     *float64 `json:"gc_cycles_per_second,omitempty"`
	GCBusyRatio           *float64 `json:"gc_busy_ratio,omitempty"`
}

type reasonJSON struct {
	Reason string              `json:"reason"`
	Code   journal.InvalidCode `json:"code,omitempty"`
	Count  int                 `json:"count"`
}

type slicedJSON struct {
	Kept         []int             `json:"kept"`
	Why          contest.SlicedWhy `json:"why,omitempty"`
	Invalid      int               `json:"invalid,omitempty"`
	Detail       string            `json:"detail,omitempty"`
	Values       []sliceJSON       `json:"values"`
	Seconds      float64           `json:"seconds"`
	Apart        *slicedApartJSON  `json:"differs,omitempty"`
	SizedAtStart []string          `json:"sized_at_start,omitempty"`
}

type sliceJSON struct {
	Procs      int          `json:"procs"`
	Slices     int          `json:"slices"`
	Kept       bool         `json:"kept"`
	Slower     bool         `json:"slower"`
	Throughput intervalJSON `json:"throughput_versus_default"`
}

type slicedApartJSON struct {
	Procs  int     `json:"procs"`
	Slices float64 `json:"slices_versus_default"`
	Starts float64 `json:"starts_versus_default"`
}

type noiseFloorJSON struct {
	Setting    string   `json:"setting"`
	Pairs      int      `json:"pairs"`
	Throughput *float64 `json:"throughput"`
	P99        *float64 `json:"p99"`
}

type flatnessJSON struct {
	WithinMargin []string `json:"within_margin"`
	WorstAbove   *float64 `json:"worst_above_peak"`
}

type workloadJSON struct {
	TooFewCPUs     bool     `json:"too_few_cpus,omitempty"`
	Kind           string   `json:"kind"`
	CPUUtilisation *float64 `json:"cpu_utilisation"`
	Setting        string   `json:"setting"`
}

type defaultJSON struct {
	Standing  verdict.DefaultStanding `json:"standing"`
	Procs     *int                    `json:"procs"`
	NumCPU    int                     `json:"num_cpu"`
	LimitCPUs float64                 `json:"limit_cpus"`
	Predicted bool                    `json:"predicted,omitempty"`
}

type throttlingJSON struct {
	State      verdict.ThrottlingState  `json:"state"`
	Share      *float64                 `json:"periods_ratio"`
	LimitCPUs  *float64                 `json:"limit_cpus"`
	Own        bool                     `json:"own"`
	Group      string                   `json:"group,omitempty"`
	OuterKnown bool                     `json:"outer_known"`
	Settings   []throttledJSON          `json:"settings,omitempty"`
	Advice     verdict.ThrottlingAdvice `json:"advice,omitempty"`
	Procs      *int                     `json:"procs,omitempty"`
}

type throttledJSON struct {
	Label     string  `json:"label"`
	Judged    bool    `json:"judged"`
	Share     float64 `json:"periods_ratio"`
	LimitCPUs float64 `json:"limit_cpus"`
	Own       bool    `json:"own"`
	Group     string  `json:"group,omitempty"`
	Beyond    bool    `json:"beyond"`
}

type othersJSON struct {
	CPUs        *float64 `json:"cpus"`
	Of          int      `json:"of,omitempty"`
	MostCPUs    *float64 `json:"most_cpus,omitempty"`
	MostSetting string   `json:"most_setting,omitempty"`
	AtMost      *float64 `json:"at_most,omitempty"`
	Matter      bool     `json:"matter"`
	TooFewCPUs  []string `json:"too_few_cpus,omitempty"`
	Bursts      int      `json:"bursts,omitempty"`
	BurstMost   float64  `json:"burst_most,omitempty"`
	Trials      int      `json:"trials,omitempty"`
	LeftOut     int      `json:"left_out,omitempty"`
	Slow        int      `json:"slow,omitempty"`
}

type versusJSON struct {
	Procs        int          `json:"procs"`
	DefaultProcs int          `json:"default_procs"`
	Throughput   intervalJSON `json:"throughput"`
	Latency      intervalJSON `json:"latency"`
}

type canaryJSON struct {
	journal.Canary
	End         *journal.End        `json:"end"`
	Slices      int                 `json:"slices"`
	Planned     int                 `json:"slices_planned"`
	PerRequest  bool                `json:"per_request"`
	Unreached   bool                `json:"unreached"`
	Comparisons int                 `json:"comparisons"`
	Settings    []canarySettingJSON `json:"settings"`
}

type canarySettingJSON struct {
	journal.Setting
	Slices   int                `json:"slices"`
	Idle     int                `json:"idle_slices"`
	Observed []int              `json:"observed_procs"`
	Same     bool               `json:"same"`
	Verdict  verdict.Verdict    `json:"verdict,omitempty"`
	Figures  []canaryFigureJSON `json:"metrics"`
}

type canaryFigureJSON struct {
	Name    string          `json:"name"`
	Value   intervalJSON    `json:"value"`
	Control intervalJSON    `json:"control"`
	Ratio   intervalJSON    `json:"ratio"`
	Outcome verdict.Outcome `json:"outcome,omitempty"`
}

type liveJSON struct {
	journal.Live
	End      *journal.End      `json:"end"`
	Blocks   int               `json:"blocks"`
	Seconds  float64           `json:"seconds"`
	Least    float64           `json:"requests_per_second_min"`
	Most     float64           `json:"requests_per_second_max"`
	Carried  bool              `json:"carried_over"`
	Settings []liveSettingJSON `json:"settings"`
}

type liveSettingJSON struct {
	canarySettingJSON
	Came      string          `json:"outcome,omitempty"`
	Unequal   bool            `json:"unequal_load,omitempty"`
	Failing   bool            `json:"failing,omitempty"`
	Left      int             `json:"left,omitempty"`
	LeftAfter float64         `json:"left_after_seconds,omitempty"`
	InSystem  float64         `json:"left_in_system,omitempty"`
	Beyond    *journal.Beyond `json:"left_beyond,omitempty"`
}

type cheapestJSON struct {
	Objective     slo.Objective `json:"objective"`
	RatePerSecond float64       `json:"rate_per_second"`
	Settings      []pricedJSON  `json:"settings"`
	Answer        *pricedJSON   `json:"answer"`
	Today         *pricedJSON   `json:"today"`
	Open          int           `json:"undecided"`
}

type pricedJSON struct {
	Label     string          `json:"label"`
	Procs     *int            `json:"procs"`
	QuotaCPUs *float64        `json:"quota_cpus"`
	Replicas  int             `json:"replicas"`
	GoVersion string          `json:"go_version,omitempty"`
	CPUs      float64         `json:"cpus"`
	TotalCPUs float64         `json:"total_cpus"`
	Trials    int             `json:"trials"`
	Invalid   int             `json:"invalid,omitempty"`
	Met       int             `json:"met"`
	Capacity  intervalJSON    `json:"capacity_per_second"`
	Carries   verdict.Carries `json:"carries"`
	Unseen    bool            `json:"unseen,omitempty"`
}

type profileJSON struct {
	Settings    []profiledJSON    `json:"settings"`
	CPU         *profileTableJSON `json:"cpu"`
	Allocations *profileTableJSON `json:"allocations"`
}

type profiledJSON struct {
	journal.Setting
	ResolvedProcs *int `json:"resolved_procs"`
}

type profileTableJSON struct {
	Taken     []*profileTakenJSON `json:"taken"`
	Functions []profileRowJSON    `json:"functions"`
}

type profileTakenJSON struct {
	Seconds float64 `json:"seconds"`
	File    string  `json:"file"`
}

type profileRowJSON struct {
	Name   string     `json:"name"`
	Shares []*float64 `json:"shares"`
}

// JSON is result.json: indented, with a newline at its end. What the Result has as
// codes is there with its words.
func JSON(r *verdict.Result) ([]byte, error) {
	return indented(resultSchema(r), "the result")
}

func indented(v any, name string) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write %s as JSON: %w", name, err)
	}
	return append(b, '\n'), nil
}

// resultSchema is a Result as its schema has it. A type of the schema that has the fields of one
// of package verdict is converted from it, so that a new field does not compile until the
// schema has it or leaves it out.
func resultSchema(r *verdict.Result) resultJSON {
	out := resultJSON{
		Schema: r.Schema, Name: r.Name, Started: r.Started, Spec: r.Spec, Origin: r.Origin, Host: r.Host, LoadHost: r.LoadHost, Tool: r.Tool, Target: r.Target, Load: r.Load,
		SharedCPUs: r.Load.Shared(), Plan: r.Plan, Complete: r.Complete,
		TrialsPlanned: r.TrialsPlanned, TrialsRun: r.TrialsRun, TrialsInvalid: r.TrialsInvalid, PilotsRun: r.PilotsRun, PilotsInvalid: r.PilotsInvalid,
		Compared: listOf(r.Compared, func(g *verdict.Group) groupJSON { return groupSchema(g, recommendationSchema(&g.Recommendation)) }),
		Canary:   optional(r.Canary, canarySchema), Live: optional(r.Live, liveSchema), Cheapest: optional(r.Cheapest, cheapestSchema), Profile: optional(r.Profiled, profileSchema),
		Best: listOf(r.Best, func(b *verdict.Best) bestJSON { return bestSchema(r, b) }),
		Gate: optional(r.Gate, func(g *verdict.Gate) gateJSON { return gateSchema(g, r) }), Warnings: []warningJSON{},
	}
	groups := listOf(r.Groups, func(g *verdict.Group) groupJSON { return groupSchema(g, worded(groupOf(r, g, ""))) })
	out.Groups = append([]groupJSON{}, groups...) // never null
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
		Origin: g.Origin, EffectiveCPUs: g.EffectiveCPUs, LimitAround: optional(g.LimitAround, func(l *journal.OuterLimit) limitJSON { return limitJSON{l.CPUs, l.Group} }), ThroughputUnit: g.ThroughputUnit, LatencyMode: g.LatencyMode, RatePerSecond: g.RatePerSecond,
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
		Settings: phrase.Each(v.Settings, func(a journal.Setting) string { return a.Label }), Trials: contest.Valid(v.Trials), Throughput: levelJSON(v.Throughput), Latency: levelJSON(v.P99),
		VersusPeak: boundsJSON(v.VersusPeak), Unmet: v.Unmet, Excluded: v.Excluded,
	}
	if v.Procs > 0 {
		out.Procs = new(v.Procs)
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
	checks := listOf(g.Checks, func(c *verdict.GateCheck) checkJSON {
		return checkJSON{
			Setting: gateSetting(c.Setting), Metric: c.Metric, Ratio: intervalJSON(c.Ratio), Margin: c.Margin, Judged: c.Judged, Worse: c.Worse, Proven: c.Proven,
			Outcome: c.Outcome, Bounds: boundsJSON(c.Bounds), Itself: c.Itself, Quantile: c.Quantile, Rate: c.RatePerSecond, Behind: c.Behind, Note: gateNote(c, r.Plan),
		}
	})
	return gateJSON{Kind: g.Kind, Pass: g.Pass, Checks: append([]checkJSON{}, checks...), Unjudged: Unjudged(g)}
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
		Settings: listOf(p.Settings, func(p *journal.Profiled) profiledJSON { return profiledJSON{p.Setting, p.ObservedProcs} }),
		CPU:      optional(p.CPU, profileTableSchema), Allocations: optional(p.Allocations, profileTableSchema),
	}
}

func profileTableSchema(t *verdict.ProfileTable) profileTableJSON {
	taken := phrase.Each(t.Taken, func(p *journal.Profile) *profileTakenJSON {
		return optional(p, func(p *journal.Profile) profileTakenJSON { return profileTakenJSON{p.Seconds, p.File} })
	})
	return profileTableJSON{Taken: taken, Functions: listOf(t.Functions, func(r *verdict.ProfileRow) profileRowJSON { return profileRowJSON(*r) })}
}
