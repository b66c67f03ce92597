package ps

import (
	"encoding/json"
	"io"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
)

// document is procfit.ps/v1. What is not known is null.
type document struct {
	Schema          string           `json:"schema"`
	Time            time.Time        `json:"time"`
	IntervalSeconds *float64         `json:"interval_seconds"` // null: counted from the beginning of each process
	Counters        string           `json:"counters"`         // where switches and waiting come from
	Processes       []process        `json:"processes"`
	Unreadable      []unreadableJSON `json:"unreadable"`
}

type process struct {
	PID          int        `json:"pid"`
	Name         string     `json:"name"`
	GoVersion    *string    `json:"go_version"`
	Procs        *int       `json:"procs"`
	ProcsSource  *string    `json:"procs_source"`
	ProcsUnknown string     `json:"procs_unknown,omitempty"` // why it could not be read
	SetBy        rule.SetBy `json:"set_by"`
	FitProcs     int        `json:"fit_procs"` // what suits its CPUs
	FitFrom      *string    `json:"fit_from"`  // what that follows from: limit or affinity
	FitCPUs      *float64   `json:"fit_cpus"`  // of that
	NumCPU       *int       `json:"num_cpu"`
	LimitCPUs    *float64   `json:"limit_cpus"`
	LimitFrom    *string    `json:"limit_from"`

	ThrottledRatio   *float64  `json:"throttled_ratio"`
	ThrottledSeconds *float64  `json:"throttled_seconds"` // summed over the group's run queues
	SchedLatency     quantiles `json:"sched_latency_seconds"`
	RunQueueWait     *float64  `json:"run_queue_wait_seconds"` // includes throttling
	Waiting          *float64  `json:"waiting_threads"`        // that a second of time, which is threads
	Switches         *float64  `json:"context_switches_per_second"`
	CPUs             *float64  `json:"cpu_seconds_per_second"`
	Threads          int       `json:"threads"`

	Findings []rule.Finding `json:"findings"`
}

type quantiles struct {
	P50 *float64 `json:"p50"`
	P99 *float64 `json:"p99"`
}

type unreadableJSON struct {
	PID    int    `json:"pid"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

// WriteJSON prints procfit.ps/v1, in one line or indented.
func WriteJSON(w io.Writer, snap observe.Snapshot, indent bool) error {
	out := document{
		Schema: "procfit.ps/v1", Time: snap.At, Counters: string(snap.Counters),
		Processes: []process{}, Unreadable: []unreadableJSON{},
	}
	if snap.Interval > 0 {
		out.IntervalSeconds = known(snap.Interval.Seconds(), true)
	}
	for _, p := range snap.Processes {
		out.Processes = append(out.Processes, newProcess(p))
	}
	for _, u := range snap.Unreadable {
		out.Unreadable = append(out.Unreadable, unreadableJSON{u.PID, u.Name, u.Reason})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(out)
}

func newProcess(p observe.Process) process {
	last := p.Last()
	out := process{
		PID: p.PID, Name: p.Name, ProcsUnknown: p.LiveUnknown, SetBy: p.SetBy,
		FitProcs: p.Fit.Procs, Threads: p.Threads, Findings: p.Findings,
		GoVersion:    known(p.Facts.GoVersion, p.Facts.GoVersion != ""),
		NumCPU:       known(p.NumCPU, p.NumCPU > 0),
		ProcsSource:  known(p.ProcsSource(), p.ProcsSource() != ""),
		SchedLatency: quantiles{known(last.LatencyAt(0.5)), known(last.LatencyAt(0.99))},
		RunQueueWait: known(last.RunQueueWait.Seconds(), last.Counted),
		Switches:     known(last.Switches()),
		CPUs:         known(last.CPUs()),
	}
	out.Procs = known(p.Procs())
	out.Waiting = known(last.Waiting())
	if from, ok := fitFrom(p); ok {
		out.FitFrom, out.FitCPUs = known(string(from.What), true), &from.CPUs
	}
	if l, ok := p.Facts.Tightest(); ok {
		out.LimitCPUs, out.LimitFrom = &l.CPUs, &l.File
	}
	if t := p.Throttling; t != nil {
		out.ThrottledRatio = known(t.Ratio(), t.Periods > 0)
		out.ThrottledSeconds = known(t.Throttled.Seconds(), t.Periods > 0)
	}
	return out
}

// known is the value, or nil when it is not.
func known[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}
