//go:build !portable

package engine

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

func TestReplicasShareTheLoad(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 1000} {
		var connections [3]atomic.Int64 // their number, as a replica that has more of the CPUs answers more requests
		var urls []string
		for i := range connections {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections[i].Add(1)
				}
			}
			s.Start()
			defer s.Close()
			urls = append(urls, s.URL)
		}
		o := short(urls...)
		o.Connections, o.Rate, o.Duration = 6, rate, 300*time.Millisecond
		r := mustRun(t, o)
		if r.Errors != 0 {
			t.Errorf("rate %v: errors %v", rate, r.ErrorKinds)
		}
		for i := range connections {
			if n := connections[i].Load(); n != 1+2 { // resolve dials each once
				t.Errorf("rate %v: replica %d got %d connections", rate, i, n)
			}
		}
	}
}

func TestOpenLoop(t *testing.T) {
	_, url := serverProcess(t, "epoll")
	for _, threads := range []int{1, 3} {
		o := load.Options{URLs: []string{url}, Connections: 16, Rate: 999, Duration: 600 * time.Millisecond, Threads: threads}
		r := mustRun(t, o)
		if r.Requests != 600 || r.Errors != 0 || r.Dropped != 0 || r.Unanswered != 0 {
			t.Errorf("%d threads: %d requests, %v, %d dropped, %d unanswered", threads, r.Requests, r.ErrorKinds, r.Dropped, r.Unanswered)
		}
		slowest := time.Duration(r.Latency.Max()) // on a busy machine the last answers come late
		if least := 0.9 * 600 / (o.Duration + slowest).Seconds(); r.AchievedPerSecond < least || r.AchievedPerSecond > 1001 {
			t.Errorf("%d threads: %.1f a second, expected at least %.1f: the slowest took %v", threads, r.AchievedPerSecond, least, slowest)
		}
		if r.Mode != load.ModeOpen || r.SendLag.TotalCount() != 600 {
			t.Errorf("%d threads: mode %q, %d send lags", threads, r.Mode, r.SendLag.TotalCount())
		}
		t.Logf("%d threads: send lag p50 %v, p99 %v; latency p50 %v; CPU %v", threads,
			time.Duration(r.SendLag.ValueAtQuantile(50)), time.Duration(r.SendLag.ValueAtQuantile(99)),
			time.Duration(r.Latency.ValueAtQuantile(50)), r.User+r.System)
	}
}

// A server that carries a small part of the rate: what it left over is dropped, and
// counts as late.
func TestOpenLoopOverload(t *testing.T) {
	t.Parallel()
	o := short(raw(t, late(20*time.Millisecond, okAnswer)))
	const all = 6000
	o.Rate, o.Duration = 12_000, 500*time.Millisecond // four connections carry at most 200 a second: all of it in 30 s
	began := time.Now()
	r := mustRun(t, o)
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("took %v: it did not end with the drain", took)
	}
	if r.Requests+r.Dropped+r.Unanswered != all || r.Dropped < all/2 {
		t.Errorf("%d requests, %d dropped, %d unanswered of %d", r.Requests, r.Dropped, r.Unanswered, all)
	}
	if r.Latency.TotalCount() != all {
		t.Errorf("%d latencies of %d", r.Latency.TotalCount(), all)
	}
	if r.AchievedPerSecond > 210 || r.AchievedPerSecond < 10 {
		t.Errorf("%.0f a second, at most 200 are possible", r.AchievedPerSecond)
	}
	if p50 := time.Duration(r.Latency.ValueAtQuantile(50)); p50 < 300*time.Millisecond {
		t.Errorf("p50 %v hides the backlog", p50)
	}
	// The connections are the limit, not the engine: the wait for one is not a lag.
	if lag := time.Duration(r.SendLag.ValueAtQuantile(50)); lag > 20*time.Millisecond {
		t.Errorf("send lag p50 %v", lag)
	}
}

// TestCancel gives a minute's load up after 300 ms: it ends long before the minute, and
// counts neither what was not due yet nor the time that did not pass.
func TestCancel(t *testing.T) {
	t.Parallel()
	const limit = 20 * time.Second // next to race detectors of other packages the timer itself comes seconds late
	_, url := serverProcess(t, "epoll")
	for _, rate := range []float64{0, 1000} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		r, err := Run(ctx, load.Options{URLs: []string{url}, Connections: 4, Rate: rate, Duration: time.Minute})
		if !errors.Is(err, context.DeadlineExceeded) || r == nil {
			t.Fatalf("rate %v: %v, %v", rate, r, err)
		}
		took := time.Since(began)
		if took > limit {
			t.Errorf("rate %v: returned after %v", rate, took)
		}
		if due := rate * took.Seconds(); r.Requests == 0 || r.AchievedPerSecond == 0 || r.Duration > took || float64(r.Dropped) > due {
			t.Errorf("rate %v: %d requests, %.0f a second in %v of %v, %d dropped", rate, r.Requests, r.AchievedPerSecond, r.Duration, took, r.Dropped)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, short(url)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	_, url := serverProcess(t, "epoll")
	o := short(url)
	o.CPUs = []int{0}
	if r := mustRun(t, o); r.Requests == 0 || r.Threads != 1 {
		t.Errorf("%d requests, %d threads", r.Requests, r.Threads)
	}
	for want, cpus := range map[string][]int{"CPUs [1023]: ": {1023}, "CPUs [0 1023]: procfit may use only 1 of them; check": {0, 1023}} {
		o.CPUs = cpus
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v", err)
		}
	}
}

// What a run allocates does not grow with its requests.
func TestAllocations(t *testing.T) {
	_, url := serverProcess(t, "epoll")
	for _, rate := range []float64{0, 2000} {
		var requests [2]int64
		var allocs [2]float64
		for i, d := range []time.Duration{20 * time.Millisecond, 250 * time.Millisecond} {
			for ; d < 10*time.Second && requests[i] <= int64(200*i); d *= 2 { // a busy machine answers less
				allocs[i] = testing.AllocsPerRun(1, func() {
					requests[i] = mustRun(t, load.Options{URLs: []string{url}, Connections: 4, Rate: rate, Duration: d}).Requests
				})
			}
		}
		if more := allocs[1] - allocs[0]; requests[1] < 200 || more > 0.05*float64(requests[1]) {
			t.Errorf("rate %v: %v further allocations in a run of %d requests", rate, more, requests[1])
		}
	}
}

// Descriptors and threads are given back.
func TestLeavesNothing(t *testing.T) {
	_, url := serverProcess(t, "epoll")
	count := func(dir string) int {
		entries := must.Get(os.ReadDir(dir))(t)
		return len(entries)
	}
	o := short(url)
	o.Threads, o.Duration = 4, 20*time.Millisecond
	mustRun(t, o) // the first run makes the runtime's own
	files, threads := count("/proc/self/fd"), count("/proc/self/task")
	for range 5 {
		mustRun(t, o)
	}
	if now := count("/proc/self/fd"); now > files {
		t.Errorf("%d open files, %d before", now, files)
	}
	// 20 locked threads came; the runtime may have kept a few of its own.
	if now := count("/proc/self/task"); now > threads+8 {
		t.Errorf("%d threads, %d before", now, threads)
	}
}
