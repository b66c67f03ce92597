package journal

import "time"

// Schema is the version of the format that this package writes and reads.
const Schema = "procfit.journal/v1"

// The kinds of line.
const (
	KindHeader = "header"
	KindTrial  = "trial"
)

// Role says what a trial counts for.
type Role string

const (
	RoleMeasure Role = "measure" // an arm under comparison
	RoleAA      Role = "aa"      // a second copy of one arm; their difference is the noise
	RolePilot   Role = "pilot"   // before the blocks, to choose the open loop's rate; never compared
)

// Origin says where a trial came from.
type Origin string

const (
	OriginLocal Origin = "local"
	OriginKube  Origin = "kube"
	OriginSim   Origin = "sim"
)

// Mode is how load was offered in a phase.
type Mode string

const (
	ModeClosed Mode = "closed" // N connections, each sends when its answer has come
	ModeOpen   Mode = "open"   // a fixed rate; latency counts from the intended send
	ModeBatch  Mode = "batch"  // no load: the program's own run is the work
)

// Header is the first line of a journal.
type Header struct {
	Schema  string    `json:"schema"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Host    Host      `json:"host"`
	Tool    Tool      `json:"tool"`
	Target  Target    `json:"target"`
	Load    Load      `json:"load"`
	Plan    Plan      `json:"plan"`
}

// Host is the machine that ran the trials.
type Host struct {
	Hostname      string  `json:"hostname"`
	OS            string  `json:"os"`
	Arch          string  `json:"arch"`
	CPUModel      string  `json:"cpu_model"`
	CPUs          int     `json:"cpus"`           // online CPUs
	AffinityCPUs  int     `json:"affinity_cpus"`  // CPUs that procfit itself may run on
	EffectiveCPUs float64 `json:"effective_cpus"` // the smaller of the affinity and the tightest CPU limit around procfit
	Kernel        string  `json:"kernel"`
	CgroupMode    string  `json:"cgroup_mode"` // v1, v2, hybrid, none, unknown
	MemoryBytes   int64   `json:"memory_bytes"`
}

// Tool is the procfit that ran the trials.
type Tool struct {
	Version   string   `json:"version"`
	GoVersion string   `json:"go_version"`
	Args      []string `json:"args"` // the command line after the program's name
}

// Target is the program under test, as the user gave it.
type Target struct {
	Kind    string   `json:"kind"` // server, batch, gobench
	Command []string `json:"command"`
	Against []string `json:"against,omitempty"` // the old command of a gate, as a shell would split it
	// SHA256 is of the command's executable, so that a resumed run does not mix two
	// programs; empty where procfit compiles or is the target itself.
	SHA256      string   `json:"sha256,omitempty"`
	URL         string   `json:"url,omitempty"`
	Build       string   `json:"build,omitempty"` // the package of --build
	GoVersion   string   `json:"go_version,omitempty"`
	MainModule  string   `json:"main_module,omitempty"`
	BuiltIn     string   `json:"built_in,omitempty"` // the id of the practice program, when there was no command
	ServerCPUs  string   `json:"server_cpuset,omitempty"`
	Directory   string   `json:"directory,omitempty"`
	Environment []string `json:"environment,omitempty"` // the variables that bear on the runtime: GOGC, GOMEMLIMIT, GODEBUG
}

// Load is the load as the user asked for it.
type Load struct {
	Connections         int      `json:"connections,omitempty"`
	RatePerSecond       *float64 `json:"rate_per_second"` // null: half of the unset arm's capacity, from the pilots
	Method              string   `json:"method,omitempty"`
	Headers             []string `json:"headers,omitempty"`
	BodySHA256          string   `json:"body_sha256,omitempty"`
	BodyBytes           int      `json:"body_bytes,omitempty"`
	Command             string   `json:"command,omitempty"` // of --load
	Metrics             []string `json:"metrics,omitempty"` // of --metric
	LoadCPUs            string   `json:"load_cpuset,omitempty"`
	ErrorRatioMax       float64  `json:"error_ratio_max"`
	SameMachine         bool     `json:"same_machine"` // the load ran on the machine of the target
	DurationSeconds     float64  `json:"duration_seconds"`
	WarmupSeconds       float64  `json:"warmup_seconds"`
	ReadyTimeoutSeconds float64  `json:"ready_timeout_seconds"`
	TrialTimeoutSeconds float64  `json:"trial_timeout_seconds,omitempty"` // of a batch program's run; 0: none
}

// Plan is what was to be done: every arm in every block, in an order drawn from
// the seed.
type Plan struct {
	Arms        []Arm   `json:"arms"`
	AA          []Arm   `json:"aa"` // one a group: the arm that runs twice in each block
	Blocks      int     `json:"blocks"`
	Pilots      int     `json:"pilots"` // pilot trials of each group's unset arm, before the blocks
	Seed        uint64  `json:"seed"`
	Margin      float64 `json:"margin"`     // on throughput, a ratio: 0.05 is 5 %
	MarginP99   float64 `json:"margin_p99"` // on p99 latency, a ratio
	SmallestFor bool    `json:"smallest_for_rate"`
	GateAgainst bool    `json:"gate_against"`
}

// Arm is one setting under test.
type Arm struct {
	Label     string   `json:"label"`
	Procs     *int     `json:"procs"`      // null: GOMAXPROCS not in the environment
	QuotaCPUs *float64 `json:"quota_cpus"` // null: no limit of ours
	Replicas  int      `json:"replicas"`
	GoVersion string   `json:"go_version,omitempty"` // the toolchain of --go; empty: as the program came
	Variant   string   `json:"variant,omitempty"`    // "against" for the old command of a gate
}

// Trial is one arm measured once.
type Trial struct {
	Kind            string    `json:"kind"`
	Arm             Arm       `json:"arm"`
	Role            Role      `json:"role"`
	Origin          Origin    `json:"origin"`
	Block           int       `json:"block"` // from 0; a pilot's is its number
	Order           int       `json:"order"` // from 0, within the block
	Started         time.Time `json:"started"`
	DurationSeconds float64   `json:"duration_seconds"` // from start to stop, warm-up included

	Valid         bool   `json:"valid"`
	InvalidReason string `json:"invalid_reason,omitempty"`
	// NotStarted is that there was no program to run. It stands until a resumed run
	// has tried again.
	NotStarted bool `json:"not_started,omitempty"`

	ObservedProcs       []*int            `json:"observed_procs"`            // by replica; null: not readable
	ObservedSource      string            `json:"observed_source,omitempty"` // symbol, decoded; empty where not readable
	ObservedGoVersion   string            `json:"observed_go_version,omitempty"`
	Phases              []Phase           `json:"phases"`
	Metrics             map[string]Metric `json:"metrics,omitempty"`
	ThroughputPerSecond *float64          `json:"throughput_per_second"`
	ThroughputUnit      string            `json:"throughput_unit,omitempty"` // requests, runs, or a metric's name
	LatencySeconds      *Latency          `json:"latency_seconds"`           // the judged one; null when no phase's latency may be judged
	Saturated           bool              `json:"saturated"`                 // carried less than 99 % of the open loop's rate

	CPUSeconds          *CPUSeconds      `json:"cpu_seconds"`
	ContextSwitches     *ContextSwitches `json:"context_switches"`
	RunQueueWaitSeconds *float64         `json:"run_queue_wait_seconds"` // includes throttling
	ThreadsMax          *int             `json:"threads_max"`
	Cgroup              *Cgroup          `json:"cgroup"`
	Load                *LoadCost        `json:"load"`
	HostUse             *HostUse         `json:"host"`
	MeasuredSeconds     float64          `json:"measured_seconds"` // the wall time that the counters above span
	Warnings            []string         `json:"warnings"`
	Log                 string           `json:"log,omitempty"` // the target's output, relative to the results directory
}

// Phase is one stretch of load within a trial.
type Phase struct {
	Mode              Mode     `json:"mode"`
	RatePerSecond     *float64 `json:"rate_per_second"` // offered; null unless open
	DurationSeconds   float64  `json:"duration_seconds"`
	AchievedPerSecond float64  `json:"achieved_per_second"`
	Requests          int64    `json:"requests"` // answered
	Errors            int64    `json:"errors"`   // of these with a bad status, plus broken connections and time-outs
	LatencySeconds    *Latency `json:"latency_seconds"`
	Histogram         string   `json:"histogram,omitempty"` // HdrHistogram V2, compressed, base64; nanoseconds
}

// Latency is a summary of a latency distribution, in seconds. A generator that
// prints fewer percentiles leaves the others null.
type Latency struct {
	P50  *float64 `json:"p50"`
	P90  *float64 `json:"p90"`
	P99  *float64 `json:"p99"`
	P999 *float64 `json:"p999"`
	Max  *float64 `json:"max"`
	Mean *float64 `json:"mean"`
}

// Metric is a figure that the program or the load generator printed itself.
type Metric struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	Better string  `json:"better"` // lower, higher
}

// CPUSeconds is CPU time used over the measured span, all replicas together.
type CPUSeconds struct {
	User   float64 `json:"user"`
	System float64 `json:"system"`
}

// ContextSwitches counts over the measured span, all threads of all replicas.
type ContextSwitches struct {
	Voluntary   int64 `json:"voluntary"`
	Involuntary int64 `json:"involuntary"`
}

// Cgroup is the CFS bandwidth accounting over the measured span, summed over
// the replicas' groups (kernel: Documentation/scheduler/sched-bwc.rst).
type Cgroup struct {
	Periods          int64   `json:"periods"`
	ThrottledPeriods int64   `json:"throttled_periods"`
	ThrottledSeconds float64 `json:"throttled_seconds"`
}

// LoadCost is what offering the load cost, and how well it was offered.
type LoadCost struct {
	CPUSeconds         float64  `json:"cpu_seconds"`
	SendLagP99Seconds  *float64 `json:"send_lag_p99_seconds"` // how late the engine itself sent; null unless open
	Dropped            int64    `json:"dropped"`              // intended sends that were never made
	ThreadBusiestRatio *float64 `json:"thread_busiest_ratio"` // CPU time ÷ wall time of the busiest engine thread
}

// HostUse is the machine's own state over the measured span.
type HostUse struct {
	StealSeconds float64 `json:"steal_seconds"` // taken by the hypervisor, over all CPUs
	BusyRatio    float64 `json:"busy_ratio"`    // of all CPU time, not idle
}
