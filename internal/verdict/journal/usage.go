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
	BesideCPUSeconds    *float64         `json:"beside_cpu_seconds,omitempty"` // of the neighbour of --beside; it is in no other figure but busy_ratio
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

// OuterLimit is a CPU limit around the target that the setting did not set: of a group
// above, or of the group that procfit itself runs in. Others may share it, and so
// what of it is throttled need not be the target's doing.
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

// Offered is what procfit load --json prints: one phase, and what offering it cost.
type Offered struct {
	Phase
	Load LoadCost `json:"load"`
}
