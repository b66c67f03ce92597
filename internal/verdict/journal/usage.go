package journal

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
	Memory              *Memory          `json:"memory,omitempty"`             // absent in a journal of before
	GC                  *GC              `json:"gc,omitempty"`                 // of the Go program; null: not known, or it has not run
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
}

// OuterLimit is a CPU limit around the target that the setting did not set: of a parent
// cgroup, or of the cgroup that procfit itself runs in. Other programs may share it, and
// so its throttling may have another cause than the target.
type OuterLimit struct {
	Group string  `json:"group"` // its path below the cgroup mount
	CPUs  float64 `json:"cpus"`
	Cgroup
}

// HostUse is the machine's own state over the measured span.
type HostUse struct {
	StealSeconds float64 `json:"steal_seconds"` // taken by the hypervisor, over all CPUs
	BusyRatio    float64 `json:"busy_ratio"`    // of all CPU time, not idle
	// OtherCPUSeconds is the CPU time that neither the target nor its load used, on the
	// CPUs that the target may use, which are TargetCPUs many.
	OtherCPUSeconds *float64 `json:"other_cpu_seconds"`
	TargetCPUs      int      `json:"target_cpus,omitempty"`
}

// LoadCost is what offering the load cost, and how well it was offered.
type LoadCost struct {
	CPUSeconds         float64  `json:"cpu_seconds"`
	SendLagP99Seconds  *float64 `json:"send_lag_p99_seconds"` // how late the engine itself sent; null unless open
	Dropped            int64    `json:"dropped"`              // intended sends that were never made
	ThreadBusiestRatio *float64 `json:"thread_busiest_ratio"` // CPU time ÷ wall time of the busiest engine thread
}

// LoadSchema is the version of Offered.
const LoadSchema = "procfit.load/v1"

// Offered is what procfit load --json prints: one phase, and what offering it cost.
type Offered struct {
	Schema string `json:"schema"`
	Phase
	Load LoadCost `json:"load"`
}

// Memory is that of all processes of the target together; shared memory is counted once for each.
type Memory struct {
	RSSBytes     *int64 `json:"rss_bytes"`      // at the end of the span; null of a batch program
	PeakRSSBytes int64  `json:"peak_rss_bytes"` // since their start; of a batch program the most that was seen
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
	add := func(to, more *float64) *float64 {
		if to == nil || more == nil {
			return nil
		}
		return new(*to + *more)
	}
	g.CPUSeconds, g.BusySeconds = add(g.CPUSeconds, more.CPUSeconds), add(g.BusySeconds, more.BusySeconds)
}
