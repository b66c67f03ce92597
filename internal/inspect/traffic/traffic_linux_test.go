package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/maxprocs/live"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
)

// m is the Meter of this process, which is the one that is watched.
var m live.Meter

// served is where the requests of this process go.
func served(t *testing.T) (url string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	handler := m.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond)
		if r.URL.Path == "/bad" {
			w.WriteHeader(500)
		}
	}))
	srv := &http.Server{Handler: handler, ConnContext: m.ConnContext}
	go srv.Serve(m.Listener(l))
	t.Cleanup(func() { srv.Close() })
	return "http://" + l.Addr().String()
}

func TestWatch(t *testing.T) {
	url := served(t)
	get := func(path string) {
		r, err := http.Get(url + path)
		if err != nil {
			t.Error(err)
			return
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	// An answer may be here before the Meter has counted it.
	counted := func(requests uint64) {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if now := m.Read(); now.Requests >= requests && now.Arrival.Count() >= requests {
				return
			}
		}
		t.Errorf("after a minute not %d requests: %+v", requests, m.Read())
	}
	before := m.Read().Requests + 1
	get("/before") // which is not in what is watched
	counted(before)
	ctx, cancel := context.WithCancel(t.Context())
	begun := false
	w, err := Watch(ctx, os.Getpid(), time.Minute, func(procs int) {
		begun = procs > 0
		go func() {
			for range 20 {
				get("/")
			}
			get("/bad")
			counted(before + 21)
			cancel() // the wait ends, and what was counted is kept
		}()
	})
	if err != nil || !begun {
		t.Fatal(err, begun)
	}
	if w.Requests != 21 || w.Failed != 1 || w.Arrival.Count() != 21 || w.CPU < 0 || w.Duration >= time.Minute {
		t.Errorf("%+v", w)
	}
	if p50 := w.latency().Quantile(0.5); p50 < 2*time.Millisecond {
		t.Errorf("p50 %v, expected at least the 2 ms of the handler", p50)
	}
	var out, doc strings.Builder
	must.OK(t, w.WriteText(&out, text.Options{Width: 100}))
	must.Say(t, out.String(), "under its own traffic", "GOMAXPROCS", "Requests", "1 failed", "CPU per request", "Latency", "p99", ", of 21 requests", "In the handler", "Kind of work", "; the rest is waiting")
	var got trafficJSON
	if err := w.WriteJSON(&doc); err != nil || json.Unmarshal([]byte(doc.String()), &got) != nil || got.Requests == nil || *got.Requests != 21 || got.Latency.N != 21 || got.LatencyBy != "arrival" || got.CPUSecondsEach == nil || got.CPUShare == nil || *got.CPUShare > 0.9 {
		t.Errorf("%v\n%s", err, doc.String())
	}
}

// TestNothing: no request ended, and no figure is made up.
func TestNothing(t *testing.T) {
	served(t)
	w := must.Get(Watch(t.Context(), os.Getpid(), 10*time.Millisecond, func(int) {}))(t)
	var out, doc strings.Builder
	if err := w.WriteText(&out, text.Options{Width: 100}); err != nil || !strings.Contains(out.String(), "no request ended") || strings.Contains(out.String(), "p99") || strings.Contains(out.String(), "NaN") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := w.WriteJSON(&doc); err != nil || !strings.Contains(doc.String(), `"latency": null`) || !strings.Contains(doc.String(), `"cpu_seconds_each": null`) || !strings.Contains(doc.String(), `"cpu_share": null`) || strings.Contains(out.String(), "Kind of work") {
		t.Errorf("%v\n%s", err, doc.String())
	}
}

// TestHijacked: of connections that handlers took over no latency is claimed.
func TestHijacked(t *testing.T) {
	var out strings.Builder
	w := Watched{Metered: true, Duration: time.Second, Metrics: live.Metrics{Requests: 3, Hijacked: 3}}
	if err := w.WriteText(&out, text.Options{Width: 100}); err != nil || strings.Contains(strings.ToLower(out.String()), "latency") || !strings.Contains(out.String(), "3 per second") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestOtherValues: the command that is advised has a value other than the one at start, and none
// above what the program may use.
func TestOtherValues(t *testing.T) {
	for _, c := range []struct {
		procs   int
		limit   float64
		advised string // empty: there is no other value
	}{
		{procs: 2, advised: "procfit live :80 --procs auto"},
		{procs: 2, limit: 1, advised: "procfit live :80 --procs auto"},
		{procs: 1, advised: "procfit live :80 --procs 1,2"},
		{procs: 1, limit: 1.5, advised: "procfit live :80 --procs 1,2"},
		{procs: 1, limit: 1},
	} {
		var out strings.Builder
		w := Watched{PID: 7, Port: 80, Procs: c.procs, Limit: c.limit, Duration: time.Second}
		must.OK(t, w.WriteText(&out, text.Options{Width: 100}))
		if advised := strings.Contains(out.String(), "--procs"); advised != (c.advised != "") || !strings.Contains(out.String(), c.advised+"\n") {
			t.Errorf("%+v:\n%s", c, out.String())
		}
	}
}

// TestNoMeter: of a program without a Meter what is seen is shown, and its requests are not
// known, which is not 0. A process that is none is an error.
func TestNoMeter(t *testing.T) {
	if _, err := Watch(t.Context(), 99999999, time.Millisecond, func(int) {}); !errors.Is(err, meter.ErrGone) {
		t.Error(err)
	}
	w := Watched{PID: 7, Procs: 2, Duration: time.Second, Metrics: live.Metrics{CPU: 0.5}, Seen: map[string]float64{"unread": 1.5, "sched_p99": 0.002}}
	var out, doc strings.Builder
	if err := w.WriteText(&out, text.Options{Width: 100}); err != nil || w.WriteJSON(&doc) != nil {
		t.Fatal(err)
	}
	must.Say(t, out.String(), "Connections with unread requests  1.5", "Scheduling latency p99            2.00 ms", "0.5 CPUs", "its requests are not known", "procfit live 7 --rate 100 --url URL", "procfit live 7 --procs auto")
	if strings.Contains(out.String(), "per second, ") || strings.Contains(out.String(), "no request ended") || !strings.Contains(doc.String(), `"requests": null`) || !strings.Contains(doc.String(), `"unread": 1.5`) {
		t.Errorf("%s\n%s", out.String(), doc.String())
	}
}

// idle ends when its input does.
const idle = `package main

import (
	"io"
	"os"
)

func main() {
	os.Stdout.WriteString("ready\n")
	io.Copy(io.Discard, os.Stdin)
}
`

// TestGone: of a program without a Meter that ends while it is watched, the error says so.
func TestGone(t *testing.T) {
	c := child.Start(t, exec.Command(built.Program{Name: "idle", Files: map[string]string{"go.mod": "module idle\n\ngo 1.21\n", "main.go": idle}}.Run(t)))
	c.Line()
	if _, err := Watch(t.Context(), c.PID(), time.Millisecond, func(int) { c.End() }); !errors.Is(err, meter.ErrGone) {
		t.Error(err)
	}
}
