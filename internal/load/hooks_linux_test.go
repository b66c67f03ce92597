package load

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// The hooks enclose the duration, not what is waited for after it.
func TestBeganAndEndedEncloseTheDuration(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	for _, settle := range []time.Duration{0, 100 * time.Millisecond} {
		var began, ended []time.Time
		_, err := Run(t.Context(), Options{
			URLs: []string{server.URL}, Connections: 2, Duration: 400 * time.Millisecond, Settle: settle,
			Began: func() { began = append(began, time.Now()) },
			Ended: func() { ended = append(ended, time.Now()) },
		})
		returned := time.Now()
		if err != nil || len(began) != 1 || len(ended) != 1 {
			t.Fatalf("%v; began %d times, ended %d times", err, len(began), len(ended))
		}
		if span := ended[0].Sub(began[0]); span < settle+400*time.Millisecond || returned.Sub(ended[0]) < 200*time.Millisecond {
			t.Errorf("the hooks enclose %v and Run returned %v later; want %v + 400 ms, then the drain of as long", span, returned.Sub(ended[0]), settle)
		}
	}
}

// What is sent while the load settles is in no figure but Counted.
func TestSettle(t *testing.T) {
	t.Parallel()
	const settle, duration = 300 * time.Millisecond, 500 * time.Millisecond
	for _, rate := range []float64{0, 300} {
		for _, threads := range []int{1, 3} {
			var served atomic.Int64
			var began atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if served.Add(1); time.Since(time.Unix(0, began.Load())) < settle/3 {
					time.Sleep(100 * time.Millisecond) // as a cold server would
				}
				io.WriteString(w, smallBody)
			}))
			o := Options{URLs: []string{server.URL}, Connections: 32, Rate: rate, Duration: duration, Settle: settle, Threads: threads}
			o.Began = func() { began.Store(time.Now().UnixNano()) }
			r := mustRun(t, o)
			server.Close()
			if r.Errors != 0 || r.Unanswered != 0 || r.Dropped != 0 {
				t.Fatalf("rate %v: errors %v, %d unanswered, %d dropped", rate, r.ErrorKinds, r.Unanswered, r.Dropped)
			}
			if r.Requests >= served.Load() || r.Latency.TotalCount() != r.Requests {
				t.Errorf("rate %v: %d requests, %d latencies, the server saw %d", rate, r.Requests, r.Latency.TotalCount(), served.Load())
			}
			// Only what was under way at the end came after Ended.
			if late := served.Load() - r.Counted; late < 0 || late > 32 {
				t.Errorf("rate %v: %d counted, the server saw %d", rate, r.Counted, served.Load())
			}
			if rate > 0 && (r.Requests != 150 || r.SendLag.TotalCount() != 150 || served.Load() != 240) {
				t.Errorf("%d threads: %d requests of 150, %d lags, %d in all of 240", threads, r.Requests, r.SendLag.TotalCount(), served.Load())
			}
			if rate > 0 && (r.AchievedPerSecond < 0.8*rate || r.AchievedPerSecond > 1.01*rate) {
				t.Errorf("%.1f a second", r.AchievedPerSecond)
			}
			if r.Duration != duration || r.Elapsed < duration*9/10 || r.Elapsed > 3*duration {
				t.Errorf("rate %v: duration %v, elapsed %v", rate, r.Duration, r.Elapsed)
			}
			if p50 := time.Duration(r.Latency.ValueAtQuantile(50)); p50 > 90*time.Millisecond {
				t.Errorf("rate %v: p50 %v has the cold start in it", rate, p50)
			}
		}
	}
}
