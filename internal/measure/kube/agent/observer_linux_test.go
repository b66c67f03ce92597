package agent

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/live"
	"github.com/procfit/procfit/test/must"
)

// The test itself is a Go program among the processes here, though the eye leaves out
// its own: what is seen and counted is of others.
func TestSpan(t *testing.T) {
	c := asker(serve(t, &offers{}), time.Minute)
	id := must.Get(c.Start(t.Context(), 0))(t)
	counted, err := c.Stop(t.Context(), id)
	if err != nil || counted.Error != "" || counted.MeasuredSeconds <= 0 || counted.HostUse == nil || counted.CPUSeconds == nil {
		t.Errorf("%+v, %v", counted, err)
	}
	if _, err := c.Stop(t.Context(), "/spans/none"); err == nil {
		t.Error("a span that was never begun has an end")
	}
}

func TestLimitsIn(t *testing.T) {
	known := func(cpus float64) facts.Fact { return facts.Fact{State: facts.Known, CPUs: cpus} }
	f := facts.Facts{Limits: []facts.Limit{{Fact: known(2), Dir: "/a/b", Burst: known(0.5)}, {Fact: facts.Fact{State: facts.NoLimit}, Dir: "/a"}}}
	got := limitsIn(f, "/proc/7/root")
	if len(got) != 1 || got[0].Dir != "/proc/7/root/a/b" || got[0].CPUs != 2 || got[0].Burst != 0.5 {
		t.Errorf("%+v", got)
	}
}

// A span is there until the next one starts, and no longer, also if nobody asked for it: a canary has one
// in each slice, and the agent shares the memory and the CPUs of the pod.
func TestSpansAreNotKept(t *testing.T) {
	s := NewServer(testToken, nil)
	handler := s.Handler(t.Context())
	for _, q := range []struct {
		method, id string
		code       int
	}{
		{http.MethodPut, "a", http.StatusOK}, {http.MethodGet, "a", http.StatusOK}, {http.MethodGet, "a", http.StatusOK},
		{http.MethodPut, "b", http.StatusOK}, {http.MethodGet, "a", http.StatusNotFound}, {http.MethodGet, "b", http.StatusOK},
		{http.MethodPut, "c", http.StatusOK}, {http.MethodPut, "d", http.StatusOK}, {http.MethodGet, "c", http.StatusNotFound},
	} {
		r, w := httptest.NewRequest(q.method, "http://"+host+"/spans/"+q.id, nil), httptest.NewRecorder()
		r.Header.Set(tokenHeader, testToken)
		if handler.ServeHTTP(w, r); w.Code != q.code {
			t.Errorf("%s %s: %d %s, want %d", q.method, q.id, w.Code, w.Body, q.code)
		}
	}
}

// TestMeter: what a program counts itself is in the span, if it has a Meter.
func TestMeter(t *testing.T) {
	var e observer
	span := func() *Metered {
		s := &span{observer: &e, began: time.Now(), pid: os.Getpid(), metered: e.metered(os.Getpid())}
		w := m.Arrived(time.Now().Add(-5 * time.Millisecond))
		w.End(nil)
		m.Begin().End(os.ErrDeadlineExceeded)
		return s.sinceMeter()
	}
	if got := span(); got != nil {
		t.Errorf("of a Meter that was not used before: %+v", got)
	}
	if got := span(); got == nil || got.Requests != 2 || got.Failed != 1 || got.P99Seconds == nil || *got.P99Seconds < 0.0045 {
		t.Errorf("%+v", got)
	}
}

// m is the Meter of this program.
var m live.Meter
