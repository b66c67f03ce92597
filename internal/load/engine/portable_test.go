package engine

import (
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"encoding/pem"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// The ways in which the engines speak.
const (
	overPlain  = "http"
	overTLS    = "https, HTTP/1.1"
	overModern = "https, HTTP/2"
	overH2C    = "h2c"
	overRPC    = "grpc"
)

func ways() []string { return []string{overPlain, overTLS, overModern, overH2C} }

// served is a server that is spoken to in one of the ways, and the options for it.
func served(t testing.TB, way string, h http.Handler) load.Options {
	t.Helper()
	return servedAt(t, nil, way, h)
}

// servedAt listens by itself where it gets no listener.
func servedAt(t testing.TB, l net.Listener, way string, h http.Handler) load.Options {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if l != nil {
		s.Listener.Close()
		s.Listener = l
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	o := load.Options{Engine: load.EnginePortable, Connections: 4, Duration: 200 * time.Millisecond, Timeout: 5 * time.Second}
	switch way {
	case overPlain:
		s.Start()
	case overH2C:
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	default:
		s.EnableHTTP2 = way == overModern
		s.StartTLS()
		o.TLS.CACert = filepath.Join(t.TempDir(), "ca.pem")
		o.TLS.ServerName = "example.com"
		b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
		must.OK(t, os.WriteFile(o.TLS.CACert, b, 0o600))
	}
	o.URLs = []string{s.URL + "/p"}
	if way == overH2C {
		o.URLs = []string{"h2c://" + s.Listener.Addr().String() + "/p"}
	}
	if way == overModern || way == overH2C {
		o.Streams = 3
	}
	return o
}

func TestClosedLoopInEveryWay(t *testing.T) {
	for _, way := range ways() {
		t.Run(way, func(t *testing.T) { both(t, func(t *testing.T, engine string) { closedLoop(t, way, engine) }) })
	}
}

func closedLoop(t *testing.T, way, engine string) {
	var count atomic.Int64
	var bad atomic.Pointer[string]
	o := served(t, way, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != "PUT" || string(body) != "body" || r.Host != "elsewhere" || r.Header.Get("X-Y") != "z" || r.URL.Path != "/p" || r.ContentLength != 4 {
			text := fmt.Sprintf("%s %s %s %v %q", r.Method, r.Host, r.URL, r.Header, body)
			bad.Store(&text)
		}
		count.Add(1)
		io.WriteString(w, smallBody)
	}))
	o.Engine, o.Threads = engine, 2
	o.Method, o.Body, o.Headers = "PUT", []byte("body"), []string{"X-Y: z", "Host: elsewhere", "Connection: keep-alive"}
	r := mustRun(t, o)
	for r.Requests < 10 && o.Duration < 5*time.Second { // a busy machine answers less
		o.Duration *= 4
		count.Store(0)
		r = mustRun(t, o)
	}
	if text := bad.Load(); text != nil {
		t.Errorf("the server saw %s", *text)
	}
	if r.Requests != count.Load() || r.Requests < 10 || r.Errors != 0 || r.Unanswered != 0 {
		t.Errorf("%d requests and %d unanswered, the server saw %d; errors %v", r.Requests, r.Unanswered, count.Load(), r.ErrorKinds)
	}
	if r.Latency.TotalCount() != r.Requests || r.SendLag != nil || r.Mode != load.ModeClosed || r.Dropped != 0 {
		t.Errorf("%d latencies for %d requests, send lag %v, mode %s, %d dropped", r.Latency.TotalCount(), r.Requests, r.SendLag, r.Mode, r.Dropped)
	}
	if h, err := hdrhistogram.Decode([]byte(must.Get(r.Encoded())(t))); err != nil || h.TotalCount() != r.Requests {
		t.Errorf("the encoded histogram does not come back: %v", err)
	}
	if r.Engine == load.EngineRaw && (r.Threads != 2 || r.Busiest > 1.1) {
		t.Errorf("%d threads, the busiest %v", r.Threads, r.Busiest)
	}
	if got := r.AchievedPerSecond * r.Duration.Seconds(); got > float64(r.Requests) || got < float64(r.Requests-int64(r.Connections*r.Streams)) {
		t.Errorf("%.0f requests within the duration of %d", got, r.Requests)
	}
	if r.User+r.System <= 0 || r.Busiest <= 0 {
		t.Errorf("CPU time %v + %v, busiest %v", r.User, r.System, r.Busiest)
	}
	want := map[string]string{overPlain: "HTTP/1.1", overTLS: "HTTP/1.1", overModern: "HTTP/2", overH2C: "HTTP/2"}[way]
	if r.Protocol != want || engine != "" && r.Engine != engine {
		t.Errorf("%s by %s", r.Protocol, r.Engine)
	}
}

// A server that answers after 2 ms carries the rate: nothing is sent late, and every latency
// is that of the server and of the network.
func TestPortableOpenLoop(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		t.Run(way, func(t *testing.T) {
			inMemory(t, func(t *testing.T, n *lan) {
				const takes = 2 * time.Millisecond
				var count atomic.Int64
				o := servedAt(t, n.listen(), way, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					count.Add(1)
					time.Sleep(takes)
				}))
				o.Rate, o.Duration, o.Settle = 300, 3*time.Second, 200*time.Millisecond
				r := n.mustRun(t, o)
				if r.Requests != 900 || r.Errors != 0 || r.Dropped != 0 || r.Unanswered != 0 || count.Load() != 960 {
					t.Errorf("%d requests, the server saw %d; errors %v, %d dropped", r.Requests, count.Load(), r.ErrorKinds, r.Dropped)
				}
				if r.SendLag.TotalCount() != 900 || r.SendLag.Max() != 0 || r.Latency.TotalCount() != 900 {
					t.Errorf("%d lags of at most %d ns, %d latencies", r.SendLag.TotalCount(), r.SendLag.Max(), r.Latency.TotalCount())
				}
				if least, most := time.Duration(r.Latency.Min()), time.Duration(r.Latency.Max()); least < takes || most > takes+3*readAfter {
					t.Errorf("latencies from %v to %v", least, most)
				}
				if r.AchievedPerSecond < 299.9 || r.AchievedPerSecond > 300.1 {
					t.Errorf("%v a second", r.AchievedPerSecond)
				}
			})
		})
	}
}

const (
	stallRate        = 1000
	stallConnections = 16
)

// trueP99 is what a user with a request every 1/rate would have seen: nothing,
// or the rest of the stall.
func trueP99(duration, from, to time.Duration) time.Duration {
	n := int(stallRate * duration.Seconds())
	waits := make([]time.Duration, n)
	for i := range waits {
		at := time.Duration(float64(i) / stallRate * 1e9)
		if at >= from && at < to {
			waits[i] = to - at
		}
	}
	slices.Sort(waits)
	return waits[int(math.Ceil(0.99*float64(n)))-1]
}

func p99(h *hdrhistogram.Histogram) time.Duration { return time.Duration(h.ValueAtQuantile(99)) }

// A stall is seen by all requests that were intended during it, in every way.
func TestStallInMemory(t *testing.T) {
	t.Parallel()
	protoset, _ := healthTypes(t)
	for _, way := range append(ways(), overRPC) {
		t.Run(way, func(t *testing.T) {
			inMemory(t, func(t *testing.T, n *lan) {
				l := n.listen()
				var o load.Options
				if way == overRPC {
					o = callIn(t, l, checkMethod, "", protoset)
				} else {
					o = servedAt(t, l, way, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, smallBody) }))
				}
				const duration = 3 * time.Second
				o.Connections, o.Streams, o.Rate, o.Duration = stallConnections, 0, stallRate, duration
				if way != overPlain && way != overTLS {
					o.Connections, o.Streams = stallConnections/4, 4
				}
				from := time.Now().Add(1200 * time.Millisecond)
				to := from.Add(300 * time.Millisecond)
				n.silence = [2]time.Time{from, to}
				var began time.Time
				o.Began = func() { began = time.Now() }
				r := n.mustRun(t, o)
				if r.Requests != stallRate*3 || r.Dropped != 0 || r.Errors != 0 || r.SendLag.Max() != 0 {
					t.Errorf("%d requests, %d dropped, errors %v, sent up to %d ns late", r.Requests, r.Dropped, r.ErrorKinds, r.SendLag.Max())
				}
				if got, truth := p99(r.Latency), trueP99(duration, from.Sub(began), to.Sub(began)); got < truth || float64(got) > 1.02*float64(truth) {
					t.Errorf("p99 %v, the truth is %v", got, truth)
				}
			})
		})
	}
}
