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

// short is a run long enough to say something.
func short(url ...string) load.Options {
	return load.Options{URLs: url, Connections: 4, Duration: 200 * time.Millisecond, Timeout: time.Second}
}

func mustRun(t *testing.T, o load.Options) *load.Result {
	t.Helper()
	r := must.Get(Run(t.Context(), o))(t)
	return r
}

// raw serves each connection by a function of the bytes' level.
func raw(t testing.TB, serve func(net.Conn)) string { return rawAt(t, loopback(t), serve) }

// loopback listens at a free port.
func loopback(t testing.TB) net.Listener {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	return l
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

// answer writes the same bytes for each request without a body.
func answer(text string) func(net.Conn) {
	return func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
}
