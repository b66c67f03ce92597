package stat

import (
	"time"

	"github.com/procfit/procfit/internal/journal"
)

// ResultSchema is the version of result.json.
const ResultSchema = "procfit.result/v1"

// Result is what the statistics say of a journal. It holds all that a report
// shows, so that no renderer computes; it formats nothing itself.
type Result struct {
	Schema         string          `json:"schema"`
	Name           string          `json:"name"`
	Started        time.Time       `json:"started"`
	Host           journal.Host    `json:"host"`
	Tool           journal.Tool    `json:"tool"`
	Target         journal.Target  `json:"target"`
	Load           journal.Load    `json:"load"`
	Plan           journal.Plan    `json:"plan"`
	Complete       bool            `json:"complete"` // every planned trial is in the journal
	TrialsPlanned  int             `json:"trials_planned"`
	TrialsRun      int             `json:"trials_run"`
	TrialsInvalid  int             `json:"trials_invalid"`
	PilotsRun      int             `json:"pilots_run"` // pilots are not among the trials
	PilotsInvalid  int             `json:"pilots_invalid"`
	Groups         []Group         `json:"groups"`
	Gate           *Gate           `json:"gate,omitempty"`
	Warnings       []Warning       `json:"warnings"`
	Recommendation *Recommendation `json:"recommendation"` // when there is one group
}

// Group is the arms that may be compared with each other: same quota, replicas
// and Go version.
type Group struct {
	QuotaCPUs *float64 `json:"quota_cpus"`
	Replicas  int      `json:"replicas"`
	GoVersion string   `json:"go_version,omitempty"`
	// EffectiveCPUs is what one replica may use: the smaller of its quota and the
	// machine's CPUs (or the server cpuset).
	EffectiveCPUs float64 `json:"effective_cpus"`
	// ThroughputUnit names what is counted a second: requests, runs or a metric.
	ThroughputUnit string `json:"throughput_unit"`
	// LatencyMode is the loop whose latency the arms carry: open (judged), closed
	// (shown, not judged), or empty when no latency was measured.
	LatencyMode string `json:"latency_mode,omitempty"`
	// RatePerSecond is the open loop's common rate; null without one.
	RatePerSecond  *float64       `json:"rate_per_second"`
	Arms           []ArmResult    `json:"arms"` // unset first, then by procs
	NoiseFloor     NoiseFloor     `json:"noise_floor"`
	Detectable     Detectable     `json:"detectable_effect"`
	Peak           string         `json:"peak"` // label of the arm of the highest median throughput
	Flatness       Flatness       `json:"flatness"`
	Workload       Workload       `json:"workload"`
	USL            *USL           `json:"usl"` // null with fewer than four different procs
	Recommendation Recommendation `json:"recommendation"`
}

// ArmResult is what was measured of one arm.
type ArmResult struct {
	Label string `json:"label"`
	Procs *int   `json:"procs"` // null: unset
	// ResolvedProcs is the value that the target really ran at; null where it
	// could not be read. For the unset arm it is what the default chose.
	ResolvedProcs  *int                      `json:"resolved_procs"`
	ResolvedSource string                    `json:"resolved_source,omitempty"` // symbol, decoded
	Variant        string                    `json:"variant,omitempty"`
	Trials         int                       `json:"trials"` // valid, role measure
	Invalid        int                       `json:"invalid"`
	InvalidReasons []ReasonCount             `json:"invalid_reasons,omitempty"`
	Throughput     Interval                  `json:"throughput_per_second"`
	P50            Interval                  `json:"p50_seconds"`
	P99            Interval                  `json:"p99_seconds"`
	Metrics        map[string]MetricInterval `json:"metrics,omitempty"`
	Speedup        *float64                  `json:"speedup"` // median throughput ÷ that of the smallest numbered arm
	NonInferior    NonInferior               `json:"noninferior"`
	// VersusPeak is the paired throughput ratio to the peak arm, with its two-sided
	// 95 % interval (from three blocks on); 1 is the same, 0.8 is 20 % less. Arms that
	// ran at one value share it, since their trials are pooled.
	VersusPeak Interval `json:"throughput_versus_peak"`
	Saturated  bool     `json:"saturated"` // in most of its trials
	Evidence   Evidence `json:"evidence"`
	Points     []Point  `json:"points"` // every trial, invalid ones too
}

// Interval is a median with its distribution-free 95 % interval. Low and High
// are null below six values (order statistics of fewer cannot reach 95 %).
type Interval struct {
	Median *float64 `json:"median"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	N      int      `json:"n"`
}

// MetricInterval is an Interval of a figure that the program printed.
type MetricInterval struct {
	Interval
	Unit   string `json:"unit,omitempty"`
	Better string `json:"better"`
}

// NonInferior says whether an arm was shown to be no worse than the best by more
// than the margin; null where it was not tested: beyond the first failure of the
// walk, and for p99 outside of the tail set or where no latency is judged.
type NonInferior struct {
	Throughput *bool `json:"throughput"`
	P99        *bool `json:"p99"`
}

// Evidence is the median over an arm's valid trials of what the kernel counted;
// null where nothing could be read.
type Evidence struct {
	CPUs                  *float64 `json:"cpus"`            // CPU seconds a second, all replicas
	CPUUtilisation        *float64 `json:"cpu_utilisation"` // CPUs ÷ (min(Ps, effective CPUs) × replicas), the machine's CPUs at most
	VoluntaryPerSecond    *float64 `json:"voluntary_switches_per_second"`
	InvoluntaryPerSecond  *float64 `json:"involuntary_switches_per_second"`
	RunQueueWaitRatio     *float64 `json:"run_queue_wait_ratio"` // seconds waited a second; includes throttling
	ThreadsMax            *float64 `json:"threads_max"`
	ThrottledPeriodsRatio *float64 `json:"throttled_periods_ratio"`
	ThrottledRatio        *float64 `json:"throttled_ratio"` // throttled seconds a second a replica
	StealRatio            *float64 `json:"steal_ratio"`     // of all the machine's CPU time
	LoadCPUs              *float64 `json:"load_cpus"`       // CPU seconds a second of the load engine
	SendLagP99            *float64 `json:"send_lag_p99_seconds"`
	Dropped               int64    `json:"dropped"` // over all trials
}

// Point is one trial, for plots.
type Point struct {
	Block         int      `json:"block"`
	Role          string   `json:"role"`
	Valid         bool     `json:"valid"`
	InvalidReason string   `json:"invalid_reason,omitempty"`
	Throughput    *float64 `json:"throughput_per_second"`
	P50           *float64 `json:"p50_seconds"`
	P99           *float64 `json:"p99_seconds"`
	ClosedP99     *float64 `json:"closed_p99_seconds"` // of the closed loop, as wrk counts
	// Metrics are the figures that the program printed; their units and directions
	// are the arm's.
	Metrics map[string]float64 `json:"metrics,omitempty"`
}

// ReasonCount is an invalid reason and how many trials gave it.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// NoiseFloor is the larger absolute end of the A/A interval of each metric, as a
// ratio: 0.03 is 3 %. No difference estimated at less is called worse. Null with fewer than three
// A/A pairs.
type NoiseFloor struct {
	Arm        string   `json:"arm"` // the arm that ran twice
	Pairs      int      `json:"pairs"`
	Throughput *float64 `json:"throughput"`
	P99        *float64 `json:"p99"`
}

// Detectable is the smallest difference that this many blocks can show, from the
// spread of the paired log-ratios. Null below three pairs, and beyond ten times:
// neither says anything.
type Detectable struct {
	Throughput *float64 `json:"throughput"`
	P99        *float64 `json:"p99"`
}

// Flatness says how much the choice matters: how many arms are within the margin
// of the peak, and the ratio of the worst numbered arm at or above the smallest
// such arm to the peak.
type Flatness struct {
	WithinMargin []string `json:"within_margin"` // labels, by median
	// WorstAbove is the lowest median throughput among arms with more Ps than the
	// peak, as a ratio to it; null when there is none.
	WorstAbove *float64 `json:"worst_above_peak"`
}

// Workload is the kind of work, from the CPU use of the unset arm (or the arm
// nearest to the effective CPUs): cpu-bound at 90 % and more, io-bound at 50 %
// and less, mixed between; unknown where CPU time could not be read.
type Workload struct {
	Kind           string   `json:"kind"`
	CPUUtilisation *float64 `json:"cpu_utilisation"`
	Arm            string   `json:"arm"`
}

// USL is Gunther's universal scalability law fitted to the medians, a
// diagnostic and never the recommender.
type USL struct {
	Lambda float64  `json:"lambda"` // throughput at one P
	Sigma  float64  `json:"sigma"`  // contention, 0 to 1
	Kappa  float64  `json:"kappa"`  // coherency, 0 and more
	Peak   *float64 `json:"peak"`   // Ps of the fitted peak; null: no peak observed
	R2     float64  `json:"r2"`
	Poor   bool     `json:"poor"` // fits poorly: do not read it
	Why    string   `json:"why,omitempty"`
}

// Verdict is what the arms of a group come to.
type Verdict string

const (
	Recommended Verdict = "recommended"   // set this value
	KeepDefault Verdict = "keep_default"  // change nothing
	TradeOff    Verdict = "trade_off"     // throughput and p99 want different values
	CannotTell  Verdict = "cannot_tell"   // with what would settle it
	NotYourKnob Verdict = "not_your_knob" // all arms alike, and that proven
	CarriesRate Verdict = "carries_rate"  // the smallest arm that carries --rate
)

// Recommendation is a verdict with its reasons.
type Recommendation struct {
	Verdict Verdict `json:"verdict"`
	Procs   *int    `json:"procs"` // null: leave GOMAXPROCS unset, or no value can be named
	Arm     string  `json:"arm,omitempty"`
	// BestThroughput and BestP99 are the optima of a trade-off, as arm labels.
	BestThroughput string   `json:"best_throughput,omitempty"`
	BestP99        string   `json:"best_p99,omitempty"`
	Sentence       string   `json:"sentence"` // the recommendation in one sentence
	Reasons        []string `json:"reasons"`
	Settle         []string `json:"settle,omitempty"` // of cannot_tell: what would settle it
}

// Warning is something that weakens the result, with what to do about it.
type Warning struct {
	Code    string `json:"code"` // stable, lower snake case: few_blocks, drift, steal, shared_machine …
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	Group   *int   `json:"group,omitempty"` // index into groups; absent: the whole run
	Arm     string `json:"arm,omitempty"`
}

// Gate is the answer of --gate.
type Gate struct {
	Kind   string      `json:"kind"` // against, baseline
	Pass   bool        `json:"pass"` // every check is judged, and none is worse
	Checks []GateCheck `json:"checks"`
	// Unjudged says why the gate is neither passed nor failed; empty when it is.
	Unjudged string `json:"unjudged,omitempty"`
}

// GateCheck is one arm on one metric: new ÷ old with its interval.
type GateCheck struct {
	Arm    string   `json:"arm"`
	Metric string   `json:"metric"` // throughput, p99
	Ratio  Interval `json:"ratio"`
	Margin float64  `json:"margin"`
	Judged bool     `json:"judged"` // there are pairs enough to prove something
	Worse  bool     `json:"worse"`  // worse than the margin, with confidence
	Proven bool     `json:"proven"` // not worse than the margin, with confidence
	Note   string   `json:"note"`
}
