package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path"
	"runtime"
	"time"
)

// Protocol is the version of the control endpoint.
const Protocol = 1

// processStart stands for this process: a driver sees by it that the program was restarted.
var processStart = time.Now().UnixNano()

// State is the answer to GET state, POST lease and POST release.
type State struct {
	Protocol  int     `json:"protocol"`
	PID       int     `json:"pid"`
	Started   int64   `json:"started"` // Unix nanoseconds, of this package's initialization
	Go        string  `json:"go"`
	NumCPU    int     `json:"num_cpu"`
	Limit     float64 `json:"limit,omitempty"` // the tightest CPU limit, in CPUs
	Start     int     `json:"start"`           // GOMAXPROCS before the experiment
	Procs     int     `json:"procs"`           // GOMAXPROCS now
	Min       int     `json:"min"`
	Max       int     `json:"max"`
	Leased    bool    `json:"leased"`
	LeftMS    int64   `json:"left_ms"`
	Switches  int     `json:"switches"`
	Ended     string  `json:"ended,omitempty"` // why the last lease ended
	Off       bool    `json:"off"`
	Unit      string  `json:"unit"`
	LatencyBy string  `json:"latency_by"` // arrival, handler or none: what the Meter has measured so far
}

// Switched is the answer to POST procs.
type Switched struct {
	Before int   `json:"before"`
	Procs  int   `json:"procs"`
	CallNS int64 `json:"call_ns"` // how long the call took: it waits for the end of a running collection
	At     int64 `json:"at"`      // Unix nanoseconds, when the call had returned
}

// body is the body of a POST.
type body struct {
	Lease string `json:"lease"`
	TTLms int64  `json:"ttl_ms"`
	Procs int    `json:"procs"`
	Seq   int64  `json:"seq"`
}

// refusal is the answer to a request that was not carried out.
type refusal struct {
	status int
	Code   string `json:"error"`
	Detail string `json:"detail"`
}

func refuse(status int, code, detail string) *refusal { return &refusal{status, code, detail} }

func (a *Agent) state() State {
	now := runtime.GOMAXPROCS(0)
	s := State{Protocol: Protocol, PID: os.Getpid(), Started: processStart, Go: runtime.Version(), NumCPU: runtime.NumCPU(), Limit: a.place.limit,
		Start: now, Procs: now, Min: a.min, Max: a.most(), Leased: a.lease != "", Switches: a.switches, Ended: a.ended, Off: a.off, Unit: a.unit}
	if s.Leased {
		s.Start, s.LeftMS = a.start, time.Until(a.expires).Milliseconds()
	} else {
		s.Limit = look().limit
	}
	switch {
	case a.meter.stamped.Load() != 0 || a.meter.arrival.sum.Load() > 0:
		s.LatencyBy = "arrival"
	case a.meter.ended.Load() > 0:
		s.LatencyBy = "handler"
	default:
		s.LatencyBy = "none"
	}
	return s
}

// endpoints are what the control endpoint answers, by the last part of the path.
var endpoints = map[string]string{"state": http.MethodGet, "metrics": http.MethodGet, "lease": http.MethodPost, "procs": http.MethodPost, "release": http.MethodPost}

// ServeHTTP is the control endpoint: GET state and metrics; POST lease, procs and release
// with a JSON object. It has no authentication of its own: whoever reaches it may change
// GOMAXPROCS between Min and Max. Mount it behind your own, or use Listen. It refuses
// requests of browsers and those that came through a proxy.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, no := a.answer(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if no != nil {
		w.WriteHeader(no.status)
		answer = no
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (a *Agent) answer(w http.ResponseWriter, r *http.Request) (any, *refusal) {
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if r.Header.Get(name) != "" {
			return nil, refuse(403, "browser", "requests of web pages are refused (header "+name+")")
		}
	}
	for _, name := range []string{"Via", "Forwarded", "X-Forwarded-For"} {
		if r.Header.Get(name) != "" {
			return nil, refuse(403, "proxy", "requests through a proxy are refused (header "+name+")")
		}
	}
	what := path.Base(r.URL.Path)
	method, ok := endpoints[what]
	switch {
	case !ok:
		return nil, refuse(404, "path", "expected state, metrics, lease, procs or release at the end of the path")
	case r.Method != method:
		w.Header().Set("Allow", method)
		return nil, refuse(405, "method", "expected "+method+" for "+what)
	case what == "metrics":
		return a.meter.Read(), nil // without the lock: a change may be waiting for a collection
	}
	var q body
	if method == http.MethodPost {
		if no := a.read(w, r, &q); no != nil {
			return nil, no
		}
	}
	var refused error
	if what == "lease" || what == "procs" {
		refused = a.asked()
	}
	a.mu.Lock()
	answer, s, no := a.do(what, q, refused)
	a.mu.Unlock()
	a.tell(s)
	return answer, no
}

// longest is the largest body that is accepted, and slowest the time that it may take.
const (
	longest = 4096
	slowest = 5 * time.Second
)

func (a *Agent) read(w http.ResponseWriter, r *http.Request, q *body) *refusal {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(a.patience))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longest))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return refuse(413, "large", "expected at most 4096 bytes")
	case err != nil:
		return refuse(408, "slow", "the body did not come within "+a.patience.String())
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return refuse(400, "json", "expected a JSON object with the fields of this request: "+err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return refuse(400, "json", "expected one JSON object")
	}
	return nil
}

// do carries a request out, under the lock. refused is what Refuse has returned.
func (a *Agent) do(what string, q body, refused error) (any, Switch, *refusal) {
	switch what {
	case "lease":
		if q.TTLms > int64(LongestLease/time.Millisecond) {
			q.TTLms = int64(LongestLease/time.Millisecond) + 1 // too long is too long, without overflow
		}
		s, no := a.take(q.Lease, time.Duration(q.TTLms)*time.Millisecond, refused)
		return a.state(), s, no
	case "procs":
		x, s, no := a.change(q.Lease, q.Procs, q.Seq, refused)
		return x, s, no
	case "release":
		if a.lease == "" || a.lease != q.Lease {
			return nil, Switch{}, a.noLease()
		}
		s := a.end("the experiment released it")
		return a.state(), s, nil
	}
	return a.state(), Switch{}, nil
}
