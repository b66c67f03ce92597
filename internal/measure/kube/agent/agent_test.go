package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

const testToken = "token"

// through leads to a server whatever the host is. Every other answer is lost on the way
// where lossy.
type through struct {
	to    string
	lossy bool
	n     atomic.Int64
}

func (t *through) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = t.to
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && t.lossy && t.n.Add(1)%2 == 1 {
		response.Body.Close()
		return nil, errors.New("the API server is gone")
	}
	return response, err
}

// offers answers each load after the end of its measured time.
type offers struct {
	mu   sync.Mutex
	seen []load.Options
	err  error
}

func (o *offers) offer(_ context.Context, l load.Options) (*load.Result, error) {
	o.mu.Lock()
	o.seen = append(o.seen, l)
	o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	l.Ended()
	h := hdrhistogram.New(1, int64(time.Minute), 3)
	h.RecordValue(12345)
	return &load.Result{Mode: load.ModeOpen, Requests: 7, ErrorKinds: map[load.Kind]int64{load.Kind("reset"): 2}, Duration: time.Second, Latency: h, SendLag: h, PerURL: []load.URLCount{{Answered: 7}}, PerRequest: []load.RequestResult{{Name: "GET /a", Answered: 7, Latency: h}}}, nil
}

func serve(t *testing.T, o *offers) *through {
	t.Helper()
	s := httptest.NewServer(NewServer(testToken, o.offer).Handler(t.Context()))
	t.Cleanup(s.Close)
	return &through{to: s.Listener.Addr().String()}
}

func asker(way http.RoundTripper, patience time.Duration) *Client {
	return &Client{Token: testToken, Transport: way, Patience: patience, Gone: func(context.Context) error { return nil }, Renew: func() {}}
}

// A load is offered once with all that was asked for, and all of its result comes back,
// whatever gets lost on the way.
func TestLoad(t *testing.T) {
	for _, lossy := range []bool{false, true} {
		o := &offers{}
		way := serve(t, o)
		way.lossy = lossy
		c := asker(way, time.Minute)
		ended := 0
		want := load.Options{URLs: []string{"http://10.0.0.1:80/"}, Body: []byte{0, 1, 255}, Headers: []string{"A: b"}, Connections: 3, Rate: 12.5, Duration: time.Second, Settle: 5, Timeout: 9, Threads: 2}
		r := must.Get(c.Load(t.Context(), want, func(time.Duration) { ended++ }))(t)
		if r.Requests != 7 || r.ErrorKinds[load.Kind("reset")] != 2 || r.Latency.TotalCount() != 1 || r.Latency.Max() != r.SendLag.Max() || r.PerURL[0].Answered != 7 {
			t.Errorf("lossy %v: %+v", lossy, r)
		}
		if len(r.PerRequest) != 1 || r.PerRequest[0].Name != "GET /a" || r.PerRequest[0].Answered != 7 || r.PerRequest[0].Latency.Max() != r.Latency.Max() {
			t.Errorf("lossy %v: of a mix %+v", lossy, r.PerRequest)
		}
		if ended != 1 || len(o.seen) != 1 {
			t.Errorf("lossy %v: ended %d times, offered %d", lossy, ended, len(o.seen))
		}
		got := o.seen[0]
		if got.Connections != 3 || got.Rate != 12.5 || string(got.Body) != "\x00\x01\xff" || got.Headers[0] != "A: b" || got.Settle != 5 || got.Threads != 2 || got.URLs[0] != want.URLs[0] {
			t.Errorf("offered %+v", got)
		}
	}
}

// A load whose trial ended early ends before the next one starts.
func TestOneLoadAtATime(t *testing.T) {
	started := make(chan struct{})
	var running atomic.Int64
	handler := NewServer(testToken, func(ctx context.Context, _ load.Options) (*load.Result, error) {
		if running.Add(1) > 1 {
			t.Error("two loads at once")
		}
		started <- struct{}{}
		<-ctx.Done()
		running.Add(-1)
		return nil, ctx.Err()
	}).Handler(t.Context())
	for _, id := range []string{"a", "b"} {
		r, w := httptest.NewRequest(http.MethodPut, "http://"+host+"/loads/"+id, strings.NewReader("{}")), httptest.NewRecorder()
		r.Header.Set(tokenHeader, testToken)
		if handler.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		<-started
	}
}

// What the engine refuses is reported as it is, at once.
func TestLoadRefused(t *testing.T) {
	c := asker(serve(t, &offers{err: errors.New("no such engine")}), time.Minute)
	_, err := c.Load(t.Context(), load.Options{}, nil)
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "no such engine") {
		t.Errorf("%v", err)
	}
}

// An agent that is known to be gone is not waited for.
func TestGone(t *testing.T) {
	why := errors.New("pod load was evicted")
	c := asker(&through{to: "127.0.0.1:1"}, time.Hour)
	c.Gone = func(context.Context) error { return why }
	var lost *LostError
	if _, err := c.Load(t.Context(), load.Options{}, nil); !errors.As(err, &lost) || !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	c = asker(&through{to: "127.0.0.1:1"}, time.Millisecond)
	if _, err := c.Look(t.Context(), 80); !errors.As(err, &lost) {
		t.Errorf("%v", err)
	}
}

// A page is fetched from where the agent is; redirects are answers.
func TestFetch(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
	}))
	defer page.Close()
	c := asker(serve(t, &offers{}), time.Minute)
	if a, err := c.Fetch(t.Context(), page.URL); err != nil || a.Status != http.StatusFound {
		t.Errorf("%+v, %v", a, err)
	}
	page.Close()
	if a, err := c.Fetch(t.Context(), page.URL); err != nil || a.Error == "" {
		t.Errorf("of nobody: %+v, %v", a, err)
	}
}

// An agent that nobody asks ends, also with a load that nobody waits for; one that has a
// question to answer does not.
func TestIdle(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	if err := NewServer(testToken, nil).Serve(t.Context(), l, 10*time.Millisecond); err != nil {
		t.Errorf("%v", err)
	}
	s := NewServer(testToken, nil)
	s.job = newJob("a")
	s.ask(1)
	s.asked = time.Now().Add(-time.Hour)
	if s.idleFor(time.Minute) {
		t.Error("idle while a question waits for its answer")
	}
	s.ask(-1)
	s.asked = time.Now().Add(-time.Hour)
	if !s.idleFor(time.Minute) {
		t.Error("a load that nobody waits for keeps it")
	}
}

// Who shares the pod's loopback and has not the token gets nothing: no page, no load, no
// end, and no longer life. Neither does a name that leads a browser there.
func TestOnlyItsSweepIsAnswered(t *testing.T) {
	o := &offers{}
	s := NewServer(testToken, o.offer)
	handler := s.Handler(t.Context())
	asked := s.asked
	for _, q := range []struct{ method, path, host, token string }{
		{http.MethodPut, "/end", host, ""},
		{http.MethodPut, "/end", host, "x" + testToken},
		{http.MethodPut, "/loads/a", host, ""},
		{http.MethodGet, "/answer?url=http://192.0.2.1/", host, ""},
		{http.MethodPut, "/end", "127.0.0.1:9878", testToken},
		{http.MethodPut, "/end", "evil.example", testToken},
	} {
		r := httptest.NewRequest(q.method, "http://"+q.host+q.path, strings.NewReader("{}"))
		r.Header.Set(tokenHeader, q.token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden && w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%+v is answered with %d %s", q, w.Code, w.Body)
		}
	}
	if len(o.seen) > 0 || s.ending || s.asked != asked || s.job != nil {
		t.Errorf("%d loads offered, ending %v, asked %v", len(o.seen), s.ending, s.asked != asked)
	}
	empty := httptest.NewRecorder()
	NewServer("", o.offer).Handler(t.Context()).ServeHTTP(empty, httptest.NewRequest(http.MethodPut, "http://"+host+"/end", nil))
	if empty.Code != http.StatusForbidden {
		t.Errorf("an agent without a token answers with %d", empty.Code)
	}
}

// zeros is a body that never ends.
type zeros struct{ read int64 }

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	z.read += int64(len(p))
	return len(p), nil
}

// endlessAnswer is what another program may send that has the agent's port.
type endlessAnswer struct{ zeros }

func (e *endlessAnswer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&e.zeros)}, nil
}

// An answer without an end is not kept, and not asked for again.
func TestAnswersAreBounded(t *testing.T) {
	endless := &endlessAnswer{}
	c := asker(endless, time.Minute)
	_, err := c.Look(t.Context(), 80)
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "port 9878") || endless.read > 2*mostAnswer {
		t.Errorf("%v, after %d bytes", err, endless.read)
	}
}

// A load has a largest body and a longest duration.
func TestLoadsAreBounded(t *testing.T) {
	s := NewServer(testToken, (&offers{}).offer)
	put := func(body io.Reader) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodPut, "http://"+host+"/loads/a", body), httptest.NewRecorder()
		r.Header.Set(tokenHeader, testToken)
		s.Handler(t.Context()).ServeHTTP(w, r)
		return w
	}
	endless := &zeros{}
	if w := put(io.MultiReader(strings.NewReader(`{"Method":"`), endless)); w.Code != http.StatusRequestEntityTooLarge || endless.read > 2*mostLoad {
		t.Errorf("an endless body: %d %s, after %d bytes", w.Code, w.Body, endless.read)
	}
	c := asker(serve(t, &offers{}), time.Minute)
	_, err := c.Load(t.Context(), load.Options{Duration: longest + 1}, nil)
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "at most 24h") {
		t.Errorf("a load of more than a day: %v", err)
	}
}
