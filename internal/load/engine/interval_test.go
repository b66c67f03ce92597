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
	for _, engine := range []string{"", load.EnginePortable} {
		t.Run("engine "+engine, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer server.Close()
			var all int64
			var starts []time.Time
			r, err := Run(t.Context(), load.Options{
				URLs: []string{server.URL}, Connections: 8, Threads: 2, Rate: 200, Duration: 2500 * time.Millisecond, Settle: 100 * time.Millisecond, Engine: engine,
				Each: func(i load.Interval) {
					all += i.Latency.TotalCount()
					starts = append(starts, i.Start)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if want := r.Requests; all != want || want == 0 || len(starts) < 3 {
				t.Errorf("%d of %d answers in %d intervals", all, want, len(starts))
			}
			for i := 1; i < len(starts); i++ {
				if starts[i].Sub(starts[i-1]) != time.Second {
					t.Errorf("%v between intervals", starts[i].Sub(starts[i-1]))
				}
			}
		})
	}
}
