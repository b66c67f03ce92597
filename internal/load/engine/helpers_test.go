package engine

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

const smallBody = "hello, world"

// short is a run long enough to say something. No request of it times out, on a busy machine either.
func short(url ...string) load.Options {
	return load.Options{URLs: url, Connections: 4, Duration: 200 * time.Millisecond, Timeout: time.Minute}
}

func mustRun(t *testing.T, o load.Options) *load.Result {
	t.Helper()
	return must.Get(Run(t.Context(), o))(t)
}

// raw serves each connection by a function of the bytes' level.
func raw(t testing.TB, serve func(net.Conn)) string { return rawAt(t, loopback(t), serve) }

// loopback listens at a free port.
func loopback(t testing.TB) net.Listener {
	t.Helper()
	return must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
}

func rawAt(t testing.TB, l net.Listener, serve func(net.Conn)) string {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// requests serves each request without a body by a function, as long as that reports true.
func requests(serve func(net.Conn) bool) func(net.Conn) {
	return func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			if _, err := http.ReadRequest(in); err != nil || !serve(c) {
				return
			}
		}
	}
}

// answer writes the same bytes for each request.
func answer(text string) func(net.Conn) { return late(0, text) }

// late writes them after a time.
func late(after time.Duration, text string) func(net.Conn) {
	return requests(func(c net.Conn) bool {
		time.Sleep(after)
		_, err := io.WriteString(c, text)
		return err == nil
	})
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
