package journal

import "fmt"

// Live is what the header of a live experiment has in addition. A live experiment is a
// sweep of one running process, which changes its own GOMAXPROCS under the traffic that it
// has: its trials are slices of time, and a block has one of each value.
type Live struct {
	PID       int     `json:"pid"`  // as the program itself knows it
	Unit      string  `json:"unit"` // what a piece of work is called: request, message
	Start     int     `json:"start"`
	LimitCPUs float64 `json:"limit_cpus,omitempty"` // the tightest CPU limit; absent: none
	// LimitUnknown reports that no CPU limit was read, and not each could be.
	LimitUnknown bool `json:"limit_unknown,omitempty"`
	// SizedAtStart are modules of the program that take a size from GOMAXPROCS once, and what
	// they size; absent: none is known.
	SizedAtStart []string `json:"sized_at_start,omitempty"`
	// LatencyBy is arrival where latency counts from the kernel's receipt of a request, metrics
	// where it is the program's own. Only then it decides.
	LatencyBy       string  `json:"latency_by"`
	SliceSeconds    float64 `json:"slice_seconds"`   // the mean; each is up to 20% shorter or longer
	BurnInSeconds   float64 `json:"burn_in_seconds"` // before each slice, at first
	BaselineSeconds float64 `json:"baseline_seconds"`
	SlowSeconds     float64 `json:"slow_seconds"` // what takes longer is slow; 0: that is not known
	// Budget is how many slow or failed requests the experiment may cost, beyond those that
	// the start value has.
	Budget float64 `json:"budget"`
	// InSystemMax is how many requests were waiting or being served at most, before anything
	// was changed.
	InSystemMax       float64 `json:"in_system_max"`
	RequestsPerSecond float64 `json:"requests_per_second"` // of the baseline
	CPUs              float64 `json:"cpus"`                // used, in the baseline
	// Uncounted reports that the program's requests are not known: CPU time is compared per
	// second, and no request is budgeted.
	Uncounted bool `json:"uncounted,omitempty"`
	// Metrics is where the requests are from, if they are from the program's own metrics.
	Metrics *Metrics `json:"metrics,omitempty"`
	// Seen are the metrics that are seen of the program from outside. Those of each slice are
	// the metrics of its trial.
	Seen []string `json:"seen,omitempty"`
	// Same reports that the start value was compared with itself, for a check of the
	// experiment.
	Same bool `json:"same,omitempty"`
	// Prometheus was asked the queries at the end of each slice: the answers are the metrics
	// of the trials.
	Prometheus string  `json:"prometheus,omitempty"`
	Queries    []Query `json:"queries,omitempty"`
}

// Slice is what a trial of a live experiment has in addition: what the process did with one
// value, after the burn-in. The slices before the blocks, all of the start value, are
// pilots.
type Slice struct {
	Before        int      `json:"before"` // the value of the slice before it; 0: none
	BurnInSeconds float64  `json:"burn_in_seconds"`
	CallSeconds   float64  `json:"call_seconds"` // the change took, which waits for the end of a running collection
	Requests      uint64   `json:"requests"`     // that ended
	Failed        uint64   `json:"failed"`       // as far as that is known
	Slow          uint64   `json:"slow"`         // in the same way
	CPUSeconds    float64  `json:"cpu_seconds"`  // of the process, user and system
	P50Seconds    *float64 `json:"p50_seconds"`  // from arrival; null: not known
	P99Seconds    *float64 `json:"p99_seconds"`  // in the same way
	InSystemMax   float64  `json:"in_system_max"`
	// Beyond is the metric for which the value was left, if it was for one that is seen from
	// outside.
	Beyond *Beyond `json:"beyond,omitempty"`
	Halves [2]Half `json:"halves"` // of the slice, by time
}

// Metrics are those of a program for Prometheus that count its requests.
type Metrics struct {
	URL       string `json:"url"`
	Counter   string `json:"counter,omitempty"`
	Histogram string `json:"histogram,omitempty"` // of latency
	Handler   string `json:"handler,omitempty"`   // whose series count, of those of Caddy that a request passes
	// FailuresUnknown reports that the labels of these do not have the status of every answer, so that
	// nobody knows which requests failed.
	FailuresUnknown bool `json:"failures_unknown,omitempty"`
}

// Beyond is a metric that was further above what the baseline had than is allowed.
type Beyond struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Usual  float64 `json:"usual"` // the most in the baseline
}

// Half is half of a slice.
type Half struct {
	Seconds    float64  `json:"seconds,omitempty"`
	Requests   uint64   `json:"requests"`
	CPUSeconds float64  `json:"cpu_seconds"`
	P50Seconds *float64 `json:"p50_seconds"`
}

// checkLive is for a header that anybody may have written: the plan's settings are the start
// value and others, each with a number.
func (h Header) checkLive() error {
	l := h.Live
	if l == nil {
		return nil
	}
	if !(l.SliceSeconds > 0) || l.Start < 1 || len(h.Plan.Settings) < 2 {
		return fmt.Errorf("the header has slices of %g s, a GOMAXPROCS of %d at start, and %d settings", l.SliceSeconds, l.Start, len(h.Plan.Settings))
	}
	for _, s := range h.Plan.Settings {
		if s.Procs == nil || *s.Procs < 1 {
			return fmt.Errorf("the header has the setting %q without a number", s.Label)
		}
	}
	return nil
}
