package profile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"strings"
	"testing"
	"time"
)

// pprofPath is where net/http/pprof serves profiles, unless a program mounts it elsewhere.
const pprofPath = "/debug/pprof/"

// served is a server of real profiles.
func served() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc(pprofPath, pprof.Index)
	mux.HandleFunc(pprofPath+"profile", pprof.Profile)
	return mux
}

// try takes both profiles, of a second.
func try(ctx context.Context, c *Client) error {
	b, err := c.Memory(ctx)
	if err == nil {
		_, err = Read(Allocations, b)
	}
	if err == nil {
		b, err = c.CPU(ctx, 1)
	}
	if err == nil {
		_, err = Read(CPU, b)
	}
	return err
}

func TestRealServer(t *testing.T) {
	s := httptest.NewUnstartedServer(served())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := NewClient(s.URL+strings.TrimSuffix(pprofPath, "/"), nil, &tls.Config{RootCAs: roots})
	if err := try(t.Context(), c); err != nil {
		t.Error(err)
	}
	if err := try(t.Context(), NewClient(s.URL+pprofPath, nil, &tls.Config{RootCAs: x509.NewCertPool()})); err == nil || !strings.Contains(err.Error(), "certificate is not trusted") {
		t.Errorf("a certificate of nobody: %v", err)
	}
}

// What a server answers in place of a profile is said in words, and takes neither long nor
// much memory.
func TestLiars(t *testing.T) {
	const secretHeader = "Authorization: Bearer x"
	endless := func(w http.ResponseWriter, r *http.Request) {
		for block := make([]byte, 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for name, of := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a web page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write([]byte("<html>hello</html>"))
		}, "heap: it answered with a web page"},
		"nothing there": {http.NotFound, `heap: it answered 404 Not Found ("404 page not found")`},
		"a login": {func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer x" {
				http.Error(w, "no", http.StatusUnauthorized)
			}
		}, `it answered 401 Unauthorized ("no")`},
		"silence":       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within"},
		"a gigabyte":    {endless, "it has more than 32 MiB"},
		"another place": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "it answered 302 Found"},
		"a text":        {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) }, "it is not a profile"},
		"an early end":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "heap: "},
		"escapes":       {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "\x1b]0;owned\x07", 500) }, `\x1b]0;owned\x07`},
		"CPU in use":    {busy, "profile: it answered 500 Internal Server Error (\"Could not enable CPU profiling: cpu profiling already in use\")"},
		"only the memory": {func(w http.ResponseWriter, r *http.Request) {
			r.URL.RawQuery = "" // seconds=1: what is allocated in a second
			pprof.Handler("heap").ServeHTTP(w, r)
		}, "it is a profile of another kind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(of.answer)
			defer s.Close()
			c := NewClient(s.URL+pprofPath, []string{secretHeader}, nil)
			c.patient = time.Minute // that no answer but silence takes, on any machine
			if name == "silence" {
				c.patient = 300 * time.Millisecond
			}
			err := try(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), of.want) || strings.ContainsAny(err.Error(), "\x1b\x07") {
				t.Errorf("%v, want %q", err, of.want)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := try(ended, NewClient("http://127.0.0.1:1/", nil, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("of a run that has ended: %v", err)
	}
	if err := try(t.Context(), NewClient("http://me:s3cr3t@127.0.0.1:1/", nil, nil)); err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("nobody listens: %v", err)
	}
}

// A profile is asked for with the headers of the load, but not packed twice.
func TestHeaders(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.Host+","+r.Header.Get("Accept-Encoding")+","+r.Header.Get("X-Key"), http.StatusTeapot)
	}))
	defer s.Close()
	err := try(t.Context(), NewClient(s.URL, []string{"Host: api.example", "Accept-Encoding: gzip", "X-Key: k"}, nil))
	if err == nil || !strings.Contains(err.Error(), `("api.example,,k")`) {
		t.Errorf("%v", err)
	}
	err = try(t.Context(), NewClient(s.URL, nil, nil))
	if err == nil || !strings.Contains(err.Error(), `("`+strings.TrimPrefix(s.URL, "http://")+`,,")`) {
		t.Errorf("without headers: %v", err)
	}
}

// busy serves the memory, and says of the CPU what a program says that profiles itself.
func busy(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "heap") {
		pprof.Handler("heap").ServeHTTP(w, r)
		return
	}
	http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
}
