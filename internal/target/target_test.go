package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/supervisor"
)

// The test binary plays the servers when this is its first argument.
const playArg = "play"

func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) == 5 && os.Args[1] == playArg && os.Args[2] == "listen" {
		os.Exit(play(os.Args[3], os.Args[4]))
	}
	os.Exit(m.Run())
}

// play is a server that answers 404, or 503 and nothing else, or is mute.
func play(how, port string) int {
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	began := time.Now()
	switch how {
	case "mute":
		time.Sleep(time.Minute)
	case "answer":
		http.Serve(l, http.NotFoundHandler())
	case "starting", "sick": // the one for a while, the other for good
		http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if how == "sick" || time.Since(began) < 200*time.Millisecond {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			fmt.Println("serving")
		}))
	}
	return 1
}

// self is the command that plays a part.
func self(part ...string) []string {
	return append([]string{"/proc/self/exe", playArg}, part...)
}

// begin starts a target that is stopped at the end of the test.
func begin(t *testing.T, spec supervisor.Spec) *Process {
	t.Helper()
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p
}

func TestReady(t *testing.T) {
	port := freePort(t)
	p := begin(t, supervisor.Spec{Command: ExpandPort(self("listen", "answer", "{port}"), port)})
	if err := p.Ready(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/", port), 20*time.Second); err != nil {
		t.Error(err)
	}
}

func TestNeverReady(t *testing.T) {
	for _, test := range []struct {
		name    string
		command []string
		timeout time.Duration
		want    []string
	}{
		{"silent", []string{"sh", "-c", "echo up; sleep 60"}, 300 * time.Millisecond, []string{"nothing listened", "300ms", "refused", "its last output:\nup"}},
		{"mute", self("listen", "mute", "{port}"), time.Second, []string{"listened", "no HTTP answer", "1s"}},
		{"crash", []string{"sh", "-c", "(sleep 600 &); exit 3"}, 20 * time.Second, []string{"exited with code 3 before it answered"}},
		{"crash with words", []string{"sh", "-c", `echo one; printf '\033[2Jtwo\n' >&2; exit 9`}, 20 * time.Second, []string{"exited with code 9", "one\n\\x1b[2Jtwo"}},
		{"signal", []string{"sh", "-c", "kill -KILL $$"}, 20 * time.Second, []string{"was killed by SIGKILL"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			p := begin(t, supervisor.Spec{Command: ExpandPort(test.command, port)})
			begun := time.Now()
			err := p.Ready(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/", port), test.timeout)
			if err == nil {
				t.Fatal("ready")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if took := time.Since(begun); test.timeout == 20*time.Second && took > test.timeout/2 {
				t.Errorf("took %v to see that it has ended", took)
			}
		})
	}
	p := begin(t, supervisor.Spec{Command: []string{"sleep", "60"}})
	for _, bad := range []string{"", "127.0.0.1:80", "ftp://x/", "http://", "http://%zz/", "grpc://127.0.0.1"} {
		if err := p.Ready(t.Context(), bad, time.Second); err == nil || !strings.Contains(err.Error(), strconv.Quote(bad)) {
			t.Errorf("URL %q: %v", bad, err)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestPorts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := PortInUse(address); err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("%s in use: %v", address, err)
	}
	l.Close()
	if err := PortInUse(address); err != nil {
		t.Errorf("%s free again: %v", address, err)
	}
	ports, err := FreePorts(50)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if seen[port] || PortInUse("127.0.0.1:"+strconv.Itoa(port)) != nil {
			t.Errorf("port %d is taken, or given twice", port)
		}
		seen[port] = true
	}
	got := ExpandPort([]string{"-addr", ":{port}", "{port}{port}", "{ports}"}, 81)
	if strings.Join(got, " ") != "-addr :81 8181 {ports}" {
		t.Errorf("expanded to %q", got)
	}
	if HasPort([]string{"-a", "port"}) || !HasPort([]string{"-a", "x:{port}/"}) {
		t.Error("HasPort is wrong")
	}
}

// A server that answers 503 while it starts is waited for.
func TestReadyAfterStarting(t *testing.T) {
	port := freePort(t)
	p := begin(t, supervisor.Spec{Command: ExpandPort(self("listen", "starting", "{port}"), port)})
	if err := p.Ready(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/", port), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); !strings.Contains(p.Tail(1), "serving"); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("ready before it served")
		}
	}
}

func TestNeverServes(t *testing.T) {
	port := freePort(t)
	p := begin(t, supervisor.Spec{Command: ExpandPort(self("listen", "sick", "{port}"), port)})
	err := p.Ready(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/", port), time.Second)
	var why *NotReadyError
	if !errors.As(err, &why) || why.Reason != Status || why.Status != "503 Service Unavailable" || !strings.Contains(err.Error(), "answered 503 Service Unavailable at http://") {
		t.Errorf("got %+v, %v", why, err)
	}
}

// lateContext is one whose time is over, and whose own timer has not noticed.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Microsecond), true }

func TestCutOffAtTheDeadline(t *testing.T) {
	if cutOff(t.Context()) || !cutOff(lateContext{t.Context()}) {
		t.Error("an attempt that ended at the deadline is not known for one that was cut off")
	}
}

// pollOnce makes one attempt.
func pollOnce(t *testing.T, url string) answer {
	t.Helper()
	p, err := newPoller(url)
	if err != nil {
		t.Fatal(err)
	}
	return p.poll(t.Context())
}

func TestReadyOverTLS(t *testing.T) {
	status := http.StatusNoContent
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	if a := pollOnce(t, server.URL); !a.ready {
		t.Errorf("a certificate that nobody signed: %+v", a)
	}
	status = http.StatusBadGateway
	if a := pollOnce(t, server.URL); a.ready || a.status != "502 Bad Gateway" {
		t.Errorf("502: %+v", a)
	}
	// One of HTTP/2 alone does not take our protocol, and says so.
	modern := httptest.NewUnstartedServer(http.NotFoundHandler())
	modern.TLS = &tls.Config{NextProtos: []string{"h2"}}
	modern.Config.ErrorLog = log.New(io.Discard, "", 0)
	modern.StartTLS()
	defer modern.Close()
	if a := pollOnce(t, modern.URL); !a.ready {
		t.Errorf("HTTP/2 alone: %+v", a)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if a := pollOnce(t, strings.Replace(plain.URL, "http:", "https:", 1)); a.ready {
		t.Errorf("a server without TLS: %+v", a)
	}
}

// rawServer sends the bytes to each connection before it reads anything.
func rawServer(t *testing.T, greeting string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.WriteString(conn, greeting)
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return l.Addr().String()
}

// Servers that speak first: net/http's client would print about them.
func TestReadyIsQuiet(t *testing.T) {
	var printed strings.Builder
	log.SetOutput(&printed)
	defer log.SetOutput(os.Stderr)
	settings := "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00"
	for url, want := range map[string]bool{
		"http://" + rawServer(t, settings) + "/":                   true, // gRPC
		"http://" + rawServer(t, "-ERR unknown command\r\n") + "/": false,
		"redis://" + rawServer(t, ""):                              true,
	} {
		for range 20 { // when the bytes come is chance
			if a := pollOnce(t, url); a.ready != want {
				t.Fatalf("%s: %+v, want %v", url, a, want)
			}
		}
	}
	if printed.Len() > 0 {
		t.Errorf("printed %q", &printed)
	}
	if a := pollOnce(t, "grpc://127.0.0.1:"+strconv.Itoa(freePort(t))); a.ready {
		t.Error("a port where nothing listens is ready")
	}
}

// Whatever a server sends, it is read without a crash, and a 5xx is not ready.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Add([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00"))
	p, err := newPoller("http://127.0.0.1:1/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		go func() { _, _ = theirs.Write(data); theirs.Close() }()
		a := p.get(ours)
		if a.ready == (a.err != nil) || a.ready && a.status != "" {
			t.Fatalf("%q: %+v", data, a)
		}
		if head := string(data); a.ready && strings.HasPrefix(head, "HTTP/1.1 5") {
			t.Fatalf("%q is ready", data)
		}
	})
}
