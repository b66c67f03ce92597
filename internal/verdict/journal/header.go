package journal

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// Header is the first line of a journal.
type Header struct {
	Schema  string    `json:"schema"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	// Spec is what was asked for, with a variable in place of each credential: {env:NAME}.
	Spec spec.Spec `json:"spec"`
	// TargetHost ran the program under test, LoadHost offered the load: null where
	// there was none, or where a --load command drove from a machine unknown to us.
	TargetHost Host   `json:"target_host"`
	LoadHost   *Host  `json:"load_host"`
	Tool       Tool   `json:"tool"`
	Target     Target `json:"target"`
	Load       Load   `json:"load"`
	Plan       Plan   `json:"plan"`
	// Given is one byte of a SHA-256 over the values of --env and --header, of which the rest has only
	// the names, so that a resumed run does not mix two; empty: there are none. No value can be found by it.
	Given string `json:"given,omitempty"`
	// Canary is what a canary has in addition; nil of any other sweep.
	Canary *Canary `json:"canary,omitempty"`
	// Live is what a live experiment has in addition; nil of any other sweep.
	Live *Live `json:"live,omitempty"`
}

// Host is a machine, or a node of a cluster.
type Host struct {
	Hostname      string    `json:"hostname"`
	OS            string    `json:"os"`
	Arch          string    `json:"arch"`
	CPUModel      string    `json:"cpu_model"`
	CPUs          int       `json:"cpus"`           // online CPUs
	AffinityCPUs  int       `json:"affinity_cpus"`  // CPUs that procfit itself may run on
	EffectiveCPUs float64   `json:"effective_cpus"` // the smaller of the affinity and the tightest CPU limit around procfit
	Kernel        string    `json:"kernel"`
	CgroupMode    string    `json:"cgroup_mode"` // v1, v2, hybrid, none, unknown
	MemoryBytes   int64     `json:"memory_bytes"`
	Topology      *Topology `json:"topology,omitempty"`       // null: not known
	LimitsUnknown bool      `json:"limits_unknown,omitempty"` // CPU limits that could not be read may be around the target, as of parent cgroups that a container does not see
}

// Topology is how the CPUs that procfit may run on lie.
type Topology struct {
	Governor       string `json:"governor,omitempty"` // what chooses the clock of the CPUs, as "performance"; absent: not known
	Sockets        int    `json:"sockets"`
	Cores          int    `json:"cores"`
	ThreadsPerCore int    `json:"threads_per_core"` // the most
	Nodes          []Node `json:"nodes"`            // of memory; none: not known
	// PerformanceCPUs and EfficiencyCPUs are lists as in 0-7; empty: all are the same, or
	// that is not known.
	PerformanceCPUs cpuset.Set `json:"performance_cpus,omitempty"`
	EfficiencyCPUs  cpuset.Set `json:"efficiency_cpus,omitempty"`
}

// Node is memory with the CPUs that are nearest to it.
type Node struct {
	ID   int        `json:"id"`
	CPUs cpuset.Set `json:"cpu_list"` // as in 0-7, of those that procfit may run on
}

// Tool is the procfit that ran the trials.
type Tool struct {
	Version   string `json:"version"`
	GoVersion string `json:"go_version"`
}

// The kinds of target, by how they are measured.
const (
	KindServer  = "server"  // loaded at its URL
	KindBatch   = "batch"   // runs and ends
	KindGoBench = "gobench" // a batch program that prints Go benchmark lines
	KindService = "service" // of a canary: serves the requests of a Service's own clients
	KindLive    = "live"    // of a live experiment: it runs, and serves its own clients
)

// Target is the program under test: what the Spec came to.
type Target struct {
	Kind    string   `json:"kind"` // server, batch, gobench, service, live
	Command []string `json:"command"`
	Against []string `json:"against,omitempty"` // the old command of a gate, as a shell would split it
	Beside  *Beside  `json:"beside,omitempty"`  // of --beside: what ran next to it in every trial; null: nothing
	// CPUShares are those of its cgroup, as cpu.shares has them; absent: the kernel's own.
	CPUShares int64 `json:"cpu_shares,omitempty"`
	// SHA256 is of the command's executable (of a gate followed by that of the old command), of
	// what --build or go test compiled, or of the pod template, so that a resumed run does not mix
	// two programs; empty where nothing could be compiled, and where procfit is the target itself.
	SHA256 string `json:"sha256,omitempty"`
	// Revision is the commit that the command's executable was built from; empty: it does not name
	// one. After it +dirty says that files were changed.
	Revision    string     `json:"revision,omitempty"`
	URL         string     `json:"url,omitempty"`
	Build       string     `json:"build,omitempty"`       // the package of --build
	GoVersion   string     `json:"go_version,omitempty"`  // of the command's executable; a trial has the one that ran
	MainModule  string     `json:"main_module,omitempty"` // in the same way
	BuiltIn     string     `json:"built_in,omitempty"`    // the id of the practice program, when there was no command
	Attached    *Process   `json:"attached,omitempty"`    // it ran already; null: the command was started
	Object      string     `json:"object,omitempty"`      // whose pods were copied in a cluster: deployment/api, or a manifest
	Namespace   string     `json:"namespace,omitempty"`   // of the copies
	Container   string     `json:"container,omitempty"`   // of the pods, whose GOMAXPROCS was set
	ServerCPUs  cpuset.Set `json:"server_cpuset,omitempty"`
	CPUs        cpuset.Set `json:"cpus,omitempty"`        // that it ran on, where the load had others
	AnyProgram  bool       `json:"any_program,omitempty"` // of --any-program: it is measured although its GOMAXPROCS may not be read
	Directory   string     `json:"directory,omitempty"`
	Environment []string   `json:"environment,omitempty"` // the variables that bear on the runtime: GOGC, GOMEMLIMIT, GODEBUG
}

// Beside is a program that ran next to the target.
type Beside struct {
	Command []string `json:"command"`
	// QuotaCPUs is the limit of its own group; null: that of the setting, 0: none.
	QuotaCPUs *float64 `json:"quota_cpus"`
	CPUShares int64    `json:"cpu_shares,omitempty"` // of its own cgroup; absent: the kernel's own
}

// Process is one that nobody here started.
type Process struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started_ticks"` // since boot; with the PID it names one process
	Name    string `json:"name"`
}

// Load is the load: what the Spec came to.
type Load struct {
	Connections   int      `json:"connections,omitempty"`
	RatePerSecond *float64 `json:"rate_per_second"`      // null: a share of the unset setting's capacity, from the pilots
	RateShare     float64  `json:"rate_share,omitempty"` // of that capacity; absent: half
	Method        string   `json:"method,omitempty"`     // as it was sent
	BodySHA256    string   `json:"body_sha256,omitempty"`
	BodyBytes     int      `json:"body_bytes,omitempty"`
	// Requests are those of a mix, with their weights where they have some, and
	// RequestsSHA256 is of all that is sent for them.
	Requests       []string   `json:"requests,omitempty"`
	RequestsSHA256 string     `json:"requests_sha256,omitempty"`
	Pace           string     `json:"pace,omitempty"`    // of the open loop: poisson; absent: constant
	GRPC           *Call      `json:"grpc,omitempty"`    // null: HTTP
	Streams        int        `json:"streams,omitempty"` // requests at a time on a connection of HTTP/2, where there are several
	Command        string     `json:"command,omitempty"` // of --load
	Metrics        []string   `json:"metrics,omitempty"` // of --metric
	LoadCPUs       cpuset.Set `json:"load_cpuset,omitempty"`
	ErrorRatioMax  float64    `json:"error_ratio_max"`
	// Arrangement is where the load ran, and whether it shared CPUs with the target;
	// null where there is no load.
	Arrangement           *Arrangement `json:"arrangement"`
	CPUs                  cpuset.Set   `json:"cpus,omitempty"`             // that the load ran on, where they were its own
	Sizing                *Sizing      `json:"sizing,omitempty"`           // what CPUs were chosen by; null: they were not
	DurationSeconds       float64      `json:"duration_seconds"`           // of a trial; a batch program is run again until its runs have used it, and with 0 it runs once
	OpenSecondsMax        float64      `json:"open_seconds_max,omitempty"` // the open loop is as long as its p99 needs, up to this; 0: half of DurationSeconds
	WarmupSeconds         float64      `json:"warmup_seconds"`
	ReadyTimeoutSeconds   float64      `json:"ready_timeout_seconds"`
	RequestTimeoutSeconds float64      `json:"request_timeout_seconds,omitempty"` // absent: 10 s
	TrialTimeoutSeconds   float64      `json:"trial_timeout_seconds,omitempty"`   // of a batch program's run; 0: none
}

// Arrangement is how load and target share the CPUs of a machine.
type Arrangement string

const (
	ArrangementShared    Arrangement = "shared"    // the load runs on the target's own CPUs
	ArrangementApart     Arrangement = "apart"     // on the same machine, on CPUs of its own
	ArrangementElsewhere Arrangement = "elsewhere" // on another machine
	ArrangementTunnel    Arrangement = "tunnel"    // through a cluster's API server, on whatever machine procfit ran
)

// Strategy is how a plan chooses what is measured.
type Strategy string

const (
	StrategyRace Strategy = "race" // what decides is measured again, what is decided is not
)

// Goal is when a race may end.
type Goal string

const (
	GoalProven Goal = "proven" // each comparison that the answer rests on is proven
	GoalLikely Goal = "likely" // the answer is probable enough
)

// Plan is what was to be done. A grid has every setting in every block, in an order drawn
// from the seed. A race has a budget: which settings a block has depends on the trials
// before it, and a [Block] line says it before the block runs.
type Plan struct {
	Strategy    Strategy  `json:"strategy,omitempty"`    // absent: a grid
	Goal        Goal      `json:"goal,omitempty"`        // of a race
	Listed      bool      `json:"listed,omitempty"`      // the race's values were named by the user: each is to have three blocks
	MaxTrials   int       `json:"max_trials,omitempty"`  // of a race, pilots included
	MaxSeconds  float64   `json:"max_seconds,omitempty"` // of a race; absent: no bound
	Settings    []Setting `json:"settings"`              // of a race: all that may be measured
	AA          []Setting `json:"aa"`                    // of a grid, one a group: the setting that runs twice in each block
	Blocks      int       `json:"blocks"`                // of a grid
	Pilots      int       `json:"pilots"`                // pilot trials of each group's default, or of each setting of a gate, before the blocks
	Seed        uint64    `json:"seed"`
	Margin      float64   `json:"margin"`     // on throughput, a ratio: 0.05 is 5%
	MarginP99   float64   `json:"margin_p99"` // on p99 latency, a ratio
	SmallestFor bool      `json:"smallest_for_rate"`
	// Slices reports that slices of one start choose which of a race's values are measured in
	// starts of their own. Absent: all are.
	Slices bool `json:"slices,omitempty"`
	// SLO is the objective whose capacity, the highest rate that meets it, is the
	// throughput. Absent: the closed loop's is.
	SLO         *slo.Objective `json:"slo,omitempty"`
	GateAgainst bool           `json:"gate_against"`
	// Vary are the variables of --vary. The settings have where each starts; the groups that
	// compare them follow from the trials. Absent: none.
	Vary []Axis `json:"vary,omitempty"`
	// MaxMemoryBytes is the most that one replica of a setting may use; absent: no bound.
	MaxMemoryBytes int64 `json:"max_memory_bytes,omitempty"`
}

// Racing reports whether it is a race.
func (p Plan) Racing() bool { return p.Strategy == StrategyRace }

// Groups are what the plan's settings belong to, each once, in the order of the settings.
func (p Plan) Groups() (list []GroupKey) {
	for _, a := range p.Settings {
		if g := a.Group(); !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list
}

// Call is a call of gRPC.
type Call struct {
	Method     string   `json:"method"` // package.Service/Method
	DataSHA256 string   `json:"data_sha256,omitempty"`
	DataBytes  int      `json:"data_bytes,omitempty"` // of the message in JSON
	Proto      []string `json:"proto,omitempty"`
	Protoset   string   `json:"protoset,omitempty"`
}
