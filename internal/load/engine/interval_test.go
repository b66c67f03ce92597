package engine

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
)

// What came second by second is reported in order, and adds up to all that was answered.
func TestIntervals(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	watched := func(t *testing.T, run func(*testing.T, load.Options) *load.Result, o load.Options, least int) {
		var all int64
		var starts []time.Time
		o.Connections, o.Rate, o.Settle = 8, 200, 100*time.Millisecond
		o.Each = func(i load.Interval) {
			all += i.Latency.TotalCount()
			starts = append(starts, i.Start)
		}
		r := run(t, o)
		if want := r.Requests; all != want || want == 0 || len(starts) < least {
			t.Errorf("%d of %d answers in %d intervals", all, want, len(starts))
		}
		for i := 1; i < len(starts); i++ {
			if starts[i].Sub(starts[i-1]) != time.Second {
				t.Errorf("%v between intervals", starts[i].Sub(starts[i-1]))
			}
		}
	}
	t.Run("engine", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(handler)
		defer server.Close()
		watched(t, mustRun, load.Options{URLs: []string{server.URL}, Threads: 2, Duration: 1500 * time.Millisecond}, 2)
	})
	t.Run("engine portable", func(t *testing.T) {
		inMemory(t, func(t *testing.T, n *lan) {
			o := servedAt(t, n.listen(), overPlain, handler)
			o.Duration = 10 * time.Second
			watched(t, n.mustRun, o, 10)
		})
	})
}
