package exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/number"
)

const (
	scrapeTimeout = 30 * time.Second // if the scraper does not send its own
	longestScrape = 5 * time.Minute  // after which Prometheus takes an older value as gone
	mostRequests  = 4                // answered at the same time
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
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeoutOf(r.Header))
		defer cancel()
		err := e.refresh(ctx)
		switch {
		case err == nil:
			metrics.ServeHTTP(w, r)
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
