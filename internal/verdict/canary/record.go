package canary

import (
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

const (
	// Name is the journal's file in a results folder.
	Name   = "canary.jsonl"
	Schema = "procfit.canary/v1"

	kindHeader = "header"
	kindSlice  = "slice"
	kindEnd    = "end"
)

// Header is the first line: what was to be done.
type Header struct {
	Schema    string              `json:"schema"`
	Kind      string              `json:"kind"`
	Name      string              `json:"name"`
	Started   time.Time           `json:"started"`
	Tool      journal.Tool        `json:"tool"`
	Object    string              `json:"object"` // whose pods are copied
	Namespace string              `json:"namespace"`
	Container string              `json:"container"`
	SHA256    string              `json:"sha256"`     // of the pod template
	Node      journal.Host        `json:"node"`       // that all pods run on
	QuotaCPUs *float64            `json:"quota_cpus"` // the container's CPU limit; null: none
	Services  []Service           `json:"services"`   // that send them requests
	Counting  []Counter           `json:"counting"`   // what else of the cluster counts them
	Rounds    [][]journal.Setting `json:"rounds"`     // the settings that are there at once, the control first
	Pods      int                 `json:"pods"`       // of each setting
	Share     float64             `json:"share"`      // of the endpoints, at most
	// HarmRatio is how far above the control's a query may be: 0.2 is 20 %.
	HarmRatio       float64 `json:"harm_ratio"`
	SliceSeconds    float64 `json:"slice_seconds"`
	DurationSeconds float64 `json:"duration_seconds"` // of each round
	WarmupSeconds   float64 `json:"warmup_seconds"`   // of each round, before its first slice
	Prometheus      string  `json:"prometheus,omitempty"`
	Queries         []Query `json:"queries"`
}

// Service is one that pods of ours stand in.
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
	// EffectRelaxed: a disruption budget of so many pods has them among the healthy ones, and
	// lets as many more of the user's go.
	EffectRelaxed Effect = "relaxed"
)

func (h Header) slice() time.Duration    { return seconds(h.SliceSeconds) }
func (h Header) warmup() time.Duration   { return seconds(h.WarmupSeconds) }
func (h Header) duration() time.Duration { return seconds(h.DurationSeconds) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Slices is how many a round has.
func (h Header) Slices() int { return int(h.duration() / h.slice()) }

// Lasts is how long all rounds take, their pods' starts aside.
func (h Header) Lasts() time.Duration {
	return time.Duration(len(h.Rounds)) * (h.warmup() + time.Duration(h.Slices())*h.slice())
}

// Most is how many pods of ours are there at once at most.
func (h Header) Most() (n int) {
	for _, settings := range h.Rounds {
		n = max(n, len(settings)*h.Pods)
	}
	return n
}

// Slice is a line of what all settings of a round did in the same time.
type Slice struct {
	Kind     string    `json:"kind"`
	Round    int       `json:"round"`
	Index    int       `json:"index"` // within the round
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds"`
	Settings []Seen    `json:"settings"`
}

func (s Slice) control() *Seen {
	for i := range s.Settings {
		if s.Settings[i].Procs == nil {
			return &s.Settings[i]
		}
	}
	return nil
}

// Seen is what one setting's pods did together; null where it is not known.
type Seen struct {
	journal.Setting
	Pods          []string `json:"pods"`
	ObservedProcs []*int   `json:"observed_procs"` // by pod
	Counted
	Requests *float64            `json:"requests"`
	Queries  map[string]*float64 `json:"queries"` // all but requests, by name
	Unknown  []string            `json:"unknown"` // why something is not known
}

// Counted is what the kernel and the Go runtime counted.
type Counted struct {
	PodSeconds             *float64 `json:"pod_seconds"` // the time that the counters span, of all pods together
	CPUSeconds             *float64 `json:"cpu_seconds"`
	RunQueueWaitSeconds    *float64 `json:"run_queue_wait_seconds"` // includes throttling
	Periods                *int64   `json:"periods"`
	ThrottledPeriods       *int64   `json:"throttled_periods"`
	SchedLatencyP99Seconds *float64 `json:"sched_latency_p99_seconds"` // of goroutines, by the runtime; of several pods the highest
}

// EndCode is how a canary came to its end.
type EndCode string

const (
	EndComplete    EndCode = "complete"
	EndHarm        EndCode = "harm"
	EndUnreached   EndCode = "unreached"   // no request came to any of its pods in half of a round
	EndTaken       EndCode = "taken"       // the cluster or someone else took a pod away
	EndNotStarted  EndCode = "not_started" // a pod did not come to serve
	EndInterrupted EndCode = "interrupted"
	EndFailed      EndCode = "failed"
)

// End is the last line.
type End struct {
	Kind   string    `json:"kind"`
	Time   time.Time `json:"time"`
	Code   EndCode   `json:"code"`
	Harm   *Harm     `json:"harm,omitempty"`
	Reason string    `json:"reason,omitempty"`
}
