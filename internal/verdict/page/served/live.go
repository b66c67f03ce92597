// Package served serves the report of a sweep while it runs: the page that the results
// folder gets at the end, renewed after each trial, with a line on what runs now. It
// needs no script: the browser loads it again every few seconds.
//
// What a page costs must not be taken from a trial. A page is rendered when Show is
// called, which is between trials; a request is answered from memory, and one for a page
// that the browser has already by its tag alone. What serving takes is CPU time of
// procfit's own, and counted as that.
//
// It is for eyes on this machine: without a host the address is the loopback's, and there
// a request that names another host, as a page from elsewhere can make a browser do, is
// refused. There is no encryption and no password.
package served

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
)

// Refresh is how often a browser loads the page again.
const Refresh = 5 * time.Second

// Server shows one page, and forgets it when it ends.
type Server struct {
	listener net.Listener
	http     *http.Server
	served   chan struct{} // closed when it no longer serves
	started  time.Time     // the page's version begins with it, so that another run's is another

	mu      sync.Mutex
	live    *html.Live
	now     string
	page    []byte
	version int
	ended   bool
	asked   time.Time // when the page was last asked for

	last chan struct{} // closed when somebody has the last page
	seen sync.Once
}

// Listen serves an empty page at an address, HOST:PORT or :PORT. Without a host it is
// the loopback's; port 0 is any that is free.
func Listen(ctx context.Context, address string) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q: expected HOST:PORT or :PORT", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, served: make(chan struct{}), last: make(chan struct{}), started: time.Now()}
	s.http = &http.Server{Handler: html.Here(l.Addr(), s), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // ends with Close; a page that is not served harms no measurement
	}()
	return s, nil
}

// URL is where a browser on this machine finds the page.
func (s *Server) URL() string {
	if tcp, ok := s.listener.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d/", tcp.Port)
	}
	return "http://" + s.listener.Addr().String() + "/"
}

// Show renders what the trials so far came to. It is to be called between trials.
func (s *Server) Show(d *document.Document) error { return s.render(d, int(Refresh.Seconds())) }

func (s *Server) render(d *document.Document, refresh int) error {
	l, err := html.NewLive(d, refresh)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = l
	s.renew()
	return nil
}

// Now says what runs; it costs a copy of the page.
func (s *Server) Now(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = text
	s.renew()
}

func (s *Server) renew() {
	if s.live != nil {
		s.page = s.live.Page(s.now)
		s.version++
	}
}

// End shows a last page, which is not loaded again, waits until who watches has it, and
// serves no more. Nobody is waited for when ctx ends.
func (s *Server) End(ctx context.Context, d *document.Document, now string) error {
	err := s.render(d, 0)
	s.mu.Lock()
	s.now, s.ended = now, true
	s.renew()
	watched := time.Since(s.asked) < 2*Refresh
	s.mu.Unlock()
	if watched && err == nil {
		wait, stop := context.WithTimeout(ctx, Refresh+time.Second)
		defer stop()
		select {
		case <-s.last:
		case <-wait.Done():
		}
	}
	s.Close()
	return err
}

// Close serves no more.
func (s *Server) Close() {
	// A response on its way is let through: the last page is one.
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	<-s.served
}

// ServeHTTP answers with the latest page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/":
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only to be looked at", http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	content, version, ended := s.page, s.version, s.ended
	s.asked = time.Now()
	s.mu.Unlock()
	if content == nil {
		w.Header().Set("Refresh", strconv.Itoa(int(Refresh.Seconds())))
		http.Error(w, "nothing to show yet", http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", fmt.Sprintf(`"%x-%d"`, s.started.UnixNano(), version))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	if ended && r.Method == http.MethodGet {
		s.seen.Do(func() { close(s.last) })
	}
}
