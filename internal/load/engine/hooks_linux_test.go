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
	if r.Duration != duration || r.Elapsed < duration*9/10 || r.User+r.System <= 0 {
		t.Errorf("rate %v: duration %v, elapsed %v, CPU time %v", rate, r.Duration, r.Elapsed, r.User+r.System)
	}
	return r.Requests > 0
}

// BenchmarkBegan is what counting costs the latency of an open loop: the p99
// without a Began, with one that uses 5 ms of CPU and leaves garbage, and with it
// and a settling of 200 ms. Runs alternate; medians:
//
//	go test ./internal/load/engine -run '^$' -bench Began -benchtime 15x
func BenchmarkBegan(b *testing.B) {
	_, url := serverProcess(b, "nethttp")
	var garbage [][]byte
	count := func() {
		for began := time.Now(); time.Since(began) < 5*time.Millisecond; {
			garbage = append(garbage[:0], make([]byte, 16<<10))
		}
	}
	cases := []struct {
		name   string
		began  func()
		settle time.Duration
	}{{"none", nil, 0}, {"began", count, 0}, {"settled", count, 200 * time.Millisecond}}
	p99s, p50s := map[string][]float64{}, map[string][]float64{}
	for round := 0; b.Loop(); round++ {
		for i := range cases {
			c := cases[(i+round)%len(cases)]
			r, err := Run(b.Context(), load.Options{
				URLs: []string{url}, Connections: 32, Rate: 2000, Duration: time.Second, Settle: c.settle, Began: c.began,
			})
			if err != nil || r.Errors > 0 {
				b.Fatal(err, r.ErrorKinds)
			}
			p99s[c.name] = append(p99s[c.name], float64(p99(r.Latency).Microseconds()))
			p50s[c.name] = append(p50s[c.name], float64(r.Latency.ValueAtQuantile(50))/1e3)
		}
	}
	for _, c := range cases {
		b.ReportMetric(median(p99s[c.name]), c.name+"-p99-µs")
		b.ReportMetric(median(p50s[c.name]), c.name+"-p50-µs")
	}
	b.ReportMetric(0, "ns/op")
}
