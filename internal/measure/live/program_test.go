package live

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/verdict/journal"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// TestProgram: how an experiment ends that the program does not go along with.
func TestProgram(t *testing.T) {
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
	begun := func() *Program {
		t.Helper()
		p := &Program{client: meter.Open(socket), lease: hex.EncodeToString(random())}
		s, err := p.client.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p.State = s
		if err := p.Lease(ctx); err != nil {
			t.Fatal(err)
		}
		return p
	}
	ends := func(what string, err error, code journal.EndCode, harm bool) {
		t.Helper()
		var end *EndError
		if !errors.As(err, &end) || end.Code != code || end.Reason == "" || (end.Harm != nil) != harm {
			t.Errorf("%s: %v, %+v; expected %s", what, err, end, code)
		}
	}

	p := begun()
	if _, err := p.Set(ctx, start+1); err != nil || runtime.GOMAXPROCS(0) != start+1 {
		t.Fatal(err)
	}
	second := &Program{client: p.client, lease: hex.EncodeToString(random()), State: p.State}
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
	if err := p.Release(ctx); err != nil || p.After != start+2 {
		t.Errorf("released: %v, at %d, which something else has set to %d", err, p.After, start+2)
	}
	runtime.GOMAXPROCS(start)
	ends("renewed after its end", p.Lease(ctx), journal.EndTaken, false)
	if err := p.Release(ctx); err != nil || p.After != start {
		t.Errorf("released: %v, at %d", err, p.After)
	}

	p = begun()
	p.State.Started++ // as if this were another process
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

// TestLiar: a program that answers with another value than it was asked for ends the
// experiment, which would compare a value with itself. So does one whose CPU time cannot be,
// also if each look at it alone could.
func TestLiar(t *testing.T) {
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
	p := &Program{client: client}
	var end *EndError
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
		p, err = &Program{client: client, State: maxlive.State{NumCPU: 2}}, nil
		reads, more = 0, c.more
		for n := 0; n < 20 && err == nil; n++ {
			_, err = p.Read(t.Context())
		}
		if errors.As(err, &end) != (c.want != "") || c.want != "" && (end.Code != journal.EndFailed || !strings.Contains(end.Reason, c.want)) {
			t.Errorf("%g s in each look: %v", c.more, err)
		}
	}
}

// TestSeveral: another program that answers is no restart if the first one, or a third,
// answers too, as behind a load balancer. It is no wrong number either.
func TestSeveral(t *testing.T) {
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
	begin := func(started int64) *Program {
		return &Program{client: client, State: maxlive.State{NumCPU: 2, Started: started}}
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
		var end *EndError
		if !errors.As(err, &end) || end.Code != journal.EndFailed || end.Harm != nil || !strings.HasPrefix(end.Reason, server.URL+" leads to several programs in turn: name a single one") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
