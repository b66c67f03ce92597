package engine

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// both runs a test with both engines.
func both(t *testing.T, run func(t *testing.T, engine string)) {
	for _, engine := range []string{"", load.EnginePortable} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			run(t, engine)
		})
	}
}

// A server or balancer that waits too long for the next request on a connection ends it,
// with or without a 408 that nobody has asked for: no request has failed by that.
func TestIdleConnectionsEnd(t *testing.T) {
	t.Parallel()
	for name, farewell := range map[string]string{
		"silently":   "",
		"with a 408": "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, engine string) {
				var ended, crossed, waiting atomic.Int64
				url := raw(t, func(c net.Conn) {
					in := bufio.NewReader(c)
					for {
						_ = c.SetReadDeadline(time.Now().Add(311 * time.Millisecond)) // seldom when a request is due
						if _, err := in.Peek(1); err != nil {
							ended.Add(1)
							waiting.Add(1)
							defer waiting.Add(-1)
							_, _ = io.WriteString(c, farewell)
							_ = c.(*net.TCPConn).CloseWrite()
							_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // on a busy machine the client learns of it late
							if _, err := in.Peek(1); err == nil {
								crossed.Add(1)
							}
							return
						}
						_ = c.SetReadDeadline(time.Time{})
						if _, err := http.ReadRequest(in); err != nil {
							return
						}
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					}
				})
				o := load.Options{URLs: []string{url}, Engine: engine, Connections: 16, Rate: 20, Duration: time.Second, Timeout: 5 * time.Second}
				r := mustRun(t, o)
				for waiting.Load() > 0 { // the server may see a request after the client gave it up
					time.Sleep(time.Millisecond)
				}
				// A request that is sent at the very moment fails with its connection, unless it
				// gets the 408: then it is sent again.
				failed := crossed.Load()
				if farewell != "" {
					failed = 0
				}
				if r.FailedRequests() > failed || r.Requests+r.Unanswered+r.Dropped < 20-failed || ended.Load() < 5 {
					t.Errorf("%d answers, %d unanswered, %d never sent; errors %v (%v); %d connections ended idle, %d as a request came", r.Requests, r.Unanswered, r.Dropped, r.ErrorKinds, r.FirstError, ended.Load(), crossed.Load())
				}
			})
		})
	}
}

// A connection that is refused is no failed request: the request that waits for it is
// counted when it is sent, or as never sent. So each request of the schedule is counted
// once.
func TestRefusedConnectionsAreNoRequests(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, engine string) {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, smallBody) })}
		go s.Serve(l)
		o := load.Options{URLs: []string{"http://" + l.Addr().String() + "/"}, Engine: engine, Connections: 4, Rate: 100, Duration: time.Second, Timeout: 5 * time.Second}
		o.Began = func() { time.AfterFunc(300*time.Millisecond, func() { s.Close() }) }
		last := int64(-1)
		o.Each = func(i load.Interval) { last = i.Failed }
		r := mustRun(t, o)
		failed := r.FailedRequests()
		if r.FailedConnections == 0 || r.FailedConnections > r.ErrorKinds[load.KindRefused] || r.Requests+failed+r.Unanswered+r.Dropped != 100 {
			t.Errorf("%d answered, %d failed, %d unanswered, %d never sent of 100; %d connections failed, errors %v", r.Requests, failed, r.Unanswered, r.Dropped, r.FailedConnections, r.ErrorKinds)
		}
		if last != failed {
			t.Errorf("%d failed at the end, and %d in all", last, failed)
		}
	})
}

// A stream that the server refuses to start is sent again (RFC 9113, section 8.7), but not
// for ever.
func TestRefusedStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every int // so many requests are refused one
		good  bool
	}{"one of three": {3, true}, "all": {1, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := framed(t, loopback(t), nil, func(fr *http2.Framer, stream uint32, n int) error {
				if n%c.every == 0 {
					return fr.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
				}
				return begin(fr, stream, true, ":status", "200")
			})
			r := mustRun(t, load.Options{URLs: []string{url}, Connections: 2, Rate: 100, Duration: 300 * time.Millisecond, Timeout: 5 * time.Second})
			if c.good && (r.Errors > 0 || r.Requests+r.Unanswered+r.Dropped != 30) || !c.good && (r.Requests > 0 || r.ErrorKinds[load.KindStreamReset] == 0) {
				t.Errorf("%d answers, errors %v (%v), %d unanswered, %d never sent", r.Requests, r.ErrorKinds, r.FirstError, r.Unanswered, r.Dropped)
			}
		})
	}
}

// What ends a connection of HTTP/2 by RFC 9113 is no answer.
func TestWrongFrames(t *testing.T) {
	t.Parallel()
	answered := func(fr *http2.Framer, stream uint32) error { return begin(fr, stream, true, ":status", "200") }
	for name, before := range map[string]func(fr *http2.Framer, stream uint32) error{
		"an even stream":         func(fr *http2.Framer, _ uint32) error { return begin(fr, 2, true, ":status", "200") },
		"a stream of the future": func(fr *http2.Framer, stream uint32) error { return fr.WriteData(stream+2, true, []byte("x")) },
		"a window of none":       func(fr *http2.Framer, stream uint32) error { return fr.WriteWindowUpdate(stream+2, 1) },
		"a reset of none":        func(fr *http2.Framer, stream uint32) error { return fr.WriteRSTStream(stream+2, http2.ErrCodeNo) },
		"too wide a window":      func(fr *http2.Framer, stream uint32) error { return fr.WriteWindowUpdate(stream, 1<<31-1) },
		"too wide a connection":  func(fr *http2.Framer, _ uint32) error { return fr.WriteWindowUpdate(0, 1<<31-1) },
		"too wide a window, by settings": func(fr *http2.Framer, stream uint32) error {
			return errors.Join(fr.WriteWindowUpdate(stream, 1<<30), fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := framed(t, loopback(t), nil, func(fr *http2.Framer, stream uint32, _ int) error {
				return errors.Join(before(fr, stream), answered(fr, stream))
			})
			checkLie(t, forReal, load.Options{URLs: []string{url}}, false, load.KindMalformed)
		})
	}
}

// A server that allows no more requests on a connection gets none: those under way end
// there, and the next goes to another connection, which is as good.
func TestLimitOfStreamsFalls(t *testing.T) {
	t.Parallel()
	var beyond, served atomic.Int64
	url := raw(t, func(c net.Conn) {
		served.Add(1)
		frames(nil, func(fr *http2.Framer, stream uint32, n int) error {
			if n > 1 {
				beyond.Add(1)
			}
			return errors.Join(fr.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0}), begin(fr, stream, true, ":status", "200"))
		})(c)
	})
	r := mustRun(t, load.Options{URLs: []string{"h2c" + url[len("http"):]}, Connections: 1, Duration: 300 * time.Millisecond, Timeout: 5 * time.Second})
	if beyond.Load() > 0 || r.Errors > 0 || r.Requests < 2 || served.Load() < r.Requests {
		t.Errorf("%d answers on %d connections, %d requests beyond the limit, errors %v (%v)", r.Requests, served.Load(), beyond.Load(), r.ErrorKinds, r.FirstError)
	}
}
