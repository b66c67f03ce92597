package engine

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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
func framed(t testing.TB, settings []http2.Setting, serve func(fr *http2.Framer, stream uint32, n int) error) string {
	t.Helper()
	return "h2c" + strings.TrimPrefix(raw(t, frames(settings, serve)), "http")
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
	return fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head(fields...), EndHeaders: true, EndStream: end})
}

// hostile are servers that do what they must not, and the kind that tells it.
func hostile(t testing.TB) map[string]struct {
	url    string
	change func(*load.Options)
	kind   load.Kind
} {
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	plain := server.URL + "/"
	modern := framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error { return begin(fr, stream, true, ":status", "200") })
	onlyModern := secured(t, &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"h2"}})
	type peer = struct {
		url    string
		change func(*load.Options)
		kind   load.Kind
	}
	same := func(*load.Options) {}
	return map[string]peer{
		"h2c at HTTP/1.1":     {"h2c" + strings.TrimPrefix(plain, "http"), same, load.KindProtocol},
		"http at h2c":         {"http" + strings.TrimPrefix(modern, "h2c"), same, load.KindProtocol},
		"http at h2c, chosen": {"http" + strings.TrimPrefix(modern, "h2c"), func(o *load.Options) { o.Engine = "" }, load.KindProtocol},
		"https at HTTP/1.1":   {"https" + strings.TrimPrefix(plain, "http"), same, load.KindProtocol},
		"https at h2c":        {"https" + strings.TrimPrefix(modern, "h2c"), same, load.KindProtocol},
		"streams of HTTP/1.1": {secured(t, &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"http/1.1"}}), func(o *load.Options) { o.TLS.Insecure, o.Streams = true, 2 }, load.KindStreams},
		"http at https":       {"http" + strings.TrimPrefix(onlyModern, "https"), same, "status_400"}, // which Go's server answers
		"too few streams":     {framed(t, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}}, nil), func(o *load.Options) { o.Streams = 2 }, load.KindStreams},
		"reset": {framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error {
			return fr.WriteRSTStream(stream, http2.ErrCodeInternal)
		}), same, load.KindStreamReset},
		"gone with an error": {framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error {
			fr.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("calm"))
			return io.EOF
		}), same, load.KindGoAway},
		"gone at once": {framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error {
			fr.WriteGoAway(0, http2.ErrCodeNo, nil)
			return io.EOF
		}), same, load.KindGoAway},
		"no end":    {framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error { return begin(fr, stream, false, ":status", "200") }), same, load.KindUnfinished},
		"mute":      {framed(t, nil, func(*http2.Framer, uint32, int) error { return nil }), same, load.KindTimeout},
		"no window": {framed(t, nil, func(*http2.Framer, uint32, int) error { return nil }), func(o *load.Options) { o.Body = make([]byte, 1<<20) }, load.KindUnsent},
		"no status": {framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error { return begin(fr, stream, true, "a", "b") }), same, load.KindMalformed},
		"bad compression": {framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error {
			return fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true, EndStream: true})
		}), same, load.KindMalformed},
		"a long frame": {framed(t, nil, func(fr *http2.Framer, stream uint32, _ int) error {
			return fr.WriteData(stream, true, make([]byte, 1<<20))
		}), same, load.KindMalformed},
		"closed":               {framed(t, nil, func(*http2.Framer, uint32, int) error { return io.EOF }), same, load.KindClosed},
		"headers of 10 MB":     {framed(t, nil, manyHeaders), same, load.KindTooLarge},
		"a header of 10 MB":    {raw(t, answer("HTTP/1.1 200 OK\r\nA: "+strings.Repeat("x", 10<<20)+"\r\n\r\n")), same, load.KindTooLarge},
		"a bomb of headers":    {framed(t, nil, bomb), same, load.KindTooLarge},
		"an endless body":      {framed(t, nil, endless), same, load.KindUnfinished},
		"an endless HTTP/1":    {raw(t, endlessChunks), same, load.KindUnfinished},
		"a body not taken":     {raw(t, func(net.Conn) { time.Sleep(time.Minute) }), func(o *load.Options) { o.Body = make([]byte, 32<<20) }, load.KindUnsent},
		"HTTP/1.1, mute":       {raw(t, func(c net.Conn) { io.Copy(io.Discard, c) }), same, load.KindTimeout},
		"HTTP/1.1, half a way": {raw(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell")), same, load.KindUnfinished},
	}
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
	duration := 300 * time.Millisecond
	if need.Required() {
		duration *= 2
	}
	for name, tt := range hostile(t) {
		for _, rate := range []float64{0, 100} {
			t.Run(fmt.Sprintf("%s/rate %v", name, rate), func(t *testing.T) {
				t.Parallel()
				timeout := 300 * time.Millisecond
				if tt.kind == load.KindTooLarge {
					timeout = 5 * time.Second // a busy machine may take long to send what is refused
				}
				o := load.Options{URLs: []string{tt.url}, Engine: load.EnginePortable, Connections: 1, Duration: duration, Timeout: timeout, Rate: rate}
				tt.change(&o)
				began := time.Now()
				r, err := Run(t.Context(), o)
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("it took %v", took)
				}
				if err != nil {
					if !strings.Contains(err.Error(), tt.kind.Words()) {
						t.Errorf("error %q, want %q", err, tt.kind.Words())
					}
					return
				}
				if r.ErrorKinds[tt.kind] == 0 || r.AchievedPerSecond > 0 {
					t.Errorf("errors %v (%v), %.0f good answers a second; want %s", r.ErrorKinds, r.FirstError, r.AchievedPerSecond, tt.kind)
				}
			})
		}
	}
}

// A server that gives its connections up in good order, as one does that ends or
// balances its load, loses no request: those that it has not started are sent
// again (RFC 9113, section 8.7).
func TestGracefulGoAway(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 200} {
		url := framed(t, nil, func(fr *http2.Framer, stream uint32, n int) error {
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
		r := mustRun(t, load.Options{URLs: []string{url}, Connections: 2, Streams: 4, Duration: 500 * time.Millisecond, Timeout: 5 * time.Second, Rate: rate})
		if r.Errors > 0 || r.Unanswered > 0 || r.Dropped > 0 || r.Requests < 60 {
			t.Errorf("rate %v: %d answers, errors %v (%v), %d unanswered, %d dropped", rate, r.Requests, r.ErrorKinds, r.FirstError, r.Unanswered, r.Dropped)
		}
	}
}

// A stream that waits is none of a server that hangs, unless all do.
func TestSomeStreamsWait(t *testing.T) {
	t.Parallel()
	url := framed(t, nil, func(fr *http2.Framer, stream uint32, n int) error {
		if n <= 2 {
			return nil // of four streams
		}
		return begin(fr, stream, true, ":status", "200")
	})
	r := mustRun(t, load.Options{URLs: []string{url}, Connections: 1, Streams: 4, Duration: 100 * time.Millisecond, Timeout: 20 * time.Second})
	if r.Unanswered != 2 || r.PerURL[0].Hung() || r.Requests == 0 {
		t.Errorf("%d unanswered of %d; hung %v", r.Unanswered, r.Requests, r.PerURL[0].Hung())
	}
}
