package engine

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"encoding/pem"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

// The ways in which the portable engine speaks.
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
	s := httptest.NewUnstartedServer(h)
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
		if err := os.WriteFile(o.TLS.CACert, b, 0o600); err != nil {
			t.Fatal(err)
		}
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

func TestPortableClosedLoop(t *testing.T) {
	for _, way := range ways() {
		t.Run(way, func(t *testing.T) {
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
			o.Method, o.Body, o.Headers = "PUT", []byte("body"), []string{"X-Y: z", "Host: elsewhere", "Connection: keep-alive"}
			r := mustRun(t, o)
			if text := bad.Load(); text != nil {
				t.Errorf("the server saw %s", *text)
			}
			if r.Requests != count.Load() || r.Requests < 10 || r.Errors != 0 || r.Unanswered != 0 {
				t.Errorf("%d requests and %d unanswered, the server saw %d; errors %v", r.Requests, r.Unanswered, count.Load(), r.ErrorKinds)
			}
			if r.Latency.TotalCount() != r.Requests || r.SendLag != nil || r.Mode != load.ModeClosed {
				t.Errorf("%d latencies for %d requests, send lag %v, mode %s", r.Latency.TotalCount(), r.Requests, r.SendLag, r.Mode)
			}
			if got := r.AchievedPerSecond * r.Duration.Seconds(); got > float64(r.Requests) || got < float64(r.Requests)-float64(12) {
				t.Errorf("%.0f requests within the duration of %d", got, r.Requests)
			}
			if r.User+r.System <= 0 || r.Busiest <= 0 || r.BytesRead < 20*r.Requests {
				t.Errorf("CPU time %v + %v, busiest %v, %d bytes", r.User, r.System, r.Busiest, r.BytesRead)
			}
			want := map[string]string{overPlain: "HTTP/1.1", overTLS: "HTTP/1.1", overModern: "HTTP/2", overH2C: "HTTP/2"}[way]
			if r.Protocol != want || r.Engine != load.EnginePortable {
				t.Errorf("%s by %s", r.Protocol, r.Engine)
			}
		})
	}
}

// silent takes requests and never answers.
type silent struct{ wire.Conn }

func (silent) Start(int, *wire.Request) {}
func (silent) Flush() *wire.Failure     { return nil }

// A connection that waits for the lock while the load begins sends requests that count.
func TestFirstRequestsCount(t *testing.T) {
	r := &run{plan: &plan{Prepared: &load.Prepared{Options: load.Options{Duration: time.Second}}, targets: []target{{requests: make([]*wire.Request, 1)}}}, base: time.Now()}
	p := &pool{lane: lane{run: r}}
	l := &link{pool: p, conn: silent{}, places: make([]place, 1)}
	l.places[0].link = l
	p.mu.Lock()
	refilled := make(chan bool)
	go func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refill()
		close(refilled)
	}()
	time.Sleep(20 * time.Millisecond) // it waits for the lock now
	p.begun, r.from, r.end = true, r.clock(), r.clock()+int64(time.Minute)
	p.mu.Unlock()
	<-refilled
	if x := l.places[0]; !x.busy || x.start < r.from {
		t.Errorf("busy %v; it starts at %d, and what counts starts at %d", x.busy, x.start, r.from)
	}
}

func TestPortableOpenLoop(t *testing.T) {
	t.Parallel()
	for _, way := range ways() {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			var count atomic.Int64
			o := served(t, way, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				count.Add(1)
				time.Sleep(time.Millisecond)
			}))
			o.Rate, o.Duration, o.Settle = 300, time.Second, 200*time.Millisecond
			r := mustRun(t, o)
			if r.Requests != 300 || r.Errors != 0 || r.Dropped != 0 || r.Unanswered != 0 || count.Load() != 360 {
				t.Errorf("%d requests, the server saw %d; errors %v, %d dropped", r.Requests, count.Load(), r.ErrorKinds, r.Dropped)
			}
			if r.SendLag.TotalCount() != 300 || r.Latency.TotalCount() != 300 {
				t.Errorf("%d lags, %d latencies", r.SendLag.TotalCount(), r.Latency.TotalCount())
			}
			if r.AchievedPerSecond < 100 || r.AchievedPerSecond > 301 {
				t.Errorf("%v a second", r.AchievedPerSecond)
			}
		})
	}
}
