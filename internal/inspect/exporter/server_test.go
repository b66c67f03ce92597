package exporter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/test/must"
)

// TestShare has many scrapes at once: one scan serves them all, and those that
// come within a second after it.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scanned := 0
		e := New(Options{Scan: func(context.Context) (observe.Snapshot, error) {
			scanned++ // the race detector would see two at once
			time.Sleep(3 * time.Second)
			return observe.Snapshot{}, nil
		}})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := e.refresh(t.Context()); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(100 * time.Millisecond)
		}
		all.Wait()
		if scanned != 1 {
			t.Errorf("%d scans for 20 scrapes at once", scanned)
		}
		for i, want := range []int{1, 1, 2} {
			time.Sleep(time.Duration(i) * 600 * time.Millisecond)
			if err := e.refresh(t.Context()); err != nil || scanned != want {
				t.Errorf("later %d: %d scans, %v; want %d", i, scanned, err, want)
			}
		}
		e.Close()
	})
}

// TestCancel leaves a scan alone: it is stopped when the last one goes, and who
// comes then gets a scan of its own, after it.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, canceled atomic.Int32
		e := New(Options{Scan: func(ctx context.Context) (observe.Snapshot, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			select {
			case <-ctx.Done():
				canceled.Add(1)
				time.Sleep(time.Second) // slow to stop
				return observe.Snapshot{}, ctx.Err()
			case <-time.After(10 * time.Second):
				return observe.Snapshot{}, nil
			}
		}})
		scan := func(patience time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			return e.refresh(ctx)
		}
		var all sync.WaitGroup
		all.Go(func() {
			if err := scan(time.Second); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := scan(2 * time.Second); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		time.Sleep(1400 * time.Millisecond)
		if canceled.Load() != 0 {
			t.Error("canceled while one still waits")
		}
		all.Wait()
		if err := scan(time.Minute); err != nil {
			t.Error(err)
		}
		if canceled.Load() != 1 || most.Load() != 1 {
			t.Errorf("%d canceled, %d at once", canceled.Load(), most.Load())
		}
		time.Sleep(2 * time.Second)
		go e.refresh(t.Context())
		time.Sleep(2 * time.Second)
		e.Close()
		if running.Load() != 0 || canceled.Load() != 2 {
			t.Errorf("after Close %d run, %d canceled", running.Load(), canceled.Load())
		}
	})
}

// TestFirstScan: a scan that is slow, and slow to stop, does not keep the exporter from
// serving; the end of its caller does.
func TestFirstScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Scan: func(context.Context) (observe.Snapshot, error) {
			time.Sleep(3 * firstScan)
			return observe.Snapshot{}, nil
		}})
		defer e.Close()
		began := time.Now()
		if err := e.FirstScan(t.Context()); err != nil || time.Since(began) != firstScan {
			t.Errorf("%v after %v, want %v", err, time.Since(began), firstScan)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := e.FirstScan(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, although the time of its caller is over", err)
		}
	})
}

func TestHandler(t *testing.T) {
	var said []string
	fail, slow := errors.New("open /proc: no such file or directory"), false
	e := New(Options{
		Logf: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
		Scan: func(ctx context.Context) (observe.Snapshot, error) {
			if slow {
				<-ctx.Done()
				return observe.Snapshot{}, ctx.Err()
			}
			return fixture(), fail
		},
	})
	h := e.Handler()
	if code, body := scrape(t, h, "/metrics"); code != 503 || !strings.Contains(body, "scan: open /proc: no such file") {
		t.Errorf("a scan that fails: %d %q", code, body)
	}
	slow = true
	if code, body := scrape(t, h, "/metrics", "X-Prometheus-Scrape-Timeout-Seconds", "0.02"); code != 503 || !strings.Contains(body, "longer than the 18 ms of this scrape: raise scrape_timeout") {
		t.Errorf("a slow scan: %d %q", code, body)
	}
	if len(said) != 2 || !strings.Contains(said[1], "scrape_timeout") {
		t.Errorf("said %q", said)
	}
	e.Close()
	fail, slow = nil, false
	if code, body := scrape(t, h, "/metrics"); code != 200 || !strings.Contains(body, "\n"+`procfit_exporter_scans_total{result="failed"} 2`+"\n") {
		t.Errorf("%d %q", code, body)
	}
	if code, body := scrape(t, h, "/metrics", "Accept", "application/openmetrics-text; version=1.0.0"); code != 200 || !strings.HasSuffix(body, "# EOF\n") {
		t.Errorf("OpenMetrics: %d", code)
	}
	if code, body := scrape(t, h, "/healthz"); code != 200 || body != "ok\n" {
		t.Errorf("health: %d %q", code, body)
	}
	if code, body := scrape(t, h, "/"); code != 200 || !strings.Contains(body, `href="/metrics"`) {
		t.Errorf("index: %d %q", code, body)
	}
	if code, _ := scrape(t, h, "/etc/passwd"); code != 404 {
		t.Errorf("another path: %d", code)
	}
}

func TestTimeout(t *testing.T) {
	const longest = longestScrape - 500*time.Millisecond
	for header, want := range map[string]time.Duration{
		"": scrapeTimeout, "60": 59500 * time.Millisecond, "10": 9500 * time.Millisecond, "1": 900 * time.Millisecond, "0.5": 450 * time.Millisecond,
		"0": scrapeTimeout, "-1": scrapeTimeout, "x": scrapeTimeout, "NaN": scrapeTimeout, "+Inf": longest, "1e300": longest,
	} {
		h := http.Header{"X-Prometheus-Scrape-Timeout-Seconds": {header}}
		if got := timeoutOf(h); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

// TestServe ends while a scrape is under way: it gets its answer.
func TestServe(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	e := New(Options{Scan: func(context.Context) (observe.Snapshot, error) {
		stop()
		time.Sleep(100 * time.Millisecond)
		return fixture(), nil
	}})
	ended := make(chan error)
	go func() { ended <- Serve(ctx, l, e.Handler()) }()
	r := must.Get(http.Get("http://" + l.Addr().String() + "/metrics"))(t)
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != 200 || !strings.Contains(string(body), "procfit_process_info{") {
		t.Errorf("%s, %v", r.Status, err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

// TestServeHere: an exporter on the loopback does not answer a name that a page in a browser has
// led here; one for other machines has any name.
func TestServeHere(t *testing.T) {
	for address, want := range map[string]int{"127.0.0.1:0": 403, ":0": 200} {
		l := must.Get(net.Listen("tcp", address))(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		e := New(Options{Scan: func(context.Context) (observe.Snapshot, error) { return fixture(), nil }})
		go func() { ended <- Serve(ctx, l, e.Handler()) }()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		for host, want := range map[string]int{"evil.example": want, "127.0.0.1.evil.example:80": want, "localhost:" + port: 200, "127.0.0.1:" + port: 200} {
			r := must.Get(http.NewRequest(http.MethodGet, "http://127.0.0.1:"+port+"/metrics", nil))(t)
			r.Host = host
			answer := must.Get(http.DefaultClient.Do(r))(t)
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s, host %s: %s, want %d", address, host, answer.Status, want)
			}
		}
		stop()
		<-ended
		e.Close()
	}
}

// oneConn is a listener in memory, with one connection.
type oneConn struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l oneConn) Close() error   { close(l.closed); return nil }
func (l oneConn) Addr() net.Addr { return new(net.TCPAddr) }

// TestServeLongScan: a scan may take as long as the scraper waits.
func TestServeLongScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Scan: func(context.Context) (observe.Snapshot, error) {
			time.Sleep(4 * time.Minute)
			return fixture(), nil
		}})
		defer e.Close()
		ours, theirs := net.Pipe()
		defer ours.Close()
		l := oneConn{make(chan net.Conn, 1), make(chan struct{})}
		l.conn <- theirs
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, l, e.Handler()) }()
		must.Get(io.WriteString(ours, "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Prometheus-Scrape-Timeout-Seconds: 300\r\n\r\n"))(t)
		r := must.Get(http.ReadResponse(bufio.NewReader(ours), nil))(t)
		if body, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 200 || !strings.Contains(string(body), "procfit_process_info{") {
			t.Errorf("%s, %v: %.200s", r.Status, err, body)
		}
		stop()
		<-ended
	})
}

// TestSlowReaders: clients that do not read keep nobody else from an answer; of too many, the first one
// is cut off.
func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := exporterOf(fixture())
		defer e.Close()
		l := oneConn{make(chan net.Conn), make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, l, e.Handler()) }()
		var all []net.Conn
		for range mostSending + 1 {
			ours, theirs := net.Pipe()
			defer ours.Close()
			l.conn <- theirs
			must.Get(io.WriteString(ours, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
			synctest.Wait()
			all = append(all, ours)
		}
		for _, i := range []int{mostSending, 1} {
			r := must.Get(http.ReadResponse(bufio.NewReader(all[i]), nil))(t)
			if body, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 200 || !strings.Contains(string(body), "procfit_process_info{") {
				t.Errorf("client %d: %s, %v: %.200s", i, r.Status, err, body)
			}
		}
		if text, err := io.ReadAll(all[0]); err != nil || len(text) > 0 {
			t.Errorf("the first client: %v, %.200s", err, text)
		}
		stop()
		<-ended
	})
}

// A scan that runs out of its time answers with what it has, to those alone who have no
// more time.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const needs = 20 * time.Second
		e := New(Options{Scan: func(ctx context.Context) (observe.Snapshot, error) {
			snap := fixture()
			select {
			case <-time.After(needs):
			case <-ctx.Done():
				if context.Cause(ctx) != observe.ErrTime {
					return observe.Snapshot{}, ctx.Err()
				}
				snap.Processes = snap.Processes[:1]
				snap.Unreadable = append(snap.Unreadable, observe.Unreadable{PID: 9, Cause: observe.Late})
			}
			return snap, nil
		}})
		defer e.Close()
		h := e.Handler()
		within := func(timeout string, wait time.Duration) (body string) {
			began := time.Now()
			code, body := scrape(t, h, "/metrics", "X-Prometheus-Scrape-Timeout-Seconds", timeout)
			if took := time.Since(began); code != http.StatusOK || took > wait {
				t.Errorf("a scrape of %s s: %d after %v: %.200s", timeout, code, took, body)
			}
			return body
		}
		const late = `procfit_exporter_processes_unreadable{reason="time"} 1`
		for range 2 { // what is not whole is given to nobody else
			must.Say(t, within("10", 9500*time.Millisecond), late, "procfit_exporter_processes 1\n")
		}
		var both sync.WaitGroup // who has more time is not hurried by who has less
		both.Go(func() { scrape(t, h, "/metrics", "X-Prometheus-Scrape-Timeout-Seconds", "1") })
		both.Go(func() {
			time.Sleep(time.Millisecond)
			if body := within("30", 30*time.Second); strings.Contains(body, late) {
				t.Error("hurried by a scrape that has less time")
			}
		})
		both.Wait()
	})
}
