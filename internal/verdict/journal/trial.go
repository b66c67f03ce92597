// Package journal is the record of one run: a header line, then one line a
// trial, each appended and synced as soon as the trial ends. A race, which chooses
// what to measure by what it has measured, writes a line before each block too, and a canary
// one at its end. Profiles, which are taken after the trials, have a line for each setting. It
// is the only thing that package verdict reads, so what is not in the journal does not count.
//
// The format is JSON Lines in lower snake case with units in the names; a value
// that was not measured is null, never zero. Fields may be added to a schema; a
// change of meaning makes a new one, and a reader refuses a version that it does
// not know. What becomes of a trial is reported in codes with numbers, so that nobody
// has to read sentences; the reason of an invalid trial is next to its code in
// words, for whoever reads the file.
//
// A journal may end in an incomplete line when the machine died in the middle of a
// write. Open cuts that line off; Read ignores it and says so. Nothing else is
// ever rewritten.
package journal

import (
	"fmt"
	"time"
)

// Schema is the version of the format.
const Schema = "procfit.journal/v3"

const (
	KindHeader   = "header"
	KindTrial    = "trial"
	KindBlock    = "block"
	KindBudget   = "budget"
	KindEnd      = "end"
	KindProfiled = "profiled"
)

// Role says what a trial counts for.
type Role string

const (
	RoleMeasure Role = "measure" // a setting under comparison
	RoleAA      Role = "aa"      // a second copy of one setting; their difference is the noise
	RolePilot   Role = "pilot"   // before the blocks, to choose the open loop's rate; never compared
	// RoleSlice is one of many in one start of the program, whose value is set while it runs:
	// slices choose which values are measured, and prove nothing.
	RoleSlice Role = "slice"
)

// Origin says where a trial came from.
type Origin string

const (
	OriginLocal Origin = "local" // measured on the machine of procfit
	OriginKube  Origin = "kube"  // measured in a cluster
	OriginLive  Origin = "live"  // measured in a running process, by itself
)

// Mode is how load was offered in a phase.
type Mode string

const (
	ModeClosed Mode = "closed" // N connections, each sends when its answer has come
	ModeOpen   Mode = "open"   // a fixed rate; latency counts from the intended send
	ModeBatch  Mode = "batch"  // no load: the program's own run is the work
)

// Trial is one setting measured once.
type Trial struct {
	Kind    string  `json:"kind"`
	Setting Setting `json:"setting"`
	Role    Role    `json:"role"`
	Origin  Origin  `json:"origin"`
	Block   int     `json:"block"` // from 0; a pilot's is its number
	Order   int     `json:"order"` // from 0, within the block
	// Start counts the starts of the program that slices were measured in, from 0; absent: not a
	// slice.
	Start *int `json:"start,omitempty"`
	// SizedAtStart are modules of the program that take a size from GOMAXPROCS once, and what
	// they size. The first slice of a start has them; absent: none is known.
	SizedAtStart    []string  `json:"sized_at_start,omitempty"`
	Started         time.Time `json:"started"`
	DurationSeconds float64   `json:"duration_seconds"` // from start to stop, warm-up included
	// SpeedBefore is how fast the machine did a fixed piece of work right before the trial,
	// in pieces per second of CPU time. It is measured between blocks; absent: not there.
	SpeedBefore *float64 `json:"speed_before,omitempty"`
	SpeedAfter  *float64 `json:"speed_after,omitempty"` // the same right after it

	Valid         bool        `json:"valid"`
	InvalidCode   InvalidCode `json:"invalid_code,omitempty"`
	InvalidReason string      `json:"invalid_reason,omitempty"` // in words, for who reads the file
	// NotStarted is that there was no program to run, or that its node was lost. A
	// resumed run tries the trial again, and clears it.
	NotStarted bool `json:"not_started,omitempty"`

	ObservedProcs       []*int            `json:"observed_procs"`            // by replica; null: not readable
	ObservedSource      string            `json:"observed_source,omitempty"` // symbol, decoded, metrics; empty where not readable
	ObservedGoVersion   string            `json:"observed_go_version,omitempty"`
	ObservedMainModule  string            `json:"observed_main_module,omitempty"`
	ProcsLogged         *bool             `json:"procs_logged,omitempty"` // the beginning of the target's output names GOMAXPROCS; null: it was not looked at
	Phases              []Phase           `json:"phases"`
	Metrics             map[string]Metric `json:"metrics,omitempty"`
	ThroughputPerSecond *float64          `json:"throughput_per_second"`
	ThroughputUnit      string            `json:"throughput_unit,omitempty"` // requests, runs, operations, or a metric's name
	LatencySeconds      *Latency          `json:"latency_seconds"`           // the judged one; null when no phase's latency may be judged
	Attained            *Attainment       `json:"attained,omitempty"`        // of a plan with an objective
	Saturated           bool              `json:"saturated"`                 // carried less than 99% of the open loop's rate

	// Usage is that of the closed loop, where the target has all the work that it can
	// take; of a batch program that of its runs.
	Usage
	Pods     []Pod     `json:"pods,omitempty"` // of a trial in a cluster, by replica
	Live     *Slice    `json:"live,omitempty"` // of a live experiment
	Load     *LoadCost `json:"load"`
	Warnings []Warning `json:"warnings"`
	Log      string    `json:"log,omitempty"` // the target's output, relative to the results directory
}

// Phase is the first of a mode; nil: there is none.
func (t *Trial) Phase(mode Mode) *Phase {
	for i := range t.Phases {
		if t.Phases[i].Mode == mode {
			return &t.Phases[i]
		}
	}
	return nil
}

// Usages are those of the trial and of its phases.
func (t *Trial) Usages() []*Usage {
	list := []*Usage{&t.Usage}
	for i := range t.Phases {
		if u := t.Phases[i].Usage; u != nil {
			list = append(list, u)
		}
	}
	return list
}

// PeakMemory is the most that the target used in any part of the trial, in bytes; nil: it was not
// read.
func (t *Trial) PeakMemory() (most *int64) {
	for _, u := range t.Usages() {
		if u.Memory != nil && (most == nil || u.Memory.PeakRSSBytes > *most) {
			most = &u.Memory.PeakRSSBytes
		}
	}
	return most
}

// Missed reports whether no rate met the objective.
func (t *Trial) Missed() bool { return t.Attained != nil && !t.Attained.Met }

// Unmet reports whether that many trials that Missed, of the valid ones, leave the throughput a
// bound: half of them or more.
func Unmet(missed, valid int) bool { return missed > 0 && 2*missed >= valid }

// Pod is what a replica ran as in a cluster, by what the kubelet reports.
type Pod struct {
	Name       string   `json:"name"`
	Node       string   `json:"node"`
	Image      string   `json:"image"`
	ImageID    string   `json:"image_id"` // with the digest
	QoSClass   string   `json:"qos_class"`
	CPULimit   *float64 `json:"cpu_limit"`   // CPUs; null: none
	CPURequest *float64 `json:"cpu_request"` // in the same way
	Restarts   int      `json:"restarts"`    // of all its containers
}

// Attainment is what a search for the highest rate within an objective came to: the
// trial's throughput.
type Attainment struct {
	// Met is false where no rate met it: then the throughput is the lowest that was
	// tried, above what the setting carries.
	Met    bool `json:"met"`
	Probes int  `json:"probes"` // rates that were tried: the open loops among the phases
}

// Phase is one stretch of load within a trial.
type Phase struct {
	Mode              Mode     `json:"mode"`
	Engine            string   `json:"engine,omitempty"`   // of ours that offered it; absent before there were two, and of another generator
	Protocol          string   `json:"protocol,omitempty"` // HTTP/1.1, HTTP/2, gRPC
	RatePerSecond     *float64 `json:"rate_per_second"`    // offered; null unless open
	DurationSeconds   float64  `json:"duration_seconds"`
	AchievedPerSecond float64  `json:"achieved_per_second"`
	Requests          int64    `json:"requests"` // answered
	Errors            int64    `json:"errors"`   // of these with a bad status, plus broken connections and time-outs
	// FailedConnections are those of Errors that ended no request: a connection that was
	// refused, say. What became of the requests that waited for one is counted with these.
	FailedConnections int64 `json:"failed_connections,omitempty"`
	// Unanswered were still waiting when the phase ended. In LatencySeconds each
	// counts as at least as late as it had waited.
	Unanswered int64 `json:"unanswered,omitempty"`
	Hanging    int64 `json:"hanging,omitempty"`   // of Unanswered: sent before the end of the duration, or after one that timed out, so that they got no answer at all
	Redirects  int64 `json:"redirects,omitempty"` // of the answers: 3xx, which count as good
	// ErrorKinds counts the errors by kind: refused, reset, timeout, status_503.
	ErrorKinds     map[string]int64 `json:"error_kinds,omitempty"`
	LatencySeconds *Latency         `json:"latency_seconds"`
	Histogram      string           `json:"histogram,omitempty"` // HdrHistogram V2, compressed, base64; nanoseconds
	Judgement
	Usage *Usage `json:"usage,omitempty"` // what the kernel counted meanwhile
	// Generator offered the load by a command, and LatencyFrom is what its latency
	// counts from: intended, paced, send. Absent where that is not known, and for
	// procfit's own load here.
	Generator   string `json:"generator,omitempty"`
	LatencyFrom string `json:"latency_from,omitempty"`
	// Pace is how the requests of an open loop of ours followed one another: constant,
	// poisson; absent: constant.
	Pace string `json:"pace,omitempty"`
	// ByRequest are the results of each request of a mix.
	ByRequest []RequestFigures `json:"by_request,omitempty"`
	// ByReplica are the results of each replica, where there are several.
	ByReplica []ReplicaFigures `json:"by_replica,omitempty"`
}

// ReplicaFigures are what became of the requests to one replica.
type ReplicaFigures struct {
	Requests   int64 `json:"requests"` // answered
	Errors     int64 `json:"errors"`
	Unanswered int64 `json:"unanswered,omitempty"`
	Hanging    int64 `json:"hanging,omitempty"` // as Phase.Hanging
}

// RequestFigures are what became of one request of a mix.
type RequestFigures struct {
	Name           string   `json:"name"`     // its method and path
	Requests       int64    `json:"requests"` // answered
	Errors         int64    `json:"errors"`
	Unanswered     int64    `json:"unanswered,omitempty"`
	Hanging        int64    `json:"hanging,omitempty"` // as Phase.Hanging
	Dropped        int64    `json:"dropped,omitempty"` // never sent
	LatencySeconds *Latency `json:"latency_seconds"`   // in two digits
}

// Judgement is what of a phase's latency may be judged. An older journal
// has none.
type Judgement struct {
	Judged         *bool        `json:"judged,omitempty"` // whether its p99 may be; absent where that was not asked
	UnjudgedReason UnjudgedCode `json:"unjudged_reason,omitempty"`
	// DroppedHeadSeconds is the beginning that is in no metric of the phase.
	DroppedHeadSeconds float64 `json:"dropped_head_seconds,omitempty"`
	// Quantile is the highest that the requests carry where that is not 0.99, and
	// QuantileSeconds the latency there.
	Quantile        float64  `json:"quantile,omitempty"`
	QuantileSeconds *float64 `json:"quantile_seconds,omitempty"`
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

// Metric is a metric that the program or the load generator printed itself.
type Metric struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	Better string  `json:"better"` // lower, higher
	// AtLeast reports that it is more than the value, the end of the last bucket of a histogram.
	AtLeast bool `json:"at_least,omitempty"`
}

// Usage is what the kernel counted over a stretch of a trial, of all replicas
// together; null where it could not be read.
type Usage struct {
	CPUSeconds          *CPUSeconds      `json:"cpu_seconds"`
	ContextSwitches     *ContextSwitches `json:"context_switches"`
	RunQueueWaitSeconds *float64         `json:"run_queue_wait_seconds"` // includes throttling
	ThreadsMax          *int             `json:"threads_max"`
	Cgroup              *Cgroup          `json:"cgroup"`                 // of the quota that the setting sets
	OuterLimits         []OuterLimit     `json:"outer_limits,omitempty"` // every other limit around the target
	HostUse             *HostUse         `json:"host"`
	BesideCPUSeconds    *float64         `json:"beside_cpu_seconds,omitempty"` // of the neighbour of --beside; it is in no other metric but busy_ratio
	Memory              *Memory          `json:"memory,omitempty"`             // absent in an older journal
	GC                  *GC              `json:"gc,omitempty"`                 // of the Go program; null: not known, or it has not run
	PageFaults          *PageFaults      `json:"page_faults,omitempty"`        // absent in an older journal
	MeasuredSeconds     float64          `json:"measured_seconds"`             // the wall time that the counters span
}

// CPUSeconds is CPU time used over the measured span, all replicas together.
type CPUSeconds struct {
	User   float64 `json:"user"`
	System float64 `json:"system"`
}

// Total is the time in user and in kernel mode.
func (c CPUSeconds) Total() float64 { return c.User + c.System }

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
	Bursts           int64   `json:"bursts,omitempty"`        // periods that used more than the quota, from its burst
	BurstSeconds     float64 `json:"burst_seconds,omitempty"` // CPU time above the quota in these
}

// OuterLimit is a CPU limit around the target that the setting did not set: of a parent
// cgroup, or of the cgroup that procfit itself runs in. Other programs may share it, and
// so its throttling may have another cause than the target.
type OuterLimit struct {
	Group     string  `json:"group"` // its path below the cgroup mount
	CPUs      float64 `json:"cpus"`
	BurstCPUs float64 `json:"burst_cpus,omitempty"` // of one period
	Cgroup
}

// HostUse is the machine's own state over the measured span.
type HostUse struct {
	StealSeconds float64 `json:"steal_seconds"` // taken by the hypervisor, over all CPUs
	BusyRatio    float64 `json:"busy_ratio"`    // of all CPU time, not idle
	// OtherCPUSeconds is the CPU time that neither the target nor its load used, on the
	// CPUs that the target may use, which are TargetCPUs many. TargetStealSeconds is what the
	// hypervisor took of these; absent: TargetCPUs are all CPUs.
	OtherCPUSeconds     *float64 `json:"other_cpu_seconds"`
	MostOtherCPUSeconds *float64 `json:"most_other_cpu_seconds,omitempty"` // that it may be, if the span is too short to count it
	TargetStealSeconds  *float64 `json:"target_steal_seconds,omitempty"`
	TargetCPUs          int      `json:"target_cpus,omitempty"`
	HeatTimes           *int64   `json:"heat_times,omitempty"` // how often the target's CPUs lowered their clock because of heat; null: not known
}

// LoadCost is what offering the load cost, and how well it was offered.
type LoadCost struct {
	CPUSeconds         float64  `json:"cpu_seconds"`
	SendLagP99Seconds  *float64 `json:"send_lag_p99_seconds"` // how late the engine itself sent; null unless open
	Dropped            int64    `json:"dropped"`              // intended sends that were never made
	ThreadBusiestRatio *float64 `json:"thread_busiest_ratio"` // CPU time ÷ wall time of the busiest engine thread
}

// PageFaults are those that had to read from a disk, of all replicas. Such a fault keeps
// the P of its goroutine until the page is there.
type PageFaults struct {
	Major       int64    `json:"major"`
	HeldSeconds *float64 `json:"held_seconds"` // how long threads waited in them, summed over threads; null: procfit may not look at the threads
}

// Add adds those of other processes. What they held is known only if it is known of all.
func (f *PageFaults) Add(more PageFaults) {
	f.Major += more.Major
	f.HeldSeconds = sum(f.HeldSeconds, more.HeldSeconds)
}

// sum is nil where a part is not known.
func sum(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// Add adds the accounting of another group, or of another stretch.
func (c *Cgroup) Add(more Cgroup) {
	c.Periods += more.Periods
	c.ThrottledPeriods += more.ThrottledPeriods
	c.ThrottledSeconds += more.ThrottledSeconds
	c.Bursts += more.Bursts
	c.BurstSeconds += more.BurstSeconds
}

// Memory is that of all processes of the target together; shared memory is counted once for each.
type Memory struct {
	RSSBytes     *int64 `json:"rss_bytes"`      // at the end of the span; null of a batch program
	PeakRSSBytes int64  `json:"peak_rss_bytes"` // since their start; of a batch program the highest sum that procfit saw, or the kernel's peak of its largest process if that is higher
}

// GC is what the garbage collectors of all replicas did, as their runtimes count it.
type GC struct {
	Cycles       int64   `json:"cycles"`
	PauseSeconds float64 `json:"pause_seconds"`
	HeapBytes    int64   `json:"heap_bytes"` // in use when the last cycle ended, the garbage of it too; 0: none has
	// CPUSeconds is the time of Ps that collecting took, but for idle ones, and BusySeconds
	// the time in which they did anything, both over whole cycles; null: not known. Times of
	// Ps are wall time: with fewer CPUs than Ps both hold waiting too.
	CPUSeconds  *float64 `json:"cpu_seconds"`
	BusySeconds *float64 `json:"busy_seconds"`
	// SpanSeconds is what the cycles are of, of all replicas added up. Of a batch program
	// it is what its runs took until they were last looked at.
	SpanSeconds float64 `json:"span_seconds"`
}

// Add adds that of other processes.
func (m *Memory) Add(more Memory) {
	m.PeakRSSBytes += more.PeakRSSBytes
	if m.RSSBytes == nil {
		m.RSSBytes = more.RSSBytes
	} else if more.RSSBytes != nil {
		m.RSSBytes = new(*m.RSSBytes + *more.RSSBytes)
	}
}

// Add adds the collector of another process to what may be none yet. Times of which a
// part is not known are not known.
func (g *GC) Add(more GC) {
	if g.SpanSeconds == 0 {
		*g = more
		return
	}
	g.Cycles += more.Cycles
	g.PauseSeconds += more.PauseSeconds
	g.HeapBytes += more.HeapBytes
	g.SpanSeconds += more.SpanSeconds
	g.CPUSeconds, g.BusySeconds = sum(g.CPUSeconds, more.CPUSeconds), sum(g.BusySeconds, more.BusySeconds)
}

// Profiled is one setting whose CPU time and memory were counted by function, in a run of its
// own after the trials. It is not a trial: nothing is compared with it.
type Profiled struct {
	Kind            string    `json:"kind"`
	Setting         Setting   `json:"setting"`
	Started         time.Time `json:"started"`
	DurationSeconds float64   `json:"duration_seconds"`
	ObservedProcs   *int      `json:"observed_procs"`    // of the replica that was profiled; null: not readable
	Missing         string    `json:"missing,omitempty"` // why there is no profile, or only one, in words
	CPU             *Profile  `json:"cpu"`               // null: see missing
	Allocations     *Profile  `json:"allocations"`       // in the same way
}

// Profile is what a profile comes to by function. A sum is of the function itself, without
// what it calls.
type Profile struct {
	File      string             `json:"file"`               // relative to the results directory; go tool pprof reads it
	Seconds   float64            `json:"seconds"`            // that it covers
	Total     float64            `json:"total"`              // seconds of CPU time, or bytes
	Functions []ProfiledFunction `json:"functions"`          // the largest first
	Left      int                `json:"left_out,omitempty"` // smaller functions that are not named
}

// ProfiledFunction is what a function took itself.
type ProfiledFunction struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // in the unit of the total
}

// Share is what a function took of all; nil: it may be one of those that are not named, or
// there is no profile.
func (p *Profile) Share(name string) *float64 {
	if p == nil {
		return nil
	}
	for _, f := range p.Functions {
		if f.Name == name {
			return new(f.Value / p.Total)
		}
	}
	if p.Left > 0 {
		return nil
	}
	return new(0.0)
}

func (c *Contents) addProfiled(p Profiled) error {
	if len(c.Profiled) == mostSettings {
		return fmt.Errorf("it has more than %d profiled settings, more than procfit ever profiles", mostSettings)
	}
	c.Profiled = append(c.Profiled, p)
	return c.know(p.Setting)
}

// AppendProfiled writes the profiles of a setting, as Append writes a trial.
func (w *Writer) AppendProfiled(p Profiled) error {
	p.Kind, p.Missing = KindProfiled, w.quote(p.Missing)
	return w.appendHeld(p)
}
