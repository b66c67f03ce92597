package cli

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/paired"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// TestLiveHost: the CPUs of a result are those of the program, and not those of procfit.
func TestLiveHost(t *testing.T) {
	cpus := runtime.NumCPU() + 3
	o := newLiveOptions()
	run := must.Get(o.resolve(quiet(), running(cpus)))(t)
	if h := run.header.TargetHost; h.AffinityCPUs != cpus || h.EffectiveCPUs != float64(cpus) {
		t.Errorf("%d CPUs by affinity, %g in effect; expected %d", h.AffinityCPUs, h.EffectiveCPUs, cpus)
	}
}

// running is a process with GOMAXPROCS 4 on so many CPUs.
func running(cpus int) valueChange {
	f := facts.Facts{GoVersion: "go1.26.8", Affinity: facts.Fact{State: facts.Known, CPUs: float64(cpus)}}
	f.PID = 1
	return valueChange{subject: rule.NewSubject(rule.Observed{Place: rule.Place{PID: 1}, Facts: f}), before: steer.Value{Procs: 4}}
}

// interrupting is a writer that is a Ctrl-C as soon as something has been written.
type interrupting struct{ press func() }

func (w interrupting) Write(p []byte) (int, error) { w.press(); return len(p), nil }

// TestWatchInterrupted: Ctrl-C ends the watching, with what was counted and the exit code of
// an interrupt.
func TestWatchInterrupted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads the memory of this process")
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out strings.Builder
	code := Main(ctx, []string{"live", ":" + port, "--for", "1h"}, strings.NewReader(""), &out, interrupting{cancel})
	if code != exitInterrupted || !strings.Contains(out.String(), "under its own traffic") {
		t.Errorf("code %d: %s", code, out.String())
	}
}

// TestNotCounted: what is not known is not promised to stay within a budget.
func TestNotCounted(t *testing.T) {
	for name, c := range map[string]struct {
		live             journal.Live
		before, baseline string
		never            string
	}{
		"all":            {journal.Live{LatencyBy: judge.ByArrival, SlowSeconds: 0.1}, "make more than 500 requests become slow or fail (--budget)", "at most 3 at a time; slow means longer than 100 ms; at most 500 requests may become slow or fail\n", "not known"},
		"nothing":        {journal.Live{Uncounted: true}, "no value can be proven better, only likely, because which requests fail is not known; name the program's metrics: --metrics :PORT/PATH", "its requests are not known, so CPU time is compared per second\n", "udget"},
		"with itself":    {journal.Live{Uncounted: true, Same: true}, "", "", "proven better"},
		"no status":      {journal.Live{LatencyBy: judge.ByMetrics, SlowSeconds: 0.1, Metrics: &journal.Metrics{URL: "http://x/m", Histogram: "h", FailuresUnknown: true}}, "name a metric that has it: --metrics 'http://x/m#h,NAME'", "at most 500 requests may become slow; failed requests are not known\n", "slow or fail"},
		"a counter":      {journal.Live{LatencyBy: judge.ByNone, Metrics: &journal.Metrics{Counter: "c"}}, "make more than 500 requests fail (--budget)", "100 req/s; at most 500 requests may fail; slow requests are not known\n", "at a time"},
		"only a counter": {journal.Live{LatencyBy: judge.ByNone, Metrics: &journal.Metrics{URL: "http://x/m", Counter: "c", FailuresUnknown: true}}, "'http://x/m#NAME'", "100 req/s; slow and failed requests are not known\n", "udget"},
	} {
		var said strings.Builder
		c.live.Budget, c.live.InSystemMax, c.live.RequestsPerSecond, c.live.SliceSeconds, c.live.Seen = 500, 3, 100, 5, []string{judge.FigureLatencyP99}
		run := &liveRun{program: &live.Program{}}
		run.header.Live = &c.live
		p := &liveProgress{std: newStdio(t.Context(), nil, io.Discard, &said, nil), run: run}
		p.begin(paired.Forecast{})
		before := strings.Join(strings.Fields(run.describe()), " ")
		if !strings.Contains(before, c.before) || !strings.Contains(said.String(), c.baseline) || strings.Contains(before+said.String(), c.never) {
			t.Errorf("%s:\n%s\n%s", name, before, said.String())
		}
	}
}

// TestOnlyLose: values are called worse in advance only if they are tried, and leave unused what the
// program needs: not where a lower value is what ends the throttling.
func TestOnlyLose(t *testing.T) {
	for _, c := range []struct {
		limit, cpus float64
		values      []int // that at start first
		want        string
	}{
		{0.5, 0.5, []int{8, 1}, ""},
		{2.5, 2.45, []int{8, 2}, ""},
		{2.5, 2.45, []int{8, 1, 2}, "uses 2.45 CPUs of its CPU limit of 2.5: values below 2 can only lose\n"},
		{4, 3.9, []int{8, 3}, "values below 4 can only lose\n"},
		{4, 3.9, []int{8, 4, 6}, ""},
		{20, 18.1, []int{20, 19}, ""},
		{4, 3.5, []int{8, 3}, ""},
		{0, 3.9, []int{8, 3}, ""},
	} {
		var said strings.Builder
		run := &liveRun{program: &live.Program{}}
		run.header.Live = &journal.Live{LimitCPUs: c.limit, CPUs: c.cpus, Start: c.values[0]}
		run.header.Plan.Settings = judge.Settings(c.values[0], c.values, false)
		p := &liveProgress{std: newStdio(t.Context(), nil, io.Discard, &said, nil), run: run}
		p.begin(paired.Forecast{})
		if !strings.Contains(said.String(), c.want) || c.want == "" && strings.Contains(said.String(), "can only lose") {
			t.Errorf("%+v: %s", c, said.String())
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
	if got := released(2, 0); got != "GOMAXPROCS was given back; its value cannot be read" || known(0) != nil || *known(2) != 2 {
		t.Error(got)
	}
}

func TestForecast(t *testing.T) {
	const min = time.Minute
	f := paired.Forecast{Noise: 0.051, Within: 29 * min, Expected: []paired.Expected{{Less: 0.2, From: 2*min + 6*time.Second, After: 150 * time.Second, To: 3 * min}, {Less: 0.1, From: 4 * min, To: 8*min + 1}, {Less: 0.05, From: 20 * min}, {Less: 0.01}}}
	const want = "CPU time per request varies by 5.1% from slice to slice: it usually takes about 3 min to prove 20% less CPU time, 4 to 9 min to prove 10% less and 20 min or more to prove 5% less; in 29 min a proof is unlikely of 1% less (use a longer --for)"
	if got := forecast("CPU time per request", f); got != want {
		t.Error(got)
	}
	for i := range f.Expected {
		f.Expected[i].From = 0
	}
	const none = "CPU time per request varies by 5.1% from slice to slice: in 29 min a proof is unlikely of 20% less CPU time, 10% less, 5% less and 1% less (use a longer --for)"
	if got := forecast("CPU time per request", f); got != none {
		t.Error(got)
	}
	// An experiment that takes longer than what was looked at needs no longer one.
	if f.Longer = true; forecast("CPU time per request", f) != strings.TrimSuffix(none, " (use a longer --for)") {
		t.Error(forecast("CPU time per request", f))
	}
}

// TestLiveVariables: what a Prometheus is asked with has the values of its variables, and
// nothing that is written has them.
func TestLiveVariables(t *testing.T) {
	var asked []string
	mux := http.NewServeMux()
	mux.HandleFunc("/secret-prom/api/v1/query", func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.FormValue("query"))
		io.WriteString(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	t.Setenv("THE_PROMETHEUS", server.URL+"/secret-prom")
	t.Setenv("THE_VALUE", hunted)
	std := quiet()
	o := newLiveOptions()
	for _, set := range [][2]string{{"procs", "1..8"}, {"prometheus", "{env:THE_PROMETHEUS}"}, {"query", `errors=sum(x{a="{env:THE_VALUE}"}[$slice])`}} {
		must.OK(t, o.Set(set[0], set[1]))
	}
	run := must.Get(o.resolve(std, running(4)))(t)
	must.Get(o.queries.Ask(t.Context(), "errors", 7*time.Second, nil, time.Now()))(t)
	if want := `sum(x{a="` + hunted + `"}[7s])`; len(asked) != 2 || asked[1] != want {
		t.Errorf("asked %q; expected %s last", asked, want)
	}
	b, err := json.Marshal(run.header)
	if err != nil || strings.Contains(string(b), hunted) || strings.Contains(string(b), "secret-p") || !strings.Contains(string(b), "{env:THE_PROMETHEUS}") {
		t.Errorf("the header is %s", b)
	}
	if got := std.secrets.In("GET " + server.URL + "/secret-prom: " + hunted); strings.Contains(got, "secret-prom") || strings.Contains(got, hunted) {
		t.Errorf("a message has %s", got)
	}
}
