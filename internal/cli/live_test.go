package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// TestLiveProgram: how an experiment ends that the program does not go along with.
func TestLiveProgram(t *testing.T) {
	var m maxlive.Meter
	var refusal error
	agent := maxlive.New(&m, maxlive.Max(8), maxlive.Refuse(func() error { return refusal }))
	socket := filepath.Join(t.TempDir(), "s")
	control, err := agent.Listen(socket)
	if err != nil {
		t.Skip(err) // not on every system
	}
	defer control.Close()
	start := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(start)
	ctx := t.Context()
	begun := func() *liveProgram {
		t.Helper()
		p := &liveProgram{client: meter.Open(socket), lease: hex.EncodeToString(random())}
		s, err := p.client.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p.state = s
		if err := p.Lease(ctx); err != nil {
			t.Fatal(err)
		}
		return p
	}
	ends := func(what string, err error, code journal.EndCode, harm bool) {
		t.Helper()
		var end *live.EndError
		if !errors.As(err, &end) || end.Code != code || end.Reason == "" || (end.Harm != nil) != harm {
			t.Errorf("%s: %v, %+v; expected %s", what, err, end, code)
		}
	}

	p := begun()
	if _, err := p.Set(ctx, start+1); err != nil || runtime.GOMAXPROCS(0) != start+1 {
		t.Fatal(err)
	}
	second := &liveProgram{client: p.client, lease: hex.EncodeToString(random()), state: p.state}
	ends("a second experiment", second.Lease(ctx), journal.EndFailed, false)
	runtime.GOMAXPROCS(start + 2)
	_, err = p.Set(ctx, start)
	ends("set by something else", err, journal.EndTaken, false)
	if runtime.GOMAXPROCS(0) != start+2 {
		t.Error("what something else has set is not kept")
	}
	_, err = p.Set(ctx, start)
	ends("no lease", err, journal.EndTaken, false)
	runtime.GOMAXPROCS(start)

	p = begun()
	refusal = errors.New("draining")
	ends("refused", p.Lease(ctx), journal.EndTaken, false)
	refusal = nil

	p = begun()
	if _, err := p.Read(ctx); err != nil {
		t.Fatal(err)
	}
	p.past.At += int64(time.Hour)
	_, err = p.Read(ctx)
	ends("its clock was set back", err, journal.EndFailed, false)
	if _, err := p.Set(ctx, start+1); err != nil {
		t.Fatal(err)
	}
	if err := p.Lease(ctx); err != nil {
		t.Errorf("renewed: %v", err)
	}
	runtime.GOMAXPROCS(start + 2)
	if err := p.Release(ctx); err != nil || p.after != start+2 {
		t.Errorf("released: %v, at %d, which something else has set to %d", err, p.after, start+2)
	}
	runtime.GOMAXPROCS(start)
	ends("renewed after its end", p.Lease(ctx), journal.EndTaken, false)
	if err := p.Release(ctx); err != nil || p.after != start {
		t.Errorf("released: %v, at %d", err, p.after)
	}

	p = begun()
	p.state.Started++ // as if this were another process
	ends("restarted, seen by the lease", p.Lease(ctx), journal.EndHarm, true)
	if _, err := p.Read(ctx); err != nil {
		t.Fatal(err)
	}
	p.past.Requests++
	_, err = p.Read(ctx)
	ends("restarted, seen by the counts", err, journal.EndHarm, true)
	if err := p.Release(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = p.Set(ctx, start)
	ends("restarted, without a lease", err, journal.EndHarm, true)
	agent.Off()
	ends("off", p.Lease(ctx), journal.EndTaken, false)
	control.Close()
	ends("gone", p.Lease(ctx), journal.EndHarm, true)
	_, err = p.Read(ctx)
	ends("gone, seen by a reading", err, journal.EndHarm, true)
	_, err = p.Set(ctx, start)
	ends("gone, seen by a change", err, journal.EndHarm, true)
}

// TestLiveLiar: a program that answers with another value than it was asked for ends the
// experiment, which would compare a value with itself. So does one whose CPU time cannot be,
// also if each look at it alone could.
func TestLiveLiar(t *testing.T) {
	reads, more := 0, 0.25
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			reads++
			fmt.Fprintf(w, `{"at": %d, "requests": %d, "cpu": %g}`, time.Duration(reads)*250*time.Millisecond, reads, more*float64(reads))
			return
		}
		io.WriteString(w, `{"before": 2, "procs": 2}`)
	}))
	defer server.Close()
	client, err := meter.Target{Name: server.URL}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := &liveProgram{client: client}
	var end *live.EndError
	if _, err := p.Set(t.Context(), 1); !errors.As(err, &end) || end.Code != journal.EndFailed || end.Reason != "the program was asked for GOMAXPROCS 1, and answers that it is 2" {
		t.Errorf("%v", err)
	}
	if _, err := p.Set(t.Context(), 2); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		more float64 // CPU seconds in a look of 0.25 s, of 2 CPUs
		want string
	}{{0.5, ""}, {1, "cannot be: 2 CPUs cannot give as much"}, {1e17, "reports 1e+17 s of CPU time in 250 ms"}} {
		p, err = &liveProgram{client: client, state: maxlive.State{NumCPU: 2}}, nil
		reads, more = 0, c.more
		for n := 0; n < 20 && err == nil; n++ {
			_, err = p.Read(t.Context())
		}
		if errors.As(err, &end) != (c.want != "") || c.want != "" && (end.Code != journal.EndFailed || !strings.Contains(end.Reason, c.want)) {
			t.Errorf("%g s in each look: %v", c.more, err)
		}
	}
}

// TestLiveSeveral: another program that answers is no restart if the first one, or a third,
// answers too, as behind a load balancer. It is no wrong number either.
func TestLiveSeveral(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		n := asked % 2 // whose turn it is
		switch r.URL.Path {
		case "/metrics":
			fmt.Fprintf(w, `{"at": %d, "requests": %d, "cpu": %d}`, time.Duration(asked)*time.Second, 5000*n+asked, 5000*n+asked)
		case "/procs":
			w.WriteHeader(http.StatusGone)
			io.WriteString(w, `{"error": "no_lease", "detail": "there was none"}`)
		default:
			json.NewEncoder(w).Encode(maxlive.State{Protocol: maxlive.Protocol, NumCPU: 2, Started: int64(n + 1)})
		}
	}))
	defer server.Close()
	client, err := meter.Target{Name: server.URL}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begin := func(started int64) *liveProgram {
		return &liveProgram{client: client, state: maxlive.State{NumCPU: 2, Started: started}}
	}
	read := func(first int) error {
		p := begin(1)
		asked = first
		return cmp.Or(second(p.Read(t.Context())), second(p.Read(t.Context())))
	}
	asked = 0 // the second program is next
	for what, err := range map[string]error{
		"a lease":               begin(1).Lease(t.Context()),
		"only two others":       begin(3).Lease(t.Context()),
		"a change":              second(begin(1).Set(t.Context(), 1)),
		"less was counted":      read(0),
		"more than can be used": read(1),
	} {
		var end *live.EndError
		if !errors.As(err, &end) || end.Code != journal.EndFailed || end.Harm != nil || !strings.HasPrefix(end.Reason, server.URL+" leads to several programs in turn: name a single one") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestLiveHost: the CPUs of a result are those of the program, and not those of procfit.
func TestLiveHost(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err) // not on every system
	}
	cpus := runtime.NumCPU() + 3
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(maxlive.State{Protocol: maxlive.Protocol, PID: 1, NumCPU: cpus, Start: 4, Min: 1, Max: 4})
	})}
	go server.Serve(l)
	defer server.Close()
	o := newLiveOptions(newStdio(t.Context(), nil, io.Discard, io.Discard, nil), new(cobra.Command))
	run, err := o.resolve(quiet(), []string{socket})
	if err != nil {
		t.Fatal(err)
	}
	if h := run.header.TargetHost; h.AffinityCPUs != cpus || h.EffectiveCPUs != float64(cpus) {
		t.Errorf("%d CPUs by affinity, %g in effect; expected %d", h.AffinityCPUs, h.EffectiveCPUs, cpus)
	}
}

// interrupting is a writer that is a Ctrl-C as soon as something has been written.
type interrupting struct{ press func() }

func (w interrupting) Write(p []byte) (int, error) { w.press(); return len(p), nil }

// TestObserveInterrupted: Ctrl-C ends the watching, with what was counted and the exit code of
// an interrupt.
func TestObserveInterrupted(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	control, err := maxlive.New(nil).Listen(socket)
	if err != nil {
		t.Skip(err) // not on every system
	}
	defer control.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out strings.Builder
	code := Main(ctx, []string{"observe", socket, "--duration", "1h"}, strings.NewReader(""), &out, interrupting{cancel})
	if code != exitInterrupted || !strings.Contains(out.String(), "under its own traffic") {
		t.Errorf("code %d: %s", code, out.String())
	}
}

// TestLiveEnded: what ended an experiment in its baseline, which has no report, is in the error.
func TestLiveEnded(t *testing.T) {
	for _, c := range []struct {
		end  journal.End
		want string // empty: it is no error
	}{
		{journal.End{Code: journal.EndDecided}, ""},
		{journal.End{Code: journal.EndTaken, Reason: "draining"}, "draining"},
		{journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmPanic, Setting: "1"}}, "harm with GOMAXPROCS 1 ended the experiment"},
		{journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmEnded, Setting: "2", Detail: "the program was restarted, or ended"}}, "harm with GOMAXPROCS 2 ended the experiment: the program was restarted, or ended"},
	} {
		if err := liveEnded(&c.end); (err != nil) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v, want %q", c.end, err, c.want)
		}
	}
}

func TestReleased(t *testing.T) {
	if got := released(2, 2); got != "GOMAXPROCS is 2 again" {
		t.Error(got)
	}
	if got := released(2, 3); !strings.HasPrefix(got, "GOMAXPROCS is 3 now, and was 2 at start: ") {
		t.Error(got)
	}
}

func TestForecast(t *testing.T) {
	const min = time.Minute
	f := judge.Forecast{Noise: 0.051, Within: 29 * min, Expected: []judge.Expected{{Less: 0.2, From: 2*min + 6*time.Second, After: 150 * time.Second, To: 3 * min}, {Less: 0.1, From: 4 * min, To: 8*min + 1}, {Less: 0.05, From: 20 * min}, {Less: 0.01}}}
	const want = "CPU time per request varies by 5.1% from slice to slice: a proof usually takes about 3 min for 20% less, 4 to 9 min for 10% less and 20 min or more for 5% less; in 29 min a proof is unlikely for 1% less (use a longer --duration)"
	if got := forecast(f); got != want {
		t.Error(got)
	}
	for i := range f.Expected {
		f.Expected[i].From = 0
	}
	const none = "CPU time per request varies by 5.1% from slice to slice: in 29 min a proof is unlikely for 20% less, 10% less, 5% less and 1% less (use a longer --duration)"
	if got := forecast(f); got != none {
		t.Error(got)
	}
	// An experiment that takes longer than what was looked at needs no longer one.
	if f.Longer = true; forecast(f) != strings.TrimSuffix(none, " (use a longer --duration)") {
		t.Error(forecast(f))
	}
}

// TestLiveVariables: what a program and a Prometheus are asked with has the values of its
// variables, and nothing that is written has them.
func TestLiveVariables(t *testing.T) {
	var m maxlive.Meter
	agent := maxlive.New(&m, maxlive.Max(8))
	var asked []string
	mux := http.NewServeMux()
	mux.Handle("/secret-path/", http.StripPrefix("/secret-path", agent))
	mux.HandleFunc("/secret-prom/api/v1/query", func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.FormValue("query"))
		io.WriteString(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	t.Setenv("THE_PROGRAM", server.URL+"/secret-path")
	t.Setenv("THE_PROMETHEUS", server.URL+"/secret-prom")
	t.Setenv("THE_VALUE", hunted)
	std := quiet()
	o := newLiveOptions(std, new(cobra.Command))
	o.operands = []string{"{env:THE_PROGRAM}"}
	for _, set := range [][2]string{{"procs", "1..8"}, {"prometheus", "{env:THE_PROMETHEUS}"}, {"query", `errors=sum(x{a="{env:THE_VALUE}"}[$slice])`}} {
		if err := o.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	run, err := o.resolve(std, o.operands)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.ask(t.Context(), "errors", 7*time.Second, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if want := `sum(x{a="` + hunted + `"}[7s])`; len(asked) != 2 || asked[1] != want {
		t.Errorf("asked %q; expected %s last", asked, want)
	}
	b, err := json.Marshal(run.header)
	if err != nil || strings.Contains(string(b), hunted) || strings.Contains(string(b), "secret-p") || !strings.Contains(string(b), "{env:THE_PROGRAM}") {
		t.Errorf("the header is %s", b)
	}
	if got := std.secrets.In("GET " + server.URL + "/secret-path: " + hunted); strings.Contains(got, "secret-path") || strings.Contains(got, hunted) {
		t.Errorf("a message has %s", got)
	}
	t.Setenv("THE_PROGRAM", "")
	os.Unsetenv("THE_PROGRAM")
	if _, err := o.resolve(std, o.operands); err == nil || !strings.Contains(err.Error(), "export THE_PROGRAM=…") {
		t.Error(err)
	}
}
