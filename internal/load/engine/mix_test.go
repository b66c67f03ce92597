package engine

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/test/must"
)

func TestPickShares(t *testing.T) {
	requests := []load.Request{{Path: "/a", Weight: 3}, {Path: "/b"}, {Path: "/c", Weight: 0.5}, {Path: "/a?x=1", Weight: 5.5}}
	m := newMix(requests, 7)
	const n = 200_000
	var got [4]int
	order := ""
	for i := range int64(n) {
		k := m.pick(i)
		got[k]++
		if i < 20 {
			order += string('0' + rune(k))
		}
	}
	for i, want := range []float64{0.3, 0.1, 0.05, 0.55} {
		// Six standard deviations of a binomial share.
		if share := float64(got[i]) / n; math.Abs(share-want) > 6*math.Sqrt(want*(1-want)/n) {
			t.Errorf("request %d has %.4f of all, want %g", i, share, want)
		}
	}
	if strings.Join(m.names, ",") != "GET /a,GET /b,GET /c" || m.of[3] != 0 {
		t.Errorf("names %q, of %v", m.names, m.of)
	}
	again, other := "", ""
	same, another := newMix(requests, 7), newMix(requests, 8)
	for i := range int64(20) {
		again += string('0' + rune(same.pick(i)))
		other += string('0' + rune(another.pick(i)))
	}
	if again != order || other == order {
		t.Errorf("order %s, again %s, with another seed %s", order, again, other)
	}
}

func TestMixNames(t *testing.T) {
	var requests []load.Request
	for i := range mostNames + 10 {
		requests = append(requests, load.Request{Path: "/" + strings.Repeat("x", i+1)})
	}
	m := newMix(requests, 1)
	if len(m.names) != mostNames+1 || m.names[mostNames] != load.Others || m.of[len(requests)-1] != mostNames || m.of[0] != 0 {
		t.Errorf("%d names, the last %q, of %v", len(m.names), m.names[len(m.names)-1], m.of)
	}
}

// mixServer remembers what came, and is slow at /slow.
type mixServer struct {
	sync.Mutex
	seen map[string]int
}

func (s *mixServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, 10)
	n, _ := r.Body.Read(body)
	s.Lock()
	s.seen[strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("X-Who"), r.Header.Get("X-All"), string(body[:n])}, " ")]++
	s.Unlock()
	switch r.URL.Path {
	case "/slow":
		time.Sleep(30 * time.Millisecond)
	case "/bad":
		w.WriteHeader(http.StatusBadGateway)
	}
}

// One slow endpoint shows by itself, in both engines and both loops.
func TestMix(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 300} {
		for _, engine := range []string{"", load.EnginePortable} {
			t.Run(fmt.Sprintf("engine %s, rate %g", engine, rate), func(t *testing.T) { mixed(t, engine, rate) })
		}
	}
}

func mixed(t *testing.T, engine string, rate float64) {
	t.Parallel()
	s := &mixServer{seen: map[string]int{}}
	server := httptest.NewServer(s)
	r, err := Run(t.Context(), load.Options{
		URLs: []string{server.URL + "/ignored"}, Connections: 8, Rate: rate, Duration: 700 * time.Millisecond, Engine: engine, Seed: 3,
		Headers: []string{"X-All: yes", "X-Who: nobody"},
		Requests: []load.Request{
			{Path: "/fast?x=1", Weight: 6, Headers: []string{"x-who: me"}}, {Path: "/slow", Weight: 3, Body: []byte("hello")},
			{Method: "HEAD", Path: "/fast", Weight: 1}, {Path: "/bad", Weight: 2},
		},
	})
	server.Close()
	must.OK(t, err)
	by := map[string]load.RequestResult{}
	var all, errors int64
	for _, one := range r.PerRequest {
		by[one.Name] = one
		all += one.Answered
		errors += one.Errors
	}
	if all != r.Requests || errors != r.Errors || r.Errors != by["GET /bad"].Errors || by["GET /bad"].Errors != by["GET /bad"].Answered || errors == 0 {
		t.Errorf("by request %d answers and %d errors of %d and %d: %+v", all, errors, r.Requests, r.Errors, r.ErrorKinds)
	}
	slow, fast := by["POST /slow"], by["GET /fast"]
	if slow.Answered == 0 || fast.Answered == 0 || by["HEAD /fast"].Answered == 0 || slow.Latency.Min() < int64(29*time.Millisecond) || fast.Latency.Min() >= slow.Latency.Min() {
		t.Errorf("slow %d of %d ns at least, fast %d of %d ns", slow.Answered, slow.Latency.Min(), fast.Answered, fast.Latency.Min())
	}
	for _, want := range []string{"GET /fast?x=1 me yes ", "POST /slow nobody yes hello", "HEAD /fast nobody yes ", "GET /bad nobody yes "} {
		if s.seen[want] == 0 {
			t.Errorf("no %q among %v", want, s.seen)
		}
	}
}

func TestWrongMix(t *testing.T) {
	for want, o := range map[string]load.Options{
		"not an HTTP method":         {Requests: []load.Request{{Method: "G T", Path: "/"}}},
		"tunnel":                     {Requests: []load.Request{{Method: "CONNECT", Path: "/"}}},
		"expected a path":            {Requests: []load.Request{{Path: "/"}, {Path: "x"}}},
		"no colon":                   {Requests: []load.Request{{Path: "/", Headers: []string{"x"}}}},
		"share above 0":              {Requests: []load.Request{{Path: "/", Weight: -1}}},
		"its own method":             {Requests: []load.Request{{Path: "/"}}, Method: "PUT"},
		"a single request":           {Requests: []load.Request{{Path: "/"}}, GRPC: &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C"}},
		"only to requests at a rate": {Pace: load.PacePoisson},
		"expected constant":          {Pace: "jumpy"},
		"shorten":                    {Pace: load.PacePoisson, Rate: 1e6, Duration: time.Hour},
	} {
		o.URLs, o.Connections = []string{"http://127.0.0.1:1/"}, 1
		if o.Duration == 0 {
			o.Duration = time.Second
		}
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

// Arrivals at random have gaps whose standard deviation is their mean, and as many are
// in the measured time as of an even pace.
func TestPoisson(t *testing.T) {
	r := &run{plan: &plan{Prepared: &load.Prepared{Options: load.Options{Rate: 10_000, Duration: 2 * time.Second, Pace: load.PacePoisson, Seed: 5}}}, settling: 1000}
	r.drawTimes()
	if len(r.times) != 21_000 || r.times[999] >= int64(100*time.Millisecond) || r.times[1000] < int64(100*time.Millisecond) || r.times[20_999] >= int64(2100*time.Millisecond) {
		t.Fatalf("%d times, %d, %d, %d", len(r.times), r.times[999], r.times[1000], r.times[20_999])
	}
	var sum, squares float64
	for i := 1001; i < len(r.times); i++ {
		gap := float64(r.times[i] - r.times[i-1])
		if gap < 0 {
			t.Fatalf("%d comes before the one in front of it", i)
		}
		sum += gap
		squares += gap * gap
	}
	n := float64(len(r.times) - 1001)
	mean := sum / n
	if cv := math.Sqrt(squares/n-mean*mean) / mean; math.Abs(mean-1e5) > 2e3 || math.Abs(cv-1) > 0.05 {
		t.Errorf("mean gap %g ns, coefficient of variation %g", mean, cv)
	}
	r.Seed = 6
	before := r.times[500]
	if r.drawTimes(); r.times[500] == before {
		t.Error("another seed has the same times")
	}
}

// A server that answers at once carries the rate, however the arrivals lie.
func TestPoissonCarried(t *testing.T) {
	for seed := range uint64(20) {
		r := &run{plan: &plan{Prepared: &load.Prepared{Options: load.Options{Rate: 1000, Duration: time.Second, Pace: load.PacePoisson, Seed: seed}}}, settling: 100}
		r.drawTimes()
		span := 2 * time.Second
		bins := make([]int64, paceBins)
		half := make([]int64, paceBins) // every second one is answered
		for i, at := range r.times[100:] {
			bin := int(float64(at-int64(100*time.Millisecond)+int64(time.Millisecond)) / float64(span) * paceBins)
			bins[bin]++
			half[bin] += int64(i % 2)
		}
		if got := r.carried(bins, span, time.Millisecond); math.Abs(got-1000) > 2 {
			t.Errorf("seed %d: carried %g of 1000", seed, got)
		}
		if got := r.carried(half, span, time.Millisecond); math.Abs(got-500) > 10 {
			t.Errorf("seed %d: carried %g of 500", seed, got)
		}
	}
}

// A server that keeps up is offered all of a schedule at random, and carries it.
func TestPoissonRun(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	poisson := func(o load.Options) load.Options {
		o.Connections, o.Rate, o.Pace, o.Duration, o.Settle = 16, 500, load.PacePoisson, time.Second, 100*time.Millisecond
		return o
	}
	check := func(t *testing.T, r *load.Result) {
		// What was sent before, and has no answer at the end, is counted, too.
		if all := r.Requests + r.Unanswered + r.Dropped + r.Errors; all < 500 || all > 500+r.Unanswered || r.Pace != load.PacePoisson || r.Errors > 0 {
			t.Errorf("%d requests, pace %s, errors %v", all, r.Pace, r.ErrorKinds)
		}
	}
	t.Run("the kernel's sockets", func(t *testing.T) {
		t.Parallel()
		o := served(t, overPlain, h)
		o.Engine = ""
		check(t, mustRun(t, poisson(o)))
	})
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		inMemory(t, func(t *testing.T, n *lan) {
			r := n.mustRun(t, poisson(servedAt(t, n.listen(), overPlain, h)))
			check(t, r)
			// The arrivals of the thirds differ by some tenths; what was carried does not.
			if r.AchievedPerSecond < 495 || r.AchievedPerSecond > 500 {
				t.Errorf("%g a second", r.AchievedPerSecond)
			}
		})
	})
}
