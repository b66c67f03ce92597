package ready

import (
	"crypto/tls"
	"errors"
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

	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/test/must"
)

// askOnce makes one attempt.
func askOnce(t *testing.T, p Probe) Answer {
	t.Helper()
	p.Health = rpc.Health{}
	a := must.Get(NewAsker(p, nil))(t)
	return a.Ask(t.Context())
}

func pollOnce(t *testing.T, url string) Answer {
	t.Helper()
	return askOnce(t, Probe{URL: url})
}

// A server that has no certificate yet is waited for; not for ever, since it may lack one
// for the name that is asked.
func TestCertificateLater(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	defer borrowed.Close()
	have := false
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if !have {
			return nil, errors.New("no certificate yet")
		}
		return &tls.Config{Certificates: borrowed.TLS.Certificates}, nil
	}}
	server.StartTLS()
	defer server.Close()
	a := must.Get(NewAsker(Probe{URL: server.URL}, nil))(t)
	for range 2 {
		if got := a.Ask(t.Context()); got.Ready || got.Err == nil || !strings.Contains(got.Err.Error(), "internal error") {
			t.Errorf("without a certificate: %+v", got)
		}
	}
	a.faulty = a.faulty.Add(-settling)
	if got := a.Ask(t.Context()); !got.Ready {
		t.Errorf("for long without one: %+v", got)
	}
	have, a.faulty = true, time.Time{}
	if got := a.Ask(t.Context()); !got.Ready || got.Err != nil {
		t.Errorf("with one: %+v", got)
	}
}

func TestReadyOverTLS(t *testing.T) {
	status, got := http.StatusNoContent, ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.RawQuery + " " + r.Header.Get("Authorization")
		w.WriteHeader(status)
	}))
	defer server.Close()
	secrets := strings.Replace(server.URL, "//", "//me:pw@", 1) + "/?api_key=k"
	for statuses, want := range map[string]string{"": " ", "204": "api_key=k Basic bWU6cHc="} {
		probe := Probe{URL: secrets}
		if statuses != "" {
			probe.Statuses = must.Get(ParseStatuses(statuses))(t)
		}
		if a := askOnce(t, probe); !a.Ready || got != want {
			t.Errorf("statuses %q: sent %q, expected %q; %+v", statuses, got, want, a)
		}
	}
	if a := pollOnce(t, server.URL+"/?q=1"); !a.Ready || got != "q=1 " {
		t.Errorf("without credentials: sent %q, %+v", got, a)
	}
	if a := pollOnce(t, server.URL); !a.Ready {
		t.Errorf("a certificate that nobody signed: %+v", a)
	}
	status = http.StatusBadGateway
	if a := pollOnce(t, server.URL); a.Ready || a.Status != "502 Bad Gateway" {
		t.Errorf("502: %+v", a)
	}
	modern := httptest.NewUnstartedServer(http.NotFoundHandler())
	modern.TLS = &tls.Config{NextProtos: []string{"h2"}}
	modern.Config.ErrorLog = log.New(io.Discard, "", 0)
	modern.StartTLS()
	defer modern.Close()
	if a := pollOnce(t, modern.URL); !a.Ready {
		t.Errorf("HTTP/2 alone: %+v", a)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if a := pollOnce(t, strings.Replace(plain.URL, "http:", "https:", 1)); a.Ready {
		t.Errorf("a server without TLS: %+v", a)
	}
}

// rawServer sends the bytes to each connection before it reads anything.
func rawServer(t *testing.T, greeting string) (address string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
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
			if a := pollOnce(t, url); a.Ready != want {
				t.Fatalf("%s: %+v, want %v", url, a, want)
			}
		}
	}
	if printed.Len() > 0 {
		t.Errorf("printed %q", &printed)
	}
	if a := pollOnce(t, "grpc://127.0.0.1:"+strconv.Itoa(closedPort(t))); a.Ready {
		t.Error("a port where nothing listens is ready")
	}
}

// A server whose answer has no end, as a stream of events, is ready once its head is there.
func TestReadyByHead(t *testing.T) {
	began := time.Now()
	a := pollOnce(t, "http://"+rawServer(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n")+"/")
	if took := time.Since(began); !a.Ready || took >= attemptLimit {
		t.Errorf("%+v after %s", a, took)
	}
}

// Whatever a server sends, it is read without a crash, and a 5xx is not ready.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Add([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00"))
	p := must.Get(NewAsker(Probe{URL: "http://127.0.0.1:1/"}, nil))(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		go func() { _, _ = theirs.Write(data); theirs.Close() }()
		a := p.get(ours)
		if a.Ready == (a.Err != nil) || a.Ready && a.Status != "" {
			t.Fatalf("%q: %+v", data, a)
		}
		if head := string(data); a.Ready && strings.HasPrefix(head, "HTTP/1.1 5") {
			t.Fatalf("%q is ready", data)
		}
	})
}
