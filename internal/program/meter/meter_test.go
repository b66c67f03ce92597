package meter

import (
	"bufio"
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
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/live"
)

const name = "00112233445566778899aabbccddeeff"

// control is a program with a control endpoint that may be changed up to 8.
func control(t *testing.T, options ...live.Option) (agent *live.Agent, socket string) {
	t.Helper()
	var m live.Meter
	agent = live.New(&m, append(options, live.Max(8))...)
	socket = filepath.Join(t.TempDir(), "s")
	c, err := agent.Listen(socket)
	if err != nil {
		t.Skip(err) // not on every system
	}
	t.Cleanup(func() { agent.Off(); c.Close() })
	return agent, socket
}

// find is the client of a target.
func find(t *testing.T, target Target) *Client {
	t.Helper()
	c, err := target.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestChange: a lease, a change, the same change again, and back, over each kind of target.
func TestChange(t *testing.T) {
	start := runtime.GOMAXPROCS(0)
	agent, socket := control(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/internal/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		agent.ServeHTTP(w, r)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	targets := []Target{{Name: socket}, {Name: srv.URL + "/internal/procfit", Headers: http.Header{"X-Key": {"k"}}}}
	if runtime.GOOS == "linux" {
		targets = append(targets, Target{Name: strconv.Itoa(os.Getpid())})
	}
	for _, target := range targets {
		c, ctx := find(t, target), t.Context()
		if pid := c.PID(); runtime.GOOS == "linux" && !target.IsURL() && pid != os.Getpid() || target.IsURL() && pid != 0 {
			t.Errorf("%s: process %d", target.Name, pid)
		}
		s, err := c.Lease(ctx, name, time.Second)
		if err != nil || !s.Leased || s.Start != start {
			t.Fatalf("%s: %+v, %v", target.Name, s, err)
		}
		for range 2 {
			if x, err := c.Procs(ctx, name, start+1, 7); err != nil || x.Procs != start+1 || x.Before != start || runtime.GOMAXPROCS(0) != start+1 {
				t.Fatalf("%s: %+v, %v", target.Name, x, err)
			}
		}
		if s, err := c.Release(ctx, name); err != nil || s.Leased || s.Procs != start || s.Switches != 1 {
			t.Fatalf("%s: %+v, %v", target.Name, s, err)
		}
	}
	if _, err := find(t, Target{Name: srv.URL + "/internal/procfit/"}).State(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without the header: %v", err)
	}
}

// TestRefused: what the program does not do is an error with the code of the protocol.
func TestRefused(t *testing.T) {
	agent, socket := control(t, live.Refuse(func() error {
		if os.Getenv("PROCFIT_DRAINING") != "" {
			return errors.New("draining")
		}
		return nil
	}))
	c, ctx := find(t, Target{Name: socket}), t.Context()
	code := func(want string, err error) {
		t.Helper()
		var no *RefusedError
		if !errors.As(err, &no) || no.Code != want || no.Detail == "" {
			t.Errorf("%v, expected the code %s", err, want)
		}
	}
	_, err := c.Procs(ctx, name, 1, 1)
	code("no_lease", err)
	_, err = c.Lease(ctx, "short", time.Second)
	code("lease", err)
	if _, err := c.Lease(ctx, name, time.Second); err != nil {
		t.Fatal(err)
	}
	_, err = c.Lease(ctx, strings.Repeat("ab", 16), time.Second)
	code("leased", err)
	_, err = c.Procs(ctx, name, 99, 1)
	code("procs", err)
	t.Setenv("PROCFIT_DRAINING", "1")
	_, err = c.Lease(ctx, name, time.Second)
	code("refused", err)
	agent.Off()
	_, err = c.Lease(ctx, name, time.Second)
	code("off", err)
}

// TestEscapes: what a program writes is printable where it becomes part of a message or a state.
func TestEscapes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answers := make(chan string, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				io.WriteString(c, <-answers)
			}
			c.Close()
		}
	}()
	const body = `{"error":"a\u001b[2J","detail":"b\u001b[31m","protocol":1,"go":"go\u001b[1m","unit":"u\u202e"}`
	for _, status := range []string{"500 \x1b[31mBad", "200 OK"} {
		answers <- "HTTP/1.1 " + status + "\r\nConnection: close\r\n\r\n" + body
		s, err := find(t, Target{Name: "http://" + l.Addr().String() + "/x"}).State(t.Context())
		text := fmt.Sprintf("%v %+v", err, s)
		no, _ := errors.AsType[*RefusedError](err)
		if no != nil {
			text += no.Code
		}
		if phrase.Clean(text) != text || (no != nil) != strings.HasPrefix(status, "500") {
			t.Errorf("%q", text)
		}
	}
}

// TestGone: it is known of a socket that no program serves it.
func TestGone(t *testing.T) {
	stale, none := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "none")
	l, err := net.Listen("unix", stale)
	if err != nil {
		t.Skip(err) // not on every system
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for target, want := range map[string]string{
		stale:                "no program serves this socket; is it running? An old socket may be left over",
		none:                 "no such socket; is the program running?",
		"http://127.0.0.1:1": "", // who refuses may not be the program
	} {
		_, err := find(t, Target{Name: target}).State(t.Context())
		if _, gone := errors.AsType[*GoneError](err); gone != (want != "") || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
}

// TestSilent: a program that does not answer is reported with the time that was waited, which
// the caller may have made shorter.
func TestSilent(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := find(t, Target{Name: srv.URL}).State(ctx)
	if err == nil || !strings.Contains(err.Error(), ": no answer within ") || !strings.HasSuffix(err.Error(), " ms") {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	for target, want := range map[string]string{
		"999999999":     "no process 999999999",
		"1":             "", // of init there is none, or it may not be read
		"http://":       "expected a URL",
		"http://x/?a=1": "expected a URL",
	} {
		if _, err := (Target{Name: target}).Find(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			if runtime.GOOS == "linux" || !strings.Contains(err.Error(), "Linux") {
				t.Errorf("%s: %v, want %q", target, err, want)
			}
		}
	}
}

// TestTLS: an endpoint behind HTTPS is reached with its CA, and with a client certificate where
// it asks for one. Without them the message has what helps.
func TestTLS(t *testing.T) {
	agent, _ := control(t)
	srv := httptest.NewUnstartedServer(agent)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	trusted := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	asking := httptest.NewUnstartedServer(agent)
	asking.Config.ErrorLog = log.New(io.Discard, "", 0)
	asking.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	asking.StartTLS()
	defer asking.Close()
	for _, c := range []struct {
		url  string
		with *tls.Config
		want string // empty: it is reached
	}{
		{srv.URL, nil, "its certificate is not trusted: "},
		{srv.URL, &tls.Config{RootCAs: trusted, ServerName: "other.test"}, "--tls name=HOST asks for another name"},
		{srv.URL, &tls.Config{RootCAs: trusted}, ""},
		{srv.URL, &tls.Config{InsecureSkipVerify: true}, ""},
		{asking.URL, &tls.Config{RootCAs: trusted}, "--tls cert=FILE,key=FILE gives a client certificate"},
		{asking.URL, &tls.Config{RootCAs: trusted, Certificates: srv.TLS.Certificates}, ""},
		{strings.Replace(srv.URL, "https", "http", 1), nil, "refused: 400"},
	} {
		s, err := find(t, Target{Name: c.url + "/x", TLS: c.with}).State(t.Context())
		if c.want == "" && (err != nil || s.PID != os.Getpid()) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %+v: %v, want %q", c.url, c.with, err, c.want)
		}
	}
}
