package engine

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/loadtest"
	"github.com/procfit/procfit/test/need"
)

func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

// framed is a server of HTTP/2 that answers each request as it likes, on the level
// of frames; it reads no bodies unless asked to.
func framed(t testing.TB, l net.Listener, settings []http2.Setting, serve func(fr *http2.Framer, stream uint32, n int) error) string {
	return "h2c" + strings.TrimPrefix(rawAt(t, l, frames(settings, serve)), "http")
}

func frames(settings []http2.Setting, serve func(fr *http2.Framer, stream uint32, n int) error) func(net.Conn) {
	return func(c net.Conn) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(c, preface); err != nil {
			return
		}
		fr := http2.NewFramer(c, bufio.NewReader(c))
		fr.AllowIllegalWrites = true
		if fr.WriteSettings(settings...) != nil {
			return
		}
		for n := 0; ; {
			f, err := fr.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := f.(*http2.HeadersFrame); ok {
				n++
				if serve(fr, h.StreamID, n) != nil {
					return
				}
			}
		}
	}
}

// head is a header block.
func head(fields ...string) []byte {
	var b strings.Builder
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: true}) // in no table, so that any stream may have it
	}
	return []byte(b.String())
}

func begin(fr *http2.Framer, stream uint32, end bool, fields ...string) error {
	const most = 16 << 10 // bytes of a frame
	block := head(fields...)
	first := block[:min(len(block), most)]
	block = block[len(first):]
	err := fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndHeaders: len(block) == 0, EndStream: end})
	for err == nil && len(block) > 0 {
		part := block[:min(len(block), most)]
		block = block[len(part):]
		err = fr.WriteContinuation(stream, len(block) == 0, part)
	}
	return err
}

// hostile is a server that does what it must not, and the kind that tells it.
type hostile struct {
	at     string // the beginning of its URL; empty: h2c
	serve  func(net.Conn)
	listen func(testing.TB, net.Listener) string // in place of serve, one of net/http; its URL
	change func(*load.Options)
	kind   load.Kind
}

// url starts the server.
func (h hostile) url(t testing.TB, l net.Listener) string {
	url := ""
	if h.listen != nil {
		url = h.listen(t, l)
	} else {
		url = rawAt(t, l, h.serve)
	}
	_, address, _ := strings.Cut(url, ":")
	return cmp.Or(h.at, "h2c") + ":" + address
}

// turnsAway gives each connection up at once, before any request, and leaves it to the client to
// close it.
func turnsAway(code http2.ErrCode) func(net.Conn) {
	return func(c net.Conn) {
		out := bufio.NewWriter(c)
		fr := http2.NewFramer(out, nil)
		_ = fr.WriteSettings()
		_ = fr.WriteGoAway(0, code, []byte("too many"))
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err == nil && out.Flush() == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}
}

type serveStream = func(fr *http2.Framer, stream uint32, n int) error

func hostiles(own tls.Certificate) map[string]hostile {
	plain := func(t testing.TB, l net.Listener) string {
		s := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: quietLog()}
		t.Cleanup(func() { s.Close() })
		go s.Serve(l)
		return "http://" + l.Addr().String() + "/"
	}
	secure := func(proto string) func(testing.TB, net.Listener) string {
		return func(t testing.TB, l net.Listener) string {
			return securedAt(t, l, &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{proto}})
		}
	}
	modern := frames(nil, func(fr *http2.Framer, stream uint32, _ int) error { return begin(fr, stream, true, ":status", "200") })
	mute := func(*http2.Framer, uint32, int) error { return nil }
	all := map[string]hostile{
		"h2c at HTTP/1.1":     {listen: plain, kind: load.KindProtocol},
		"http at h2c":         {at: "http", serve: modern, kind: load.KindProtocol},
		"https at HTTP/1.1":   {at: "https", listen: plain, kind: load.KindProtocol},
		"https at h2c":        {at: "https", serve: modern, kind: load.KindProtocol},
		"streams of HTTP/1.1": {at: "https", listen: secure("http/1.1"), change: func(o *load.Options) { o.TLS.Insecure, o.Streams = true, 2 }, kind: load.KindStreams},
		"http at https":       {at: "http", listen: secure("h2"), kind: "status_400"}, // which Go's server answers
		"too few streams":     {serve: frames([]http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}}, nil), change: func(o *load.Options) { o.Streams = 2 }, kind: load.KindStreams},

		"turned away":          {serve: turnsAway(http2.ErrCodeEnhanceYourCalm), kind: load.KindGoAway},
		"turned away kindly":   {serve: turnsAway(http2.ErrCodeNo), kind: load.KindClosed},
		"no window":            {serve: frames(nil, mute), change: func(o *load.Options) { o.Body = make([]byte, 1<<20) }, kind: load.KindUnsent},
		"a header of 10 MB":    {at: "http", serve: answer("HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", 10<<20) + "\r\n\r\n"), kind: load.KindTooLarge},
		"an endless HTTP/1":    {at: "http", serve: endlessChunks, kind: load.KindUnfinished},
		"a body not taken":     {at: "http", serve: func(net.Conn) { time.Sleep(time.Minute) }, change: func(o *load.Options) { o.Body = make([]byte, 32<<20) }, kind: load.KindUnsent},
		"HTTP/1.1, mute":       {at: "http", serve: func(c net.Conn) { io.Copy(io.Discard, c) }, kind: load.KindTimeout},
		"HTTP/1.1, half a way": {at: "http", serve: answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"), kind: load.KindUnfinished},
	}
	for name, of := range map[string]struct {
		serve serveStream
		kind  load.Kind
	}{
		"reset": {func(fr *http2.Framer, stream uint32, _ int) error {
			return fr.WriteRSTStream(stream, http2.ErrCodeInternal)
		}, load.KindStreamReset},
		"gone with an error": {func(fr *http2.Framer, stream uint32, _ int) error {
			fr.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("calm"))
			return io.EOF
		}, load.KindGoAway},
		"gone at once": {func(fr *http2.Framer, stream uint32, _ int) error {
			fr.WriteGoAway(0, http2.ErrCodeNo, nil)
			return io.EOF
		}, load.KindGoAway},
		"no end":    {func(fr *http2.Framer, stream uint32, _ int) error { return begin(fr, stream, false, ":status", "200") }, load.KindUnfinished},
		"mute":      {mute, load.KindTimeout},
		"no status": {func(fr *http2.Framer, stream uint32, _ int) error { return begin(fr, stream, true, "a", "b") }, load.KindMalformed},
		"bad compression": {func(fr *http2.Framer, stream uint32, _ int) error {
			return fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true, EndStream: true})
		}, load.KindMalformed},
		"a long frame": {func(fr *http2.Framer, stream uint32, _ int) error {
			return fr.WriteData(stream, true, make([]byte, 1<<20))
		}, load.KindMalformed},
		"closed":            {func(*http2.Framer, uint32, int) error { return io.EOF }, load.KindClosed},
		"headers of 10 MB":  {manyHeaders, load.KindTooLarge},
		"a bomb of headers": {bomb, load.KindTooLarge},
		"an endless body":   {endless, load.KindUnfinished},
	} {
		all[name] = hostile{serve: frames(nil, of.serve), kind: of.kind}
	}
	return all
}

// manyHeaders sends 10 MB of them, in frames that are each allowed.
func manyHeaders(fr *http2.Framer, stream uint32, _ int) error {
	block := head(":status", "200", "a", strings.Repeat("x", 10_000))
	if err := fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block}); err != nil {
		return err
	}
	for range 1000 {
		if err := fr.WriteContinuation(stream, false, head("a", strings.Repeat("x", 10_000))); err != nil {
			return err
		}
	}
	return nil
}

// bomb is few bytes that stand for many: one long field, named over and over.
func bomb(fr *http2.Framer, stream uint32, _ int) error {
	var b strings.Builder
	e := hpack.NewEncoder(&b)
	e.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	for range 5000 {
		e.WriteField(hpack.HeaderField{Name: "a", Value: strings.Repeat("x", 3000)})
	}
	return fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(b.String()), EndHeaders: true, EndStream: true})
}

func endless(fr *http2.Framer, stream uint32, _ int) error {
	if err := begin(fr, stream, false, ":status", "200"); err != nil {
		return err
	}
	var err error
	for err == nil {
		err = fr.WriteData(stream, false, make([]byte, 1000))
	}
	return err
}

func endlessChunks(c net.Conn) {
	if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
		return
	}
	_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	for err == nil {
		_, err = io.WriteString(c, "3e8\r\n"+strings.Repeat("x", 1000)+"\r\n")
	}
}

// Whatever a server does, its kind of failure is reported, nothing hangs and nothing
// counts as an answer.
func TestHostile(t *testing.T) {
	t.Parallel()
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now())
	for name, h := range hostiles(own) {
		for _, rate := range []float64{0, 100} {
			t.Run(fmt.Sprintf("%s/rate %v", name, rate), func(t *testing.T) {
				t.Parallel()
				inMemory(t, func(t *testing.T, n *lan) {
					o := load.Options{URLs: []string{h.url(t, n.listen())}, Engine: load.EnginePortable, Connections: 1, Duration: 300 * time.Millisecond, Timeout: 300 * time.Millisecond, Rate: rate}
					if h.change != nil {
						h.change(&o)
					}
					began := time.Now()
					r, err := n.run(t, o)
					if took := time.Since(began); took > o.Timeout+o.Duration+minDrain {
						t.Errorf("it took %v", took)
					}
					isHostile(t, r, err, h.kind)
				})
			})
		}
	}
}

// isHostile wants the kind, of a load or of a server that could not be loaded.
func isHostile(t *testing.T, r *load.Result, err error, kind load.Kind) {
	t.Helper()
	if err != nil {
		if !strings.Contains(err.Error(), kind.Words()) {
			t.Errorf("error %q, want %q", err, kind.Words())
		}
		return
	}
	if r.ErrorKinds[kind] == 0 || r.AchievedPerSecond > 0 {
		t.Errorf("errors %v (%v), %.0f good answers a second; want %s", r.ErrorKinds, r.FirstError, r.AchievedPerSecond, kind)
	}
}

// The engine that is chosen reports on the kernel's sockets what the other one does in memory.
func TestHostileToTheChosenEngine(t *testing.T) {
	t.Parallel()
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	for name, h := range hostiles(own) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "http at h2c" {
				need.Everything(t, "the loop is the one that TestHostile proves")
			}
			o := load.Options{URLs: []string{h.url(t, loopback(t))}, Connections: 1, Duration: time.Second, Timeout: time.Second}
			if h.change != nil {
				h.change(&o)
			}
			r, err := Run(t.Context(), o)
			if err == nil && r.ErrorKinds[h.kind] == 0 { // on a busy machine it comes late
				o.Duration, o.Timeout = 10*time.Second, 8*time.Second
				r, err = Run(t.Context(), o)
			}
			isHostile(t, r, err, h.kind)
		})
	}
}

// Connections beyond a server's limit, which it gives up before any request, count.
func TestTurnedAway(t *testing.T) {
	t.Parallel()
	inMemory(t, func(t *testing.T, n *lan) {
		away := turnsAway(http2.ErrCodeEnhanceYourCalm)
		serve := frames(nil, func(fr *http2.Framer, stream uint32, _ int) error { return begin(fr, stream, true, ":status", "200") })
		var opened atomic.Int64
		url := "h2c" + strings.TrimPrefix(rawAt(t, n.listen(), func(c net.Conn) {
			if opened.Add(1)%2 == 0 {
				away(c)
			} else {
				serve(c)
			}
		}), "http")
		r := n.mustRun(t, load.Options{URLs: []string{url}, Connections: 4, Duration: 100 * time.Millisecond, Timeout: 5 * time.Second})
		if r.Requests == 0 || r.FailedConnections == 0 || r.FailedConnections != r.Errors || r.ErrorKinds[load.KindGoAway] != r.Errors || !strings.Contains(r.FirstError.Detail, "too many") {
			t.Errorf("%d answers, %d connections failed, errors %v (%v)", r.Requests, r.FailedConnections, r.ErrorKinds, r.FirstError)
		}
	})
}

// A server that gives its connections up in good order, as one does that ends or
// balances its load, loses no request: those that it has not started are sent
// again (RFC 9113, section 8.7).
func TestGracefulGoAway(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 200} {
		inMemory(t, func(t *testing.T, n *lan) {
			url := framed(t, n.listen(), nil, func(fr *http2.Framer, stream uint32, n int) error {
				switch {
				case n > 10: // after the end that was reported
					return nil
				case n == 10:
					if err := fr.WriteGoAway(stream, http2.ErrCodeNo, nil); err != nil {
						return err
					}
				}
				return begin(fr, stream, true, ":status", "200")
			})
			r := n.mustRun(t, load.Options{URLs: []string{url}, Connections: 2, Streams: 4, Duration: 500 * time.Millisecond, Timeout: 5 * time.Second, Rate: rate})
			if r.Errors > 0 || r.Unanswered > 0 || r.Dropped > 0 || r.Requests < 100 || rate > 0 && r.Requests != 100 {
				t.Errorf("rate %v: %d answers, errors %v (%v), %d unanswered, %d dropped", rate, r.Requests, r.ErrorKinds, r.FirstError, r.Unanswered, r.Dropped)
			}
		})
	}
}

// A stream that waits is none of a server that hangs, unless all do.
func TestSomeStreamsWait(t *testing.T) {
	t.Parallel()
	inMemory(t, func(t *testing.T, n *lan) {
		url := framed(t, n.listen(), nil, func(fr *http2.Framer, stream uint32, n int) error {
			if n <= 2 {
				return nil // of four streams
			}
			return begin(fr, stream, true, ":status", "200")
		})
		r := n.mustRun(t, load.Options{URLs: []string{url}, Connections: 1, Streams: 4, Duration: 100 * time.Millisecond, Timeout: 20 * time.Second})
		if r.Unanswered != 2 || r.PerURL[0].Hung() || r.Requests == 0 {
			t.Errorf("%d unanswered of %d; hung %v", r.Unanswered, r.Requests, r.PerURL[0].Hung())
		}
	})
}
