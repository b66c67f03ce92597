//go:build !portable

package engine

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
)

// The hooks enclose the duration, not what is waited for after it.
func TestBeganAndEndedEncloseTheDuration(t *testing.T) {
	t.Parallel()
	const duration, attempts = 400 * time.Millisecond, 5 // a busy machine may call late
	for _, settle := range []time.Duration{0, 100 * time.Millisecond} {
		t.Run(settle.String(), func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
			defer server.Close()
			defer close(release)
			for attempt := 1; ; attempt++ {
				var began, ended []time.Time
				_, err := Run(t.Context(), load.Options{
					URLs: []string{server.URL}, Connections: 2, Duration: duration, Settle: settle,
					Began: func() { began = append(began, time.Now()) },
					Ended: func() { ended = append(ended, time.Now()) },
				})
				returned := time.Now()
				if err != nil || len(began) != 1 || len(ended) != 1 {
					t.Fatalf("%v; began %d times, ended %d times", err, len(began), len(ended))
				}
				span, drain := ended[0].Sub(began[0]), returned.Sub(ended[0])
				if span < settle+duration {
					t.Fatalf("the hooks enclose %v, less than %v", span, settle+duration)
				}
				if drain >= duration/2 {
					break
				}
				t.Logf("Run returned %v after Ended; want the drain of %v", drain, duration)
				if attempt == attempts {
					t.Fatal("the same in every attempt")
				}
			}
		})
	}
}

// What is sent while the load settles is in no figure but Counted.
func TestSettle(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 300} {
		for _, threads := range []int{1, 3} {
			t.Run(fmt.Sprintf("rate %v, %d threads", rate, threads), func(t *testing.T) {
				t.Parallel()
				const attempts = 5 // a busy machine may not answer at all
				for attempt := 1; !settles(t, rate, threads); attempt++ {
					if attempt == attempts {
						t.Fatal("nothing was answered in any attempt")
					}
				}
			})
		}
	}
}

// settles reports whether the measured part got an answer, without which little is
// shown.
func settles(t *testing.T, rate float64, threads int) bool {
	const settle, duration = 300 * time.Millisecond, 500 * time.Millisecond
	var served, began atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		if time.Since(time.Unix(0, began.Load())) < settle/2 {
			w.WriteHeader(http.StatusServiceUnavailable) // so that these can be distinguished
		}
		io.WriteString(w, smallBody)
	}))
	defer server.Close()
	o := load.Options{URLs: []string{server.URL}, Connections: 32, Rate: rate, Duration: duration, Settle: settle, Threads: threads}
	o.Began = func() { began.Store(time.Now().UnixNano()) }
	r := mustRun(t, o)
	if r.Errors != 0 || r.Requests >= served.Load() {
		t.Errorf("rate %v: %d requests, errors %v, the server saw %d", rate, r.Requests, r.ErrorKinds, served.Load())
	}
	if r.Latency.TotalCount() != r.Requests+r.Unanswered+r.Dropped {
		t.Errorf("rate %v: %d latencies, %d requests, %d unanswered, %d dropped", rate, r.Latency.TotalCount(), r.Requests, r.Unanswered, r.Dropped)
	}
	// In a closed loop only what was under way at the end came after Ended.
	if late := served.Load() - r.Counted; late < 0 || rate == 0 && late > 32 {
		t.Errorf("rate %v: %d counted, the server saw %d", rate, r.Counted, served.Load())
	}
	// Slots 0 to 89 are the settling's, 90 to 239 are measured.
	if rate > 0 && (r.SendLag.TotalCount()+r.Dropped != 150 || r.Requests > 150 || r.Requests+r.Unanswered+r.Dropped < 150 || served.Load()+r.Dropped > 240) {
		t.Errorf("%d threads: %d lags, %d requests, %d unanswered and %d dropped of 150; %d in all of 240", threads, r.SendLag.TotalCount(), r.Requests, r.Unanswered, r.Dropped, served.Load())
	}
	if r.Duration != duration || r.User+r.System <= 0 {
		t.Errorf("rate %v: duration %v, CPU time %v", rate, r.Duration, r.User+r.System)
	}
	return r.Requests > 0
}
