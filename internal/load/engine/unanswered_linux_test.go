//go:build !portable

package engine

import (
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// hangsAfter answers n requests and then none any more, on connections that stay
// open.
func hangsAfter(n int64) func(net.Conn) {
	var served atomic.Int64
	return requests(func(c net.Conn) bool {
		if served.Add(1) > n {
			io.Copy(io.Discard, c)
			return false
		}
		io.WriteString(c, okAnswer)
		return true
	})
}

// One of two replicas hangs: its counts show it, and its requests count as
// at least as late as they waited.
func TestReplicaHangs(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 500} {
		t.Run(fmt.Sprint("rate ", rate), func(t *testing.T) {
			t.Parallel()
			o := short(raw(t, answer(okAnswer)), raw(t, hangsAfter(4)))
			o.Connections, o.Rate, o.Duration = 8, rate, 400*time.Millisecond
			r := mustRun(t, o)
			first, second := r.PerURL[0], r.PerURL[1]
			if r.Errors != 0 || r.Unanswered != first.Unanswered+second.Unanswered {
				t.Errorf("%d errors, %d unanswered, want 0 and those of %+v and %+v", r.Errors, r.Unanswered, first, second)
			}
			// A busy machine may stop the good one at the end of the run, with what it was just asked.
			if first.Hung() || first.Connections != 4 || first.Answered == 0 {
				t.Errorf("the good one: %+v", first)
			}
			if !second.Hung() || second.Answered > 4 || second.Unanswered != 4 || second.Hanging != 4 {
				t.Errorf("the one that hangs: %+v", second)
			}
			if first.Answered+second.Answered != r.Requests {
				t.Errorf("%+v and %+v make %d", first, second, r.Requests)
			}
			if got := time.Duration(r.Latency.Max()); got < 600*time.Millisecond {
				t.Errorf("the longest wait was %v, the run twice 400 ms", got)
			}
		})
	}
}

// A server that hangs has at the end what was sent after the duration, where the requests before got
// no answer in time.
func TestHangsBeyondTheTimeout(t *testing.T) {
	t.Parallel()
	o := short(raw(t, hangsAfter(4)))
	o.Rate, o.Duration, o.Timeout = 500, 400*time.Millisecond, 500*time.Millisecond
	r := mustRun(t, o)
	if r.ErrorKinds[load.KindTimeout] < 4 || r.Unanswered != 4 || r.Hanging != 4 || !r.PerURL[0].Hung() {
		t.Errorf("%v, %d unanswered, %d of them hanging, %+v", r.ErrorKinds, r.Unanswered, r.Hanging, r.PerURL)
	}
}

// What the run's end finds under way at a slow server was sent a moment before.
func TestSlowIsNotHanging(t *testing.T) {
	t.Parallel()
	o := short(raw(t, late(20*time.Millisecond, okAnswer)))
	o.Rate = 5000
	if r := mustRun(t, o); r.Unanswered != 4 || r.Dropped == 0 || r.PerURL[0].Hanging != 0 {
		t.Errorf("%d unanswered, %d never sent, %+v", r.Unanswered, r.Dropped, r.PerURL)
	}
}

// A server that stops takes connections and answers nothing.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 200} {
		t.Run(fmt.Sprint("rate ", rate), func(t *testing.T) {
			t.Parallel()
			server, url := serverProcess(t, "epoll")
			must.OK(t, stop(server))
			o := short(url)
			o.Rate = rate
			r := mustRun(t, o)
			if r.Requests != 0 || r.Unanswered != 4 || !r.PerURL[0].Hung() || r.AchievedPerSecond != 0 {
				t.Errorf("%d requests, %d unanswered, %+v", r.Requests, r.Unanswered, r.PerURL)
			}
			if waits := r.Latency.TotalCount(); waits != r.Unanswered+r.Dropped {
				t.Errorf("%d waits, %d unanswered, %d never sent", waits, r.Unanswered, r.Dropped)
			}
			// The first waited for the duration and the drain, the last of 200 ms for the drain.
			if least := time.Duration(r.Latency.Min()); least < 190*time.Millisecond {
				t.Errorf("the shortest wait is %v", least)
			}
		})
	}
}

// Requests whose connection breaks late are late.
func TestBrokenConnectionsAreLate(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	o := short(raw(t, requests(func(c net.Conn) bool {
		if n.Add(1)%10 == 0 {
			time.Sleep(100 * time.Millisecond)
			c.(*net.TCPConn).SetLinger(0)
			return false
		}
		time.Sleep(time.Millisecond)
		io.WriteString(c, okAnswer)
		return true
	})))
	o.Duration = 500 * time.Millisecond
	r := mustRun(t, o)
	broken := r.ErrorKinds[load.KindReset]
	if broken == 0 || broken != r.Errors || broken != r.PerURL[0].Failed || r.FirstError.Kind != load.KindReset {
		t.Fatalf("errors %v, first %v, %+v", r.ErrorKinds, r.FirstError, r.PerURL)
	}
	if r.Latency.TotalCount() != r.Requests+broken+r.Unanswered {
		t.Errorf("%d latencies of %d answers, %d broken and %d unanswered", r.Latency.TotalCount(), r.Requests, broken, r.Unanswered)
	}
	if p95 := time.Duration(r.Latency.ValueAtQuantile(95)); p95 < 90*time.Millisecond {
		t.Errorf("p95 %v hides the tenth that broke after 100 ms", p95)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	for text, redirects := range map[string]bool{
		"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n": true,
		"HTTP/1.1 304 Not Modified\r\n\r\n":                                   false,
		okAnswer:                                                              false,
	} {
		o := short(raw(t, answer(text)))
		r := mustRun(t, o)
		want := int64(0)
		if redirects {
			want = r.Requests
		}
		if r.Requests == 0 || r.Redirects != want || r.Errors != 0 {
			t.Errorf("%.20q: %d redirects of %d, errors %v", text, r.Redirects, r.Requests, r.ErrorKinds)
		}
	}
}
