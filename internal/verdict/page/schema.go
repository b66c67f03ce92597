package page

import (
	"time"

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
