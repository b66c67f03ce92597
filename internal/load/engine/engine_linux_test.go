//go:build !portable

package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

func TestClosedLoop(t *testing.T) {
	var served atomic.Int64
	var bad atomic.Pointer[string]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != "PUT" || string(body) != "body" || r.Host != "elsewhere" || r.Header.Get("X-Y") != "z" || r.URL.Path != "/p" {
			text := fmt.Sprintf("%s %s %s %v %q", r.Method, r.Host, r.URL, r.Header, body)
			bad.Store(&text)
		}
		served.Add(1)
		io.WriteString(w, smallBody)
	}))
	defer s.Close()
	o := short(s.URL + "/p")
	o.Method, o.Body, o.Headers = "PUT", []byte("body"), []string{"X-Y: z", "Host: elsewhere"}
	o.Threads = 2
	r := mustRun(t, o)
	if text := bad.Load(); text != nil {
		t.Errorf("the server saw %s", *text)
	}
	if r.Requests != served.Load() || r.Requests < 10 || r.Errors != 0 {
		t.Errorf("%d requests, the server saw %d; errors %v", r.Requests, served.Load(), r.ErrorKinds)
	}
	if r.Latency.TotalCount() != r.Requests {
		t.Errorf("%d latencies for %d requests", r.Latency.TotalCount(), r.Requests)
	}
	if r.Mode != load.ModeClosed || r.SendLag != nil || r.Dropped != 0 || r.Threads != 2 {
		t.Errorf("mode %q, send lag %v, dropped %d, threads %d", r.Mode, r.SendLag, r.Dropped, r.Threads)
	}
	if got := r.AchievedPerSecond * r.Duration.Seconds(); got > float64(r.Requests) || got < float64(r.Requests)-float64(r.Connections) {
		t.Errorf("%.0f requests within the duration of %d", got, r.Requests)
	}
	if r.User+r.System <= 0 || r.Busiest <= 0 || r.Busiest > 1.1 {
		t.Errorf("CPU time %v + %v, busiest thread %v", r.User, r.System, r.Busiest)
	}
	if r.InFlight < 0.5*float64(r.Connections) || r.InFlight > 2*float64(r.Connections) {
		t.Errorf("%v in flight on %d connections", r.InFlight, r.Connections)
	}
	text := must.Get(r.Encoded())(t)
	if h, err := hdrhistogram.Decode([]byte(text)); err != nil || h.TotalCount() != r.Requests {
		t.Errorf("the encoded histogram does not come back: %v", err)
	}
}

// Every way in which an answer may end is followed by another request.
func TestAnswers(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 3*readBuffer)
	for name, tt := range map[string]struct {
		answer string
		method string
		close  bool // the server closes after each answer
		status load.Kind
	}{
		"length":      {answer: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"},
		"big":         {answer: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(big), big)},
		"chunked":     {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"},
		"no content":  {answer: "HTTP/1.1 204 No Content\r\n\r\n"},
		"head":        {answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", method: "HEAD"},
		"close":       {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", close: true},
		"until close": {answer: "HTTP/1.1 200 OK\r\n\r\n" + big, close: true},
		"redirect":    {answer: "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"},
		"not found":   {answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", status: "status_404"},
		"unavailable": {answer: "HTTP/1.1 503 No\r\nConnection: close\r\n\r\n", close: true, status: "status_503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, enough := context.WithCancel(t.Context())
			defer enough()
			var requests atomic.Int64
			url := raw(t, func(c net.Conn) {
				in := bufio.NewReader(c)
				for again := true; again; again = !tt.close {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					if requests.Add(1) == 50 {
						enough()
					}
					io.WriteString(c, tt.answer)
				}
			})
			r, err := Run(ctx, load.Options{URLs: []string{url}, Method: tt.method, Connections: 4, Duration: time.Minute})
			if !errors.Is(err, context.Canceled) || r.Requests < 40 {
				t.Fatalf("%v after %d requests", err, r.Requests)
			}
			want := map[load.Kind]int64{}
			if tt.status != "" {
				want[tt.status] = r.Requests
				if r.AchievedPerSecond != 0 {
					t.Errorf("%v good answers a second", r.AchievedPerSecond)
				}
			}
			if !maps.Equal(r.ErrorKinds, want) || (r.FirstError.Kind == "") != (tt.status == "") {
				t.Errorf("errors %v (%v), want %v", r.ErrorKinds, r.FirstError, want)
			}
			if r.Latency.TotalCount() != r.Requests+r.Unanswered {
				t.Errorf("%d latencies, %d requests, %d unanswered", r.Latency.TotalCount(), r.Requests, r.Unanswered)
			}
		})
	}
}

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
		if r.AchievedPerSecond < 0.8*999 || r.AchievedPerSecond > 1001 {
			t.Errorf("%d threads: %.1f a second", threads, r.AchievedPerSecond)
		}
		if r.Mode != load.ModeOpen || r.SendLag.TotalCount() != 600 {
			t.Errorf("%d threads: mode %q, %d send lags", threads, r.Mode, r.SendLag.TotalCount())
		}
		t.Logf("%d threads: send lag p50 %v, p99 %v; latency p50 %v; CPU %v", threads,
			time.Duration(r.SendLag.ValueAtQuantile(50)), time.Duration(r.SendLag.ValueAtQuantile(99)),
			time.Duration(r.Latency.ValueAtQuantile(50)), r.User+r.System)
	}
}

// A server that carries a third of the rate: what it left over is dropped, and
// counts as late.
func TestOpenLoopOverload(t *testing.T) {
	t.Parallel()
	url := raw(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	o := short(url)
	o.Rate, o.Duration = 1200, 500*time.Millisecond // four connections carry at most 200 a second
	r := mustRun(t, o)
	if r.Requests+r.Dropped+r.Unanswered != 600 || r.Dropped < 300 {
		t.Errorf("%d requests, %d dropped, %d unanswered of 600", r.Requests, r.Dropped, r.Unanswered)
	}
	if r.Latency.TotalCount() != 600 {
		t.Errorf("%d latencies of 600", r.Latency.TotalCount())
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
	if limit := o.Duration + minDrain + 500*time.Millisecond; r.Elapsed > limit {
		t.Errorf("took %v, more than %v", r.Elapsed, limit)
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

func TestProgress(t *testing.T) {
	t.Parallel()
	_, url := serverProcess(t, "epoll")
	var calls []load.Progress
	o := short(url)
	o.Duration = 1300 * time.Millisecond
	o.Progress = func(p load.Progress) { calls = append(calls, p) }
	r := mustRun(t, o)
	if len(calls) < 2 {
		t.Fatalf("%d calls", len(calls))
	}
	if last := calls[len(calls)-1]; last.Requests == 0 || last.Requests > r.Requests || last.Elapsed < time.Second/2 {
		t.Errorf("last progress %+v of %d requests", last, r.Requests)
	}
}

// What a run allocates does not grow with its requests.
func TestAllocations(t *testing.T) {
	_, url := serverProcess(t, "epoll")
	for _, rate := range []float64{0, 2000} {
		var requests [2]int64
		var allocs [2]float64
		for i, d := range []time.Duration{20 * time.Millisecond, 250 * time.Millisecond} {
			allocs[i] = testing.AllocsPerRun(1, func() {
				requests[i] = mustRun(t, load.Options{URLs: []string{url}, Connections: 4, Rate: rate, Duration: d}).Requests
			})
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
