package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/test/must"
)

// A latency that is mostly the load generator's own comes with a warning.
func TestLateLoad(t *testing.T) {
	recorded := func(d time.Duration) *hdrhistogram.Histogram {
		h := hdrhistogram.New(1, int64(time.Minute), 3)
		h.RecordValue(int64(d))
		return h
	}
	for name, c := range map[string]struct {
		lag  time.Duration
		late bool
	}{"late": {168 * time.Millisecond, true}, "in time": {time.Millisecond, false}} {
		r := &load.Result{Mode: load.ModeOpen, Rate: 100, Requests: 1, Latency: recorded(179 * time.Millisecond), SendLag: recorded(c.lag)}
		p := must.Get(trial.Offered(r))(t)
		var notes strings.Builder
		noteLate(newStdio(t.Context(), nil, io.Discard, &notes, nil), r, &p)
		if got := strings.Contains(notes.String(), "at 100 req/s the load generator itself sent late (p99 168 ms), so its p99 of 179 ms is not the server's"); got != c.late {
			t.Errorf("%s: %q", name, notes.String())
		}
	}
}

func TestParseRates(t *testing.T) {
	for text, want := range map[string][]float64{"": {0}, "5": {5}, "12.5k,1M": {12500, 1e6}, "1000, 2000,1000": {1000, 2000}} {
		if got, err := parseRates(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"auto", "1,", "0", "-1", "x", "k", "1k/s", "1e308k"} {
		if _, err := parseRates(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// The warm-up is no more load than the rate, which is what the server is to get: it may be in use.
func TestWarmupAtTheRate(t *testing.T) {
	var got atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	defer s.Close()
	for name, c := range map[string]struct {
		rate, pace, times string
		most              int64
		want              string // in the error; empty: none
	}{
		"one rate":             {"50", "", "100ms,warmup=200ms", 20, ""},
		"of several the first": {"50,200", "", "100ms,warmup=200ms", 40, ""},
		"at random":            {"50", "poisson", "100ms,warmup=200ms", 20, ""},
		"too short for it":     {"5", "", "1s,warmup=100ms", 0, `--for warmup=100ms: rate "5": less than one request in 100 ms`},
	} {
		got.Store(0)
		o := &loadOptions{spec: plan.NewFlags(), out: printed("text", "json")}
		o.Fields = o.fields()
		o.spec.URLs = []string{s.URL}
		must.OK(t, o.Set("rate", c.rate))
		must.OK(t, o.Set("for", c.times))
		if c.pace != "" {
			must.OK(t, o.Set("pace", c.pace))
		}
		err := o.run(t.Context(), newStdio(t.Context(), nil, io.Discard, io.Discard, nil))
		if n := got.Load(); n > c.most || (n == 0) != (c.most == 0) || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d requests, want at most %d; %v, want %q", name, n, c.most, err, c.want)
		}
	}
}

// Without --max-errors only a load of which no answer was good has failed. A connection that failed
// with no request on it is no failed request of an open loop, unless requests were never sent for
// want of it. One that gets no answers any more is judged among the connections.
func TestConnectionsOfALoad(t *testing.T) {
	refused := map[load.Kind]int64{load.KindRefused: 60}
	for name, c := range map[string]struct {
		result load.Result
		gate   string // --max-errors; empty: not given
		want   string // in the error; empty: none
	}{
		"all requests are answered":      {load.Result{Mode: load.ModeOpen, Requests: 50, Good: 50, Errors: 60, FailedConnections: 60}, "", ""},
		"and with a gate":                {load.Result{Mode: load.ModeOpen, Requests: 50, Errors: 60, FailedConnections: 60}, "1%", ""},
		"most are never sent":            {load.Result{Mode: load.ModeOpen, Requests: 50, Good: 50, Errors: 60, FailedConnections: 60, Dropped: 200}, "", ""},
		"some are never sent":            {load.Result{Mode: load.ModeOpen, Requests: 50, Errors: 60, FailedConnections: 60, Dropped: 10}, "1%", "20% of the requests failed"},
		"never sent to a server that is": {load.Result{Mode: load.ModeOpen, Requests: 50, Dropped: 200}, "1%", "80% of the requests were never sent, more than --max-errors 1%"},
		"a server that hangs":            {load.Result{Mode: load.ModeOpen, Requests: 1e6, Unanswered: 64, Hanging: 64}, "1%", "64 of 64 connections got no answers any more, more than --max-errors 1%"},
		"one of two that hangs":          {load.Result{Mode: load.ModeClosed, Requests: 1e6, Unanswered: 32, Hanging: 32, PerURL: []load.URLCount{{Answered: 5e5}, {Answered: 5e5, Unanswered: 32, Hanging: 32}}}, "60%", "32 of 32 connections to replica 2 of 2 got no answers any more"},
		"a server that is slow":          {load.Result{Mode: load.ModeOpen, Requests: 1e6, Unanswered: 64, Dropped: 1e4}, "1%", ""},
		"half of them fail":              {load.Result{Mode: load.ModeClosed, Requests: 50, Good: 50, Errors: 60}, "", ""},
		"no answer is good":              {load.Result{Mode: load.ModeClosed, Requests: 7, Errors: 7, Unanswered: 1}, "", "all 8 requests failed: 60 × connection refused"},
	} {
		o := &loadOptions{spec: plan.NewFlags(), out: printed("text", "json")}
		o.Fields = o.fields()
		if c.gate != "" {
			must.OK(t, o.Set("max-errors", c.gate))
		}
		c.result.ErrorKinds, c.result.Latency = refused, hdrhistogram.New(1, 1000, 2)
		must.OK(t, c.result.Latency.RecordValues(1, c.result.Requests+c.result.Unanswered+c.result.Dropped))
		err := o.judge(&c.result)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The column of what failed has requests, as the other outputs have.
func TestFailedOfACurve(t *testing.T) {
	var out strings.Builder
	o := &loadOptions{out: printed("text", "json")}
	r := load.Result{Mode: load.ModeOpen, Rate: 100, Requests: 50, AchievedPerSecond: 100, Errors: 63, FailedConnections: 60, Unanswered: 4, Latency: hdrhistogram.New(1, 1000, 2), SendLag: hdrhistogram.New(1, 1000, 2)}
	must.OK(t, o.point(newStdio(t.Context(), nil, &out, io.Discard, nil), &r))
	if cells := strings.Fields(out.String()); len(cells) < 8 || cells[7] != "7" {
		t.Errorf("%q, want 7 failed", out.String())
	}
}
