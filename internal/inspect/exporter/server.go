package exporter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/number"
)

const (
	scrapeTimeout = 30 * time.Second // if the scraper does not send its own
	longestScrape = 5 * time.Minute  // after which Prometheus takes an older value as gone
	mostRequests  = 4                // whose pages are made at the same time
	mostSending   = 16               // pages that are being sent; one of 1000 processes has up to 2 MB
	stopPatience  = 5 * time.Second  // for running answers at the end
)

// Handler serves /metrics, /healthz and, at /, links to both.
func (e *Exporter) Handler() http.Handler {
	mux, registry := http.NewServeMux(), prometheus.NewRegistry()
	//lint:ignore SA1019 Package collectors makes the same two, and links database/sql.
	registry.MustRegister(e, prometheus.NewGoCollector(), prometheus.NewProcessCollector(prometheus.ProcessCollectorOpts{}))
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            logger(e.options.Logf),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: mostRequests,
		EnableOpenMetrics:   true,
	})
	var under sending
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeoutOf(r.Header))
		defer cancel()
		err := e.refresh(ctx)
		switch {
		case err == nil:
			p := page{ResponseWriter: w}
			metrics.ServeHTTP(&p, r)
			defer under.begin(http.NewResponseController(w))()
			w.Header().Set("Content-Length", strconv.Itoa(p.body.Len()))
			w.WriteHeader(cmp.Or(p.status, http.StatusOK))
			w.Write(p.body.Bytes())
		case r.Context().Err() != nil: // the client has gone
		case errors.Is(err, context.DeadlineExceeded):
			e.fail(w, "the scan took longer than the %s of this scrape: raise scrape_timeout, or give procfit more CPU", number.Chosen(timeoutOf(r.Header)))
		default:
			e.fail(w, "scan: %v", err)
		}
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, `procfit exporter: <a href="/metrics">/metrics</a>, <a href="/healthz">/healthz</a>`+"\n")
	})
	return mux
}

// page is an answer in memory: a client that reads slowly does not keep the next page from being made.
type page struct {
	http.ResponseWriter // whose header it has
	status              int
	body                bytes.Buffer
}

func (p *page) WriteHeader(status int)      { p.status = status }
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }

// sending are the connections that pages are being sent to, the oldest first.
type sending struct {
	mu  sync.Mutex
	all []*http.ResponseController
}

// begin adds one until end is called. If there are too many, it cuts the oldest one off, whose client
// reads the slowest.
func (s *sending) begin(one *http.ResponseController) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all = append(s.all, one); len(s.all) > mostSending {
		_ = s.all[0].SetWriteDeadline(time.Now()) // each connection of a server has one
		s.all = slices.Delete(s.all, 0, 1)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = slices.DeleteFunc(s.all, func(c *http.ResponseController) bool { return c == one })
	}
}

func (e *Exporter) fail(w http.ResponseWriter, format string, args ...any) {
	e.options.Logf(format, args...)
	http.Error(w, fmt.Sprintf(format, args...), http.StatusServiceUnavailable)
}

// timeoutOf is how long a scan may take, a little less than the scraper waits.
func timeoutOf(h http.Header) time.Duration {
	s, err := strconv.ParseFloat(h.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64)
	if err != nil || math.IsNaN(s) || s <= 0 {
		return scrapeTimeout
	}
	d := time.Duration(min(s, longestScrape.Seconds()) * float64(time.Second))
	return d - min(d/10, 500*time.Millisecond)
}

type logger func(format string, args ...any)

func (l logger) Println(v ...any) { l("%s", strings.TrimSpace(fmt.Sprintln(v...))) }

// Serve answers requests until ctx ends, and then finishes running answers; at an address of
// the loopback, those of this machine alone. It returns the error of ctx if that was the reason.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler:           html.Here(l.Addr(), h),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      longestScrape + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		server.Close()
	}
	return ctx.Err()
}
