package journal

import (
	"fmt"
	"time"
)

// Canary is what the header of a canary has in addition. A canary is a sweep under the traffic
// that a Service gets anyway: its trials are slices of time, and all trials of a block are
// slices of the same time.
type Canary struct {
	Services []Service `json:"services"` // that send requests to the pods
	Counting []Counter `json:"counting"` // what else of the cluster counts the pods
	// Rounds are the settings that run at the same time, the control first. A round lasts
	// the header's duration, and its warm-up is before its first slice.
	Rounds       [][]Setting `json:"rounds"`
	Share        float64     `json:"share"` // of the endpoints, at most
	SliceSeconds float64     `json:"slice_seconds"`
	Prometheus   string      `json:"prometheus,omitempty"`
	Queries      []Query     `json:"queries"`
}

// Service is one that has canary pods behind it.
type Service struct {
	Name      string `json:"name"`
	Endpoints int    `json:"endpoints"` // ready pods of the user's
}

// Counter goes by all pods of these labels.
type Counter struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Effect Effect `json:"effect"`
}

func (c Counter) String() string { return c.Kind + " " + c.Name }

// Effect is what a Counter makes of pods that are not its own.
type Effect string

const (
	// EffectMean: an autoscaler has them in the mean that it goes by.
	EffectMean Effect = "mean"
	// EffectBlocked: a disruption budget allows nothing while they are there. Of a share, or
	// of what may be unavailable, it wants the scale of every pod's owner, and a ConfigMap
	// has none (Kubernetes' pkg/controller/disruption, getExpectedScale).
	EffectBlocked Effect = "blocked"
	// EffectRelaxed: a disruption budget of N pods has them among the healthy ones, and
	// lets as many more of the user's go.
	EffectRelaxed Effect = "relaxed"
)

// Words are what it means that something counts the pods.
func (e Effect) Words() string {
	switch e {
	case EffectMean:
		return "selects them too, and has them in the mean that it scales by"
	case EffectBlocked:
		return "selects them too, and allows no voluntary disruption while they are there: it cannot tell the scale of what owns them"
	}
	return "selects them too, and counts them as healthy: while they are there it lets as many more of yours go"
}

// EndCode is how a canary, or a live experiment, came to its end.
type EndCode string

const (
	EndComplete    EndCode = "complete"
	EndHarm        EndCode = "harm"
	EndUnreached   EndCode = "unreached"   // no request came to any of its pods in half of a round
	EndTaken       EndCode = "taken"       // the cluster or someone else took a pod away, or something else the process
	EndDecided     EndCode = "decided"     // nothing is open any longer, before the time is over
	EndCarryOver   EndCode = "carry_over"  // of a live experiment: what a value leaves behind does not end
	EndNotStarted  EndCode = "not_started" // a pod did not come to serve
	EndInterrupted EndCode = "interrupted"
	EndFailed      EndCode = "failed"
)

// End is the last line of a canary, and of a live experiment.
type End struct {
	Kind   string    `json:"kind"`
	Time   time.Time `json:"time"`
	Code   EndCode   `json:"code"`
	Harm   *Harm     `json:"harm,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// HarmCode is what a setting suffers.
type HarmCode string

const (
	HarmEnded   HarmCode = "ended"   // a container of it did, or was restarted
	HarmUnready HarmCode = "unready" // for too long
	HarmQuery   HarmCode = "query"   // proven above the control's or the start value's, and by more than allowed
	// Of a live experiment:
	HarmBudget HarmCode = "budget" // slow and failed requests have used the budget up
	HarmPanic  HarmCode = "panic"  // a handler panicked
)

// Harm is why a canary, or a live experiment, ends before its time.
type Harm struct {
	Code    HarmCode `json:"code"`
	Setting string   `json:"setting"`
	Pod     string   `json:"pod,omitempty"`
	// Detail is how a container ended, or what a pod that is not ready says.
	Detail string `json:"detail,omitempty"`
	// Query was Ratio times the control's, or the start value's, over the number of Slices.
	// Ratio is null where that was 0.
	Query  string   `json:"query,omitempty"`
	Slices int      `json:"slices,omitempty"`
	Ratio  *float64 `json:"ratio,omitempty"`
}

// checkCanary is for a header that anybody may have written.
func (h Header) checkCanary() error {
	c, l := h.Canary, h.Load
	if c != nil && !(c.SliceSeconds >= 1 && l.DurationSeconds >= c.SliceSeconds && l.DurationSeconds < 1e7 && l.WarmupSeconds >= 0 && l.WarmupSeconds < 1e7) {
		return fmt.Errorf("the header has slices of %g s and rounds of %g s, which are not a whole number of slices", c.SliceSeconds, l.DurationSeconds)
	}
	return nil
}
