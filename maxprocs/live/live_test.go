package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

func TestBuckets(t *testing.T) {
	for i, last := 0, time.Duration(0); i < buckets-1; i++ {
		end := BucketEnd(i)
		if end <= last || bucket(end-1) != i || bucket(end) != i+1 {
			t.Fatalf("bucket %d ends at %s after %s: %d, %d", i, end, last, bucket(end-1), bucket(end))
		}
		if i > 0 && float64(end-last) > 0.063*float64(last) {
			t.Errorf("bucket %d is from %s to %s, wider than 6.3%%", i, last, end)
		}
		last = end
	}
	if bucket(time.Hour) != buckets-1 || bucket(0) != 0 {
		t.Errorf("an hour is in %d, nothing in %d", bucket(time.Hour), bucket(0))
	}
	for _, d := range []time.Duration{1 << 60, 1<<60 + 1, 1<<63 - 1} {
		if got := bucket(d); got != buckets-1 {
			t.Errorf("%s is in bucket %d, want the last", d, got)
		}
	}
	var h histogram
	random := rand.New(rand.NewSource(1))
	for range [10_000]struct{}{} {
		h.add(time.Duration(random.Intn(1_000_000_000)))
	}
	before := h.read()
	if q := before.Quantile(0.99).Seconds(); q < 0.97 || q > 1.06 {
		t.Errorf("p99 is %g s, want 0.99", q)
	}
	h.add(time.Millisecond)
	after := h.read().Since(before)
	if after.Count() != 1 || after.Quantile(0.5) < time.Millisecond || after.Quantile(0.5) > 1063*time.Microsecond || after.Sum < 0.00099 || after.Sum > 0.00101 {
		t.Errorf("one more of 1 ms: %d, %s, %g s", after.Count(), after.Quantile(0.5), after.Sum)
	}
}

// server is an HTTP server with a Meter, and what its requests go to.
func server(t *testing.T, h http.HandlerFunc, configure func(*httptest.Server)) (*Meter, *httptest.Server) {
	t.Helper()
	m := new(Meter)
	s := httptest.NewUnstartedServer(m.Middleware(h))
	s.Listener = m.Listener(s.Listener)
	s.Config.ConnContext = m.ConnContext
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if configure != nil {
		configure(s)
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return m, s
}

func get(t *testing.T, s *httptest.Server, path string) string {
	t.Helper()
	r := must.Get(s.Client().Get(s.URL + path))(t)
	defer r.Body.Close()
	body := must.Get(io.ReadAll(r.Body))(t)
	return string(body)
}

// settled waits until the requests have ended, and their last writes are counted.
func settled(t *testing.T, m *Meter, requests, arrivals uint64) Metrics {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		f := m.Read()
		if f.Requests == requests && f.Arrival.Count() == arrivals {
			return f
		}
		if time.Now().After(end) {
			t.Fatalf("%d requests and %d arrivals, want %d and %d: %+v", f.Requests, f.Arrival.Count(), requests, arrivals, f)
		}
	}
}

// arrivals are the requests that have an arrival on this system.
func arrivals(n uint64) uint64 {
	if runtime.GOOS == "linux" {
		return n
	}
	return 0
}

// wrapping hides the connections of a listener, as cmux and limits of connections do.
type wrapping struct{ net.Listener }

func (l wrapping) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return struct{ net.Conn }{c}, err
}

// Reads at the same time, which net.Conn allows, each get what came for them.
func TestConcurrentReads(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	client := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer client.Close()
	c := must.Get(new(Meter).Listener(l).Accept())(t)
	defer c.Close()
	reads := make(chan string, 2)
	for range [2]struct{}{} {
		go func() {
			p := make([]byte, 1)
			n, err := c.Read(p)
			reads <- fmt.Sprintf("%q, %d, %v", p, n, err)
		}()
	}
	time.Sleep(50 * time.Millisecond) // both wait
	for _, text := range []string{"a", "b"} {
		must.Get(io.WriteString(client, text))(t)
		if got, want := <-reads, fmt.Sprintf("%q, 1, <nil>", text); got != want {
			t.Errorf("read %s, want %s", got, want)
		}
	}
}

// Connections that another listener wraps are found. Those that are closed are forgotten.
func TestWrappedConnections(t *testing.T) {
	m, s := server(t, func(http.ResponseWriter, *http.Request) {}, func(s *httptest.Server) {
		s.Listener = wrapping{wrapping{s.Listener}}
		s.Start()
	})
	get(t, s, "/")
	get(t, s, "/")
	settled(t, m, 2, arrivals(2))
	direct, d := server(t, func(http.ResponseWriter, *http.Request) {}, nil)
	get(t, d, "/")
	s.Close()
	d.Close()
	for _, m := range []*Meter{m, direct} {
		m.accepted.Range(func(peer, _ any) bool {
			t.Errorf("the connection of %v is still known", peer)
			return true
		})
	}
}

// A body that is small, larger than net/http's buffer, flushed before the handler ends,
// and a request with a body, which comes in several segments.
func TestAnswers(t *testing.T) {
	large := strings.Repeat("procfit ", 100_000)
	m, s := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			io.WriteString(w, large)
		case "/flushed":
			w.Header().Set("Content-Length", "5")
			io.WriteString(w, "ready")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		case "/sum":
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n)
		case "/bad":
			w.WriteHeader(503)
		case "/panic":
			panic(http.ErrAbortHandler)
		}
	}, nil)
	get(t, s, "/")
	if got := get(t, s, "/large"); got != large {
		t.Errorf("got %d bytes, want %d", len(got), len(large))
	}
	get(t, s, "/flushed")
	r := must.Get(s.Client().Post(s.URL+"/sum", "text/plain", strings.NewReader(large)))(t)
	if body, _ := io.ReadAll(r.Body); string(body) != "800000" {
		t.Errorf("the handler read %s bytes", body)
	}
	r.Body.Close()
	get(t, s, "/bad")
	s.Client().CloseIdleConnections()
	f := settled(t, m, 5, arrivals(5))
	if f.Failed != 1 || f.Panics != 0 || f.Handler.Count() != 5 || f.InFlight != 0 || f.CPU <= 0 {
		t.Errorf("got %+v", f)
	}
	if _, err := s.Client().Get(s.URL + "/panic"); err == nil {
		t.Error("an aborted request was answered")
	}
	if f := settled(t, m, 6, f.Arrival.Count()); f.Failed != 2 || f.Panics != 0 {
		t.Errorf("after an abort: %d failed, %d panics; an abort is not a panic", f.Failed, f.Panics)
	}
}

// One P that computes keeps a request waiting in its socket: the arrival sees it.
func TestBusyProcessIsSeen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the stamp")
	}
	m, s := server(t, func(http.ResponseWriter, *http.Request) {}, nil)
	get(t, s, "/") // the connection is there
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	settled(t, m, 1, 1)
	c := must.Get(net.Dial("tcp", s.Listener.Addr().String()))(t)
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	http.ReadResponse(bufio.NewReader(c), nil)
	before := settled(t, m, 2, 2)
	// On a busy machine the kernel takes the CPU away in the middle of a spin, which then takes
	// longer than the scheduler's slice, and the handler runs before it ends: one of these
	// attempts is not disturbed.
	for n := uint64(3); n < 23; n++ {
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") // the kernel has it now
		spin(5 * time.Millisecond)                             // shorter than the slice: nobody else runs
		must.Get(http.ReadResponse(bufio.NewReader(c), nil))(t)
		f := settled(t, m, n, n)
		arrival, handler := f.Arrival.Since(before.Arrival).Quantile(1), f.Handler.Since(before.Handler).Quantile(1)
		if arrival >= 4*time.Millisecond && handler <= arrival {
			return
		}
		t.Logf("arrival %s, handler %s; the request waited for 5 ms", arrival, handler)
		before = f
	}
	t.Error("no request was seen to wait")
}

func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

func TestHTTP2AndTLS(t *testing.T) {
	m, s := server(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	})
	for range [10]struct{}{} {
		if got := get(t, s, "/"); got != "HTTP/2.0" {
			t.Fatalf("got %q", got)
		}
	}
	if f := settled(t, m, 10, arrivals(10)); f.Streams != arrivals(10) {
		t.Errorf("%d streams", f.Streams)
	}
	m, s = server(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }, func(s *httptest.Server) { s.StartTLS() })
	for range [10]struct{}{} {
		get(t, s, "/")
	}
	if f := settled(t, m, 10, arrivals(10)); f.Streams != 0 {
		t.Errorf("%d streams over TLS with HTTP/1.1", f.Streams)
	}
}

// plain has none of the optional interfaces of servers, pusher has four.
type (
	plain  struct{ http.ResponseWriter }
	pusher struct {
		plain
		pushed string
	}
)

func (p *pusher) Push(target string, _ *http.PushOptions) error { p.pushed = target; return nil }
func (p *pusher) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return nil, nil, nil }
func (p *pusher) ReadFrom(r io.Reader) (int64, error)           { return io.Copy(io.Discard, r) }
func (p *pusher) Flush()                                        {}

// leaving is a server's writer whose client goes.
type leaving struct{ *pusher }

func (leaving) FlushError() error { return net.ErrClosed }
func (leaving) CloseNotify() <-chan bool {
	c := make(chan bool, 1)
	c <- true
	return c
}

// A handler learns that its client has gone as it does without the Meter: by the error of
// Flush, and by CloseNotify, which some frameworks use without asking whether it is there.
func TestClientGone(t *testing.T) {
	p := &pusher{plain: plain{httptest.NewRecorder()}}
	x := newResponse()
	x.w = leaving{p}
	w := x.as()
	if err := http.NewResponseController(w).Flush(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Flush returns %v, want the server's error", err)
	}
	for _, server := range []http.ResponseWriter{leaving{p}, p, p.plain} {
		x := newResponse()
		x.w = server
		n, ok := x.as().(interface{ CloseNotify() <-chan bool })
		if !ok {
			t.Fatalf("%T: the handler's ResponseWriter has no CloseNotify", server)
		}
		_, leaves := server.(leaving)
		select {
		case <-n.CloseNotify():
			if !leaves {
				t.Errorf("%T: CloseNotify reports that the client has gone", server)
			}
		default:
			if leaves {
				t.Errorf("%T: CloseNotify does not report that the client has gone", server)
			}
		}
	}
}

// The handler's ResponseWriter has the optional interfaces that the server's has, and no
// other.
func TestOptionalInterfaces(t *testing.T) {
	have := func(w http.ResponseWriter) (s string) {
		if _, ok := w.(http.Flusher); ok {
			s += "F"
		}
		if _, ok := w.(http.Hijacker); ok {
			s += "H"
		}
		if _, ok := w.(http.Pusher); ok {
			s += "P"
		}
		if _, ok := w.(io.ReaderFrom); ok {
			s += "R"
		}
		return s
	}
	p := &pusher{plain: plain{httptest.NewRecorder()}}
	r := &response{w: p}
	f, h, pp := withF{r}, withH{r}, withP{r}
	fh := withFH{f}
	for want, w := range map[string]http.ResponseWriter{
		"": p.plain, "F": f, "H": h, "P": pp, "R": withR{r},
		"FH": fh, "FP": withFP{f}, "FR": withFR{f}, "HP": withHP{h}, "HR": withHR{h}, "PR": withPR{pp},
		"FHP": withFHP{fh}, "FHR": withFHR{fh}, "FPR": withFPR{withFP{f}}, "HPR": withHPR{withHP{h}}, "FHPR": withFHPR{withFHP{fh}},
	} {
		x := newResponse()
		x.w = w
		got := x.as()
		if have(w) != want || have(got) != want {
			t.Errorf("the type of %q has %q, what is chosen for it %q", want, have(w), have(got))
		}
		if u, ok := got.(interface{ Unwrap() http.ResponseWriter }); !ok || u.Unwrap() != w {
			t.Errorf("%q: Unwrap does not return the server's", want)
		}
	}
	x := newResponse()
	x.w = p
	w := x.as()
	w.(http.Pusher).Push("/a", nil)
	if n, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("four")); n != 4 || err != nil || p.pushed != "/a" {
		t.Errorf("%d, %v, %q", n, err, p.pushed)
	}
	w.(http.Flusher).Flush()
}

// What is taken from the server counts as a request without a latency; files are sent
// by the kernel; a response that is kept cannot write to another request.
func TestHijackAndFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page")
	text := strings.Repeat("page", 50_000)
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	var kept http.ResponseWriter
	m, s := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			http.ServeFile(w, r, file)
		case "/keep":
			kept = w
		default:
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
			c.Close()
		}
	}, nil)
	if got := get(t, s, "/file"); got != text {
		t.Errorf("%d bytes of the file", len(got))
	}
	get(t, s, "/keep")
	if _, err := kept.Write([]byte("late")); !errors.Is(err, errGone) {
		t.Errorf("a write after the request: %v", err)
	}
	s.Client().CloseIdleConnections()
	settled(t, m, 2, arrivals(2))
	r, err := s.Client().Get(s.URL + "/hijack")
	if err == nil {
		r.Body.Close()
	}
	if f := settled(t, m, 3, arrivals(2)); f.Hijacked != 1 || f.Handler.Count() != 2 {
		t.Errorf("%d taken, %d with a latency", f.Hijacked, f.Handler.Count())
	}
}

// Work that is said to have arrived long before there was this process, as by a clock that
// was never set, does not make the sum negative, however much of it there is.
func TestSumIsBounded(t *testing.T) {
	var m Meter
	before := 0.0
	for i := 0; i < 20; i++ {
		m.Arrived(time.Unix(0, 0)).End(nil)
		sum := m.Read().Arrival.Sum
		if sum <= before || sum > float64(i+1)*24*3600 {
			t.Fatalf("after %d pieces of work the sum is %g s, before the last it was %g s", i+1, sum, before)
		}
		before = sum
	}
	var h histogram
	h.sum.Store(math.MaxInt64 - 1)
	h.add(time.Second)
	if sum := h.read().Sum; sum < 9e9 {
		t.Errorf("a full sum became %g s", sum)
	}
}

func TestWork(t *testing.T) {
	var m Meter
	m.Begin().End(nil)
	m.Arrived(time.Now().Add(-2 * time.Second)).End(errors.New("failed"))
	Work{}.End(nil)
	f := m.Read()
	if f.Requests != 2 || f.Failed != 1 || f.Arrival.Count() != 1 || f.Arrival.Quantile(1) < 2*time.Second || f.Handler.Count() != 2 {
		t.Errorf("got %+v", f)
	}
}

func TestAllocations(t *testing.T) {
	var m Meter
	h := m.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	w, r := &quietWriter{header: http.Header{}}, httptest.NewRequest("GET", "/", nil)
	if n := testing.AllocsPerRun(10_000, func() { h.ServeHTTP(w, r) }); n > 0 {
		t.Errorf("%g allocations per request", n)
	}
}

type quietWriter struct{ header http.Header }

func (w *quietWriter) Header() http.Header         { return w.header }
func (w *quietWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *quietWriter) WriteHeader(int)             {}

func BenchmarkMiddleware(b *testing.B) {
	var m Meter
	h := m.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		w, r := &quietWriter{header: http.Header{}}, httptest.NewRequest("GET", "/", nil)
		for p.Next() {
			h.ServeHTTP(w, r)
		}
	})
}
