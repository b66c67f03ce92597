package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Port is where an agent listens, on its pod's loopback.
const Port = 9878

const (
	// TokenVariable is where an agent has the token that each question must bring.
	TokenVariable = "PROCFIT_AGENT_TOKEN"
	tokenHeader   = "Procfit-Token"
	host          = "agent" // of every question
)

// Look is what is seen of a target.
type Look struct {
	Procs      int    `json:"procs"`
	Source     string `json:"source"` // symbol, decoded
	GoVersion  string `json:"go_version"`
	MainModule string `json:"main_module"`
	NoGo       bool   `json:"no_go"`
	// Programs are the names of the target's processes if no Go program is among them.
	Programs []string `json:"programs"`
	Error    string   `json:"error"` // why Procs could not be read
	Env      *string  `json:"env"`   // its GOMAXPROCS variable; null: it has none, or it cannot be read
	// UID and GID are as whom it runs; null: not known.
	UID *int64 `json:"uid"`
	GID *int64 `json:"gid"`
}

// Reading is the Look as a trial judges it.
func (l Look) Reading() trial.Reading {
	r := trial.Reading{Procs: l.Procs, Source: l.Source, GoVersion: l.GoVersion, MainModule: l.MainModule, NoGo: l.NoGo, Programs: l.Programs}
	if l.Error != "" {
		r.Err = errors.New(l.Error)
	}
	return r
}

// Counted is what the kernel counted between two moments.
type Counted struct {
	journal.Usage
	Limits []journal.OuterLimit `json:"limits"` // every limit that is seen around the target
	// SchedLatencyP99Seconds is of the target's goroutines, as its runtime has it; null:
	// not readable.
	SchedLatencyP99Seconds *float64 `json:"sched_latency_p99_seconds"`
	Meter                  *Metered `json:"meter"` // null: the target has none
	Error                  string   `json:"error"`
}

// Metered is what a target counted itself, by the Meter of package maxprocs/live.
type Metered struct {
	Requests uint64 `json:"requests"` // that ended
	Failed   uint64 `json:"failed"`   // of these
	// P50Seconds and P99Seconds are from the kernel's receipt of a request; null: no request
	// has that.
	P50Seconds *float64 `json:"p50_seconds"`
	P99Seconds *float64 `json:"p99_seconds"`
}

// Answer is what came of one request.
type Answer struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
	Error  string `json:"error"`
}

// untilEnded asks for the end of a load's measured time; without it, its result is asked for.
const untilEnded = "?until=ended"

type progress struct {
	EndedAgo *time.Duration `json:"ended_ago"` // the measured time; null: it is not over
	Done     bool           `json:"done"`
	Result   *result        `json:"result"`
	Error    string         `json:"error"`
}

// result is a load.Result whose histograms can be written.
type result struct {
	load.Result
	Latency   []byte
	SendLag   []byte
	ByRequest [][]byte // the latency of each of PerRequest
}

func pack(r *load.Result) (*result, error) {
	p := &result{Result: *r}
	var err error
	if p.Latency, err = encode(r.Latency); err == nil {
		p.SendLag, err = encode(r.SendLag)
	}
	for _, one := range r.PerRequest {
		b, failed := encode(one.Latency)
		p.ByRequest, err = append(p.ByRequest, b), errors.Join(err, failed)
	}
	return p, err
}

func (r *result) unpack() (*load.Result, error) {
	u := r.Result
	var err error
	if u.Latency, err = decode(r.Latency); err != nil {
		return nil, fmt.Errorf("the latency histogram: %w", err)
	}
	if u.SendLag, err = decode(r.SendLag); err != nil {
		return nil, fmt.Errorf("the send lag histogram: %w", err)
	}
	whole := u.Latency != nil && len(r.ByRequest) == len(u.PerRequest)
	for i := 0; whole && i < len(u.PerRequest); i++ {
		one := &u.PerRequest[i]
		if one.Latency, err = decode(r.ByRequest[i]); err != nil {
			return nil, fmt.Errorf("the latency histogram of %s: %w", one.Name, err)
		}
		whole = one.Latency != nil
	}
	if !whole {
		return nil, errors.New("the agent did not send all latency histograms; --image probably names another version of procfit")
	}
	return &u, nil
}

func encode(h *hdrhistogram.Histogram) ([]byte, error) {
	if h == nil {
		return nil, nil
	}
	return h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

func decode(b []byte) (*hdrhistogram.Histogram, error) {
	if len(b) == 0 {
		return nil, nil
	}
	return hdrhistogram.Decode(b)
}
