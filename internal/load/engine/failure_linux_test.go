//go:build !portable

package engine

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// A server that fails is not stormed: back-off bounds the attempts.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		serve func(net.Conn)
		kinds []load.Kind // one of them
	}{
		"closes at once":    {func(net.Conn) {}, []load.Kind{load.KindClosed, load.KindReset}},
		"closes on request": {func(c net.Conn) { http.ReadRequest(bufio.NewReader(c)) }, []load.Kind{load.KindClosed, load.KindReset}},
		"resets": {func(c net.Conn) {
			http.ReadRequest(bufio.NewReader(c))
			c.(*net.TCPConn).SetLinger(0)
		}, []load.Kind{load.KindReset}},
		"cut off":             {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx") }, nil},
		"unexpected protocol": {answer("SSH-2.0-x\r\n"), []load.Kind{load.KindMalformed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var opened atomic.Int64
			o := short(raw(t, func(c net.Conn) { opened.Add(1); tt.serve(c) }))
			r, err := Run(t.Context(), o)
			// 2, 4, 8 … 128 ms: seven attempts fit into the time for each connection.
			if n := opened.Load(); n > int64(o.Connections)*10 {
				t.Errorf("%d connections were opened", n)
			}
			if err != nil {
				t.Logf("not loaded: %v", err) // nothing could be opened before the start
				return
			}
			if r.Requests != 0 || r.Errors == 0 || r.FirstError.Kind == "" || r.AchievedPerSecond != 0 {
				t.Errorf("%d requests, errors %v", r.Requests, r.ErrorKinds)
			}
			found := func(k load.Kind) bool { return r.ErrorKinds[k] > 0 }
			if tt.kinds != nil && !slices.ContainsFunc(tt.kinds, found) {
				t.Errorf("errors %v, want %q", r.ErrorKinds, tt.kinds)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	l.Close()
	_, err = Run(t.Context(), short("http://"+l.Addr().String()+"/"))
	if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("error %v", err)
	}
}

// The server goes away in the middle of the run and comes back.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	serve := func(l net.Listener) *http.Server {
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, smallBody) })}
		go s.Serve(l)
		return s
	}
	s := serve(l)
	restarted := make(chan struct{})
	go func() {
		defer close(restarted)
		time.Sleep(200 * time.Millisecond)
		s.Close()
		time.Sleep(400 * time.Millisecond)
		if l, err := net.Listen("tcp", l.Addr().String()); err == nil {
			s = serve(l)
		}
	}()
	o := short("http://" + l.Addr().String() + "/")
	o.Rate, o.Duration = 200, 1500*time.Millisecond // a busy machine carries that too
	r := mustRun(t, o)
	<-restarted
	defer s.Close()
	if r.ErrorKinds[load.KindRefused] == 0 || r.ErrorKinds[load.KindRefused] > 100 {
		t.Errorf("errors %v", r.ErrorKinds)
	}
	// The slots of the gap waited for the server and were all served after it.
	if r.Requests < 280 || r.Dropped != 0 {
		t.Errorf("%d requests of 300, %d dropped, errors %v", r.Requests, r.Dropped, r.ErrorKinds)
	}
	if p90 := time.Duration(r.Latency.ValueAtQuantile(90)); p90 < 50*time.Millisecond {
		t.Errorf("p90 %v: the gap is hidden", p90)
	}
}
