//go:build !portable

package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/loadtest"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The test binary is also the server under load and the client whose CPU time
// is measured, each in a process of its own.
func TestMain(m *testing.M) {
	switch os.Getenv("PROCFIT_LOAD_TEST") {
	case "epoll":
		listen(serveEpoll)
	case "nethttp":
		listen(serveNetHTTP)
	case overTLS, overModern, overH2C, overRPC:
		listen(func(l net.Listener) { serveWay(os.Getenv("PROCFIT_LOAD_TEST"), l) })
	case "client":
		if err := benchClient(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		need.Waiting(8) // for servers that hang, and for the end of a load at a low rate
		os.Exit(m.Run())
	}
}

// listen serves on a free port, prints its URL and ends with standard input.
func listen(serve func(net.Listener)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go serve(l)
	fmt.Printf("http://%s/\n", l.Addr())
	io.Copy(io.Discard, os.Stdin)
}

func serveNetHTTP(l net.Listener) {
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, smallBody) }))
}

// serveWay answers in one of the ways.
func serveWay(way string, l net.Listener) {
	if way == overRPC {
		loadtest.NewGRPC("both").Serve(l)
		return
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, smallBody) }))
	s.Listener.Close()
	s.Listener = l
	s.Config.ErrorLog = quietLog()
	if way == overH2C {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		return
	}
	s.EnableHTTP2 = way == overModern
	s.StartTLS()
}

// toProcess are options for a server process of a way, or of a kind; the portable engine has
// one way.
func toProcess(t testing.TB, way string) (*os.Process, load.Options) {
	t.Helper()
	kind, o := way, load.Options{}
	if way == overPlain {
		kind, o.Engine = "epoll", load.EnginePortable
	}
	server, url := serverProcess(t, kind)
	address := strings.TrimPrefix(url, "http")
	switch way {
	case overTLS, overModern:
		url, o.TLS.Insecure = "https"+address, true
	case overH2C:
		url = "h2c" + address
	case overRPC:
		url, o.GRPC = "h2c"+address, &load.GRPC{Calls: rpc.Calls{}, Method: checkMethod}
	}
	o.URLs = []string{url}
	return server, o
}

// serveEpoll answers as cheaply as a process can: one thread, one read and one
// write a request, the headers not looked at. A request is taken to end with an
// empty line and to come in one piece.
func serveEpoll(l net.Listener) {
	runtime.LockOSThread()
	answer := []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nServer: test\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(smallBody), smallBody))
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		panic(err)
	}
	defer file.Close()
	listener := int(file.Fd())
	unix.SetNonblock(listener, true)
	ep, err := unix.EpollCreate1(0)
	if err != nil {
		panic(err)
	}
	add := func(fd int, flags uint32) {
		unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | flags, Fd: int32(fd)})
	}
	add(listener, 0)
	buf := make([]byte, 16<<10)
	events := make([]unix.EpollEvent, 256)
	for {
		n, _ := unix.EpollWait(ep, events, -1)
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			if fd == listener {
				if c, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK); err == nil {
					unix.SetsockoptInt(c, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
					add(c, unix.EPOLLET|unix.EPOLLRDHUP)
				}
				continue
			}
			got, errno := receiveBytes(fd, buf)
			if errno == unix.EAGAIN {
				continue
			}
			if errno != 0 || got == 0 || e.Events&unix.EPOLLRDHUP != 0 {
				unix.Close(fd)
				continue
			}
			for range bytes.Count(buf[:got], []byte("\r\n\r\n")) {
				sendBytes(fd, answer)
			}
		}
	}
}

// serverProcess starts one of the servers as a process and returns it with its
// URL. It ends with the test, or with its standard input if the test dies.
func serverProcess(t testing.TB, kind string) (*os.Process, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROCFIT_LOAD_TEST="+kind)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(unix.SIGCONT) // a test may have stopped it
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended badly: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	return cmd.Process, strings.TrimSpace(line)
}
