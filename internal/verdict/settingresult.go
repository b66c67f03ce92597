package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// SettingResult is what was measured of one setting.
type SettingResult struct {
	Label string `json:"label"`
	Procs *int   `json:"procs"` // null: unset
	// ResolvedProcs is the value that the target really ran at; null where it
	// could not be read. For the unset setting it is what the default chose.
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
	ByRequest      []RequestLatency          `json:"by_request,omitempty"` // of a mix
	Speedup        *float64                  `json:"speedup"`              // median throughput ÷ that of the smallest numbered setting
	NonInferior    NonInferior               `json:"noninferior"`
	// VersusPeak is the paired throughput ratio to the peak setting, with its two-sided
	// 95% interval (from three blocks on); 1 is the same, 0.8 is 20% less. Settings
	// that ran at one value share it, since their trials are pooled.
	VersusPeak Interval `json:"throughput_versus_peak"`
	Saturated  bool     `json:"saturated"` // in most of its trials
	// Unanswered are requests that still waited when a phase ended, Redirects answers
	// 3xx, which do little of the work; Requests are all that were answered. Of the
	// valid trials.
	Requests   int64 `json:"requests"`
	Unanswered int64 `json:"unanswered"`
	Redirects  int64 `json:"redirects"`
	// Withheld is that other programs left too few CPUs for the setting to be compared.
	Withheld bool `json:"withheld,omitempty"`
	// Excluded is why the setting has no part in what is judged, or not in all of it.
	Excluded   *ExcludedCode `json:"excluded"`
	PooledWith []string      `json:"pooled_with,omitempty"` // labels of the settings that ran at its value
	Later      bool          `json:"-"`                     // of a row: its latency is proven worse than the lowest
	// Judged is the latency that comparisons are of: of a row, its level.
	Judged   Interval `json:"-"`
	Evidence Evidence `json:"evidence"` // of the closed loop, or of a batch program's runs
	// OpenEvidence is the same of the open loop; null where it was not counted.
	OpenEvidence *Evidence `json:"open_evidence,omitempty"`
	Points       []Point   `json:"points"` // every trial, invalid ones too
}

// Interval is a median with its distribution-free 95% interval. Low and High
// are null below six values (order statistics of fewer cannot reach 95%).
type Interval struct {
	Median *float64 `json:"median"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	N      int      `json:"n"`
}

// MetricInterval is an Interval of a metric that the program printed.
type MetricInterval struct {
	Interval
	Unit   string `json:"unit,omitempty"`
	Better string `json:"better"`
}

// NonInferior reports whether a setting was shown to be no worse than the best by more
// than the margin; null where it was not tested: beyond the first failure of the
// comparison, and for p99 outside of the tail set or where no latency is judged.
type NonInferior struct {
	Throughput *bool `json:"throughput"`
	P99        *bool `json:"p99"`
}

// Evidence is the median over a setting's valid trials of what the kernel counted;
// null where nothing could be read.
type Evidence struct {
	CPUs                  *float64 `json:"cpus"`            // CPU seconds per second, all replicas
	CPUUtilisation        *float64 `json:"cpu_utilisation"` // CPUs ÷ (min(Ps, effective CPUs) × replicas), the machine's CPUs at most
	VoluntaryPerSecond    *float64 `json:"voluntary_switches_per_second"`
	InvoluntaryPerSecond  *float64 `json:"involuntary_switches_per_second"`
	RunQueueWaitRatio     *float64 `json:"run_queue_wait_ratio"` // seconds waited a second; includes throttling
	ThreadsMax            *float64 `json:"threads_max"`
	ThrottledPeriodsRatio *float64 `json:"throttled_periods_ratio"`
	ThrottledRatio        *float64 `json:"throttled_ratio"`       // throttled seconds per second a replica
	StealRatio            *float64 `json:"steal_ratio"`           // of all the machine's CPU time
	OtherCPUs             *float64 `json:"other_cpus"`            // used by neither the target nor the load, on the CPUs that the target may use
	BesideCPUs            *float64 `json:"beside_cpus,omitempty"` // used by the neighbour of --beside
	MachineBusy           *float64 `json:"machine_busy_ratio"`    // of all the machine's CPU time, not idle
	CPUSecondsEach        *float64 `json:"cpu_seconds_per_request"`
	LoadCPUs              *float64 `json:"load_cpus"` // CPU seconds per second of the load engine
	SendLagP99            *float64 `json:"send_lag_p99_seconds"`
	Dropped               int64    `json:"dropped"`                        // over all trials
	RSSBytes              *float64 `json:"rss_bytes,omitempty"`            // resident memory at the end, all replicas
	PeakRSSBytes          *float64 `json:"peak_rss_bytes,omitempty"`       // the most since their start
	GCCyclesPerSecond     *float64 `json:"gc_cycles_per_second,omitempty"` // of one replica
	GCPauseSeconds        *float64 `json:"gc_pause_seconds,omitempty"`     // of a cycle
	GCHeapBytes           *float64 `json:"gc_heap_bytes,omitempty"`        // in use when the last cycle ended, all replicas
	GCBusyRatio           *float64 `json:"gc_busy_ratio,omitempty"`        // of the time in which Ps did anything, by the runtime's count
}

// Point is one trial, for plots.
type Point struct {
	Block         int                 `json:"block"`
	Role          string              `json:"role"`
	Valid         bool                `json:"valid"`
	InvalidReason string              `json:"invalid_reason,omitempty"`
	InvalidCode   journal.InvalidCode `json:"invalid_code,omitempty"`
	Throughput    *float64            `json:"throughput_per_second"`
	P50           *float64            `json:"p50_seconds"`
	P99           *float64            `json:"p99_seconds"`
	ClosedP99     *float64            `json:"closed_p99_seconds"` // of the closed loop, as wrk counts
	Late          bool                `json:"late,omitempty"`     // its generator sent late
	Judged        *float64            `json:"judged_seconds"`     // the latency that comparisons take; null: the trial is out of them
	// Metrics are the metrics that the program printed; their units and directions
	// are the setting's.
	Metrics map[string]float64 `json:"metrics,omitempty"`
}

// ReasonCount is an invalid reason, as the journal has it, and how many trials gave
// it.
type ReasonCount struct {
	Reason string              `json:"reason"`
	Code   journal.InvalidCode `json:"code,omitempty"` // of a journal that has them
	Count  int                 `json:"count"`
}
