package traffic

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/maxprocs/live"
)

// served is a program with a Meter: its socket, and where its requests go.
func served(t *testing.T) (socket, url string) {
	t.Helper()
	var meter live.Meter
	agent := live.New(&meter, live.Max(8))
	socket = filepath.Join(t.TempDir(), "s")
	control, err := agent.Listen(socket)
	if err != nil {
		t.Skip(err) // not on every system
	}
	t.Cleanup(func() { control.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := meter.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond)
		if r.URL.Path == "/bad" {
			w.WriteHeader(500)
		}
	}))
	srv := &http.Server{Handler: handler, ConnContext: meter.ConnContext}
	go srv.Serve(meter.Listener(l))
	t.Cleanup(func() { srv.Close() })
	return socket, "http://" + l.Addr().String()
}

func TestWatch(t *testing.T) {
	socket, url := served(t)
	get := func(path string) {
		r, err := http.Get(url + path)
		if err != nil {
			t.Error(err)
			return
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	get("/before") // which is not counted
	ctx, cancel := context.WithCancel(t.Context())
	begun := false
	w, err := Watch(ctx, meter.Open(socket), time.Minute, func(pid, procs int) {
		begun = pid > 0 && procs > 0
		go func() {
			for range 20 {
				get("/")
			}
			get("/bad")
			cancel() // the wait ends, and what was counted is kept
		}()
	})
	if err != nil || !begun {
		t.Fatal(err, begun)
	}
	if w.Requests != 21 || w.Failed != 1 || w.Arrival.Count() != 21 || w.CPU < 0 || w.Duration > 20*time.Second {
		t.Errorf("%+v", w)
	}
	if p50 := w.latency().Quantile(0.5); p50 < 2*time.Millisecond {
		t.Errorf("p50 %v, expected at least the 2 ms of the handler", p50)
	}
	var out, doc strings.Builder
	if err := w.WriteText(&out, text.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"under its own traffic", "GOMAXPROCS", "Requests", "1 failed", "CPU per request", "Latency", "p99", "In the handler", "Kind of work", "; the rest is waiting"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	var got trafficJSON
	if err := w.WriteJSON(&doc); err != nil || json.Unmarshal([]byte(doc.String()), &got) != nil || got.Requests != 21 || got.Latency.N != 21 || got.LatencyBy != "arrival" || got.CPUSecondsEach == nil || got.CPUShare == nil || *got.CPUShare > 0.9 {
		t.Errorf("%v\n%s", err, doc.String())
	}
}

// TestNothing: no request ended, and no figure is made up.
func TestNothing(t *testing.T) {
	socket, _ := served(t)
	w, err := Watch(t.Context(), meter.Open(socket), 10*time.Millisecond, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
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
	w := Watched{Duration: time.Second, Metrics: live.Metrics{Requests: 3, Hijacked: 3}}
	if err := w.WriteText(&out, text.Options{Width: 100}); err != nil || strings.Contains(strings.ToLower(out.String()), "latency") || !strings.Contains(out.String(), "3 per second") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestOddEndpoints: what does not answer as a program with a Meter does is an error with words.
func TestOddEndpoints(t *testing.T) {
	state := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }
	}
	starts, reads := 0, 0
	metrics := func(second string) http.HandlerFunc { // the state, and two readings of the Meter
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/state" {
				io.WriteString(w, `{"protocol": 1, "started": 7}`)
				return
			}
			if reads++; reads%2 == 1 {
				io.WriteString(w, `{"at": 1, "requests": 5, "failed": 3, "arrival": {"counts": [0, 4]}}`)
				return
			}
			io.WriteString(w, second)
		}
	}
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"another service":  {state("<html>"), "is not valid: it is not an endpoint of maxprocs/live"},
		"a huge answer":    {state(strings.Repeat(" ", 1<<20+1)), "more than 1 MiB"},
		"another protocol": {state(`{"protocol": 2}`), "version 2 of the protocol, expected 1"},
		"refused": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(403)
			io.WriteString(w, `{"error":"proxy","detail":"requests through a proxy are refused"}`)
		}, "refused: 403 Forbidden requests through a proxy"},
		"fewer failures": {metrics(`{"at": 2000000, "requests": 6, "failed": 2, "arrival": {"counts": [0, 5]}}`), "was restarted during the measurement"},
		"a lost bucket":  {metrics(`{"at": 2000000, "requests": 6, "failed": 3, "arrival": {"counts": [9]}}`), "was restarted during the measurement"},
		"many buckets":   {metrics(`{"at": 2000000, "requests": 6, "failed": 3, "arrival": {"counts": [` + strings.Repeat("4,", 999) + `9]}}`), "more buckets than one of maxprocs/live"},
		"set back":       {metrics(`{"at": 1, "requests": 6, "failed": 3, "arrival": {"counts": [0, 5]}}`), "the clock of the program was set back during the measurement: start again"},
		"another clock":  {metrics(`{"at": 90000000000000, "requests": 6, "failed": 3, "arrival": {"counts": [0, 5]}}`), "its clock and the clock here differ by"},
		"restarted": {func(w http.ResponseWriter, r *http.Request) {
			starts++
			json.NewEncoder(w).Encode(map[string]any{"protocol": 1, "started": starts, "at": starts, "requests": 5})
		}, "was restarted during the measurement"},
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Skip(err)
			}
			srv := &http.Server{Handler: tc.handler}
			go srv.Serve(l)
			defer srv.Close()
			if _, err := Watch(t.Context(), meter.Open(socket), time.Millisecond, func(int, int) {}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := Watch(t.Context(), meter.Open(missing), time.Millisecond, func(int, int) {}); err == nil || !strings.Contains(err.Error(), "no such socket") || meter.IsSocket(missing) {
		t.Errorf("of none: %v", err)
	}
}
