//go:build !portable

package engine

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// window is a stall, as times since the run was started: the server stood still
// at least in the inner times and at most in the outer ones.
type window struct{ stopping, stopped, resuming, resumed time.Duration }

// stop stops a process, and returns when none of its threads runs any more. On a busy
// machine that is some time after the signal was sent.
func stop(p *os.Process) error {
	if err := p.Signal(unix.SIGSTOP); err != nil {
		return err
	}
	for {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Pid))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(threads, func(name string) bool {
			b, err := os.ReadFile(name)
			_, rest, _ := strings.Cut(string(b), ") ")
			return err == nil && !strings.HasPrefix(rest, "T")
		}) {
			return nil
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// stallAfter stops the server for a while from now + after on.
func stallAfter(t testing.TB, server *os.Process, after, stall time.Duration) <-chan window {
	done := make(chan window, 1)
	now := time.Now()
	go func() {
		var w window
		time.Sleep(after)
		w.stopping = time.Since(now)
		if err := stop(server); err != nil {
			t.Error(err)
		}
		w.stopped = time.Since(now)
		time.Sleep(w.stopping + stall - w.stopped)
		w.resuming = time.Since(now)
		if err := server.Signal(unix.SIGCONT); err != nil {
			t.Error(err)
		}
		w.resumed = time.Since(now)
		done <- w
	}()
	return done
}

// stalled loads a server that stalls in the middle of the run. The true p99 is
// between least and most, which differ by what the test itself was held up.
func stalled(t testing.TB, way string, duration, stall time.Duration) (r *load.Result, least, most time.Duration) {
	server, o := toProcess(t, way)
	o.Connections, o.Rate, o.Duration = stallConnections, stallRate, duration
	if way == overModern || way == overH2C || way == overRPC {
		o.Connections, o.Streams = stallConnections/4, 4
	}
	window := stallAfter(t, server, duration/2-stall/2, stall)
	r = must.Get(Run(t.Context(), o))(t)
	w := <-window
	return r, trueP99(duration, w.stopped, w.resuming), trueP99(duration, w.stopping, w.resumed)
}

// A stall of the server is seen by the requests that were intended during it,
// not only by the few that were under way. A busy machine delays on its own
// account, so there are several attempts, and the upper bound grants what the engine
// knows itself to be late. PROCFIT_FULL=1 takes the stall of docs/evidence/performance.md and
// every way, else there are two: what the loop sees in every way TestStallInMemory proves.
func TestCoordinatedOmission(t *testing.T) {
	all := []string{overH2C, "epoll"}
	if need.Whole() {
		all = append(ways(), overRPC, "epoll")
	}
	for _, way := range all {
		t.Run(way, func(t *testing.T) { seesStall(t, way) })
	}
}

func seesStall(t *testing.T, way string) {
	const attempts = 5
	// A busy machine needs longer to make up for it, which the last third must not see.
	duration, stall := 2*time.Second, 300*time.Millisecond
	if need.Whole() {
		duration, stall = 10*time.Second, time.Second
	}
	for attempt := 1; ; attempt++ {
		r, least, most := stalled(t, way, duration, stall)
		if all := int64(stallRate * duration.Seconds()); r.Requests+r.Unanswered+r.Dropped < all || r.Requests+r.Dropped > all || r.Errors != 0 {
			t.Fatalf("%d requests, %d unanswered, %d dropped, errors %v", r.Requests, r.Unanswered, r.Dropped, r.ErrorKinds)
		}
		got, lag := p99(r.Latency), p99(r.SendLag)
		// A tenth of the slots waited for a connection, which is not send lag, and
		// a stall that was made up for is not saturation.
		p95 := time.Duration(r.SendLag.ValueAtQuantile(95))
		if float64(got) >= 0.95*float64(least) && float64(got) <= 1.05*float64(most)+float64(lag) && p95 < least/4 && r.Dropped == 0 && r.AchievedPerSecond > 0.98*stallRate {
			t.Logf("p99 %v, the truth is between %v and %v; send lag p99 %v", got, least, most, lag)
			return
		}
		t.Logf("p99 %v, the truth is between %v and %v; %.1f a second, %d dropped; send lag p95 %v, p99 %v", got, least, most, r.AchievedPerSecond, r.Dropped, p95, lag)
		if attempt == attempts {
			t.Fatal("the same in every attempt")
		}
	}
}

// A stall that does not end within the run is seen too.
func TestCoordinatedOmissionAtTheEnd(t *testing.T) {
	t.Parallel()
	const duration = time.Second
	server, url := serverProcess(t, "epoll")
	o := load.Options{URLs: []string{url}, Connections: stallConnections, Rate: stallRate, Duration: duration}
	stalled := make(chan time.Duration, 1) // after the start
	o.Began = func() {
		began := time.Now()
		time.AfterFunc(duration/3, func() {
			if err := stop(server); err != nil {
				t.Error(err)
			}
			stalled <- time.Since(began)
		})
	}
	r := must.Get(Run(t.Context(), o))(t)
	from := <-stalled
	if got, truth := p99(r.Latency), trueP99(duration, from, duration+drain(duration)); float64(got) < 0.95*float64(truth) {
		t.Errorf("p99 %v, the truth is at least %v", got, truth)
	}
	all, hung := int64(stallRate*duration.Seconds()), int64(stallRate*(duration-from).Seconds())-stallConnections
	if r.Unanswered != stallConnections || r.Dropped < hung-stallRate/50 || r.Requests+r.Unanswered+r.Dropped != all {
		t.Errorf("%d requests, %d unanswered, %d dropped of %d; stalled after %v", r.Requests, r.Unanswered, r.Dropped, all, from)
	}
	if most := stallRate * (from.Seconds()/duration.Seconds() + 0.05); r.AchievedPerSecond > most {
		t.Errorf("%.0f a second, at most %.0f were answered", r.AchievedPerSecond, most)
	}
}

// BenchmarkCoordinatedOmission is the full case: 1,000 requests a second for
// 10 s with a stall of 1 s on 16 connections, the truth, and what hey says:
//
//	go test ./internal/load/engine -run '^$' -bench CoordinatedOmission -benchtime 3x
func BenchmarkCoordinatedOmission(b *testing.B) {
	const duration, stall = 10 * time.Second, time.Second
	hey := need.Command(b, "hey")
	var ours, truths, errors, lags, theirs []float64
	for b.Loop() {
		r, _, truth := stalled(b, "epoll", duration, stall)
		got := p99(r.Latency)
		off := math.Abs(float64(got-truth)) / float64(truth)
		if off > 0.05 {
			b.Errorf("p99 %v, the truth is %v", got, truth)
		}
		ours, truths = append(ours, got.Seconds()*1e3), append(truths, truth.Seconds()*1e3)
		errors, lags = append(errors, off*100), append(lags, p99(r.SendLag).Seconds()*1e6)

		server, url := serverProcess(b, "epoll")
		window := stallAfter(b, server, duration/2-stall/2, stall)
		each := strconv.FormatFloat(float64(stallRate)/stallConnections, 'f', -1, 64)
		out, err := exec.Command(hey, "-z", "10s", "-c", strconv.Itoa(stallConnections), "-q", each, url).CombinedOutput()
		if err != nil {
			b.Fatalf("hey: %v\n%s", err, out)
		}
		<-window
		theirs = append(theirs, printed(b, out, `99% in (\S+) secs`)*1e3)
	}
	b.ReportMetric(median(ours), "procfit-p99-ms")
	b.ReportMetric(median(truths), "true-p99-ms")
	b.ReportMetric(median(errors), "off-%")
	b.ReportMetric(median(lags), "send-lag-p99-µs")
	b.ReportMetric(median(theirs), "hey-p99-ms")
	b.ReportMetric(0, "ns/op")
}
