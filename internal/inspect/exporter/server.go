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

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

const (
	scrapeTimeout = 30 * time.Second // if the scraper does not send its own
	longestScrape = 5 * time.Minute  // after which Prometheus takes an older value as gone
	mostRequests  = 4                // answered at the same time
	stopPatience  = 5 * time.Second  // for running answers at the end
)

// Handler serves /metrics, /healthz and, at /, the list of procfit ps as a page.
func (e *Exporter) Handler() http.Handler {
	mux := http.NewServeMux()
	metrics := promhttp.HandlerFor(e.registry(), promhttp.HandlerOpts{
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
	mux.HandleFunc("GET /{$}", e.serveIndex)
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

// mostShown is how many processes the page shows at most, the worst ones.
const mostShown = 200

// serveIndex serves the list of procfit ps as a page, which also reports a failed scan.
func (e *Exporter) serveIndex(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), timeoutOf(r.Header))
	defer cancel()
	v, err := e.shared.get(ctx)
	body, pageErr := html.Render(indexOf(v, err))
	if pageErr != nil {
		e.fail(w, "%v", pageErr)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	// The client may have gone; there is nobody to report an error to.
	_, _ = w.Write(body)
}

func indexOf(v *view, err error) *document.Document {
	d := &document.Document{Title: "exporter: no scan", Class: "processes"}
	if err != nil || v == nil {
		d.Blocks = []document.Block{document.Alert{Text: "The scan failed: " + phrase.Clean(fmt.Sprint(err))}}
	} else {
		d.Title = "exporter: " + phrase.Count(len(v.rows), "Go process")
		d.Date = "seen at " + v.at.UTC().Format("2006-01-02 15:04:05 UTC")
		d.Blocks = processList(v.rows)
	}
	d.Add(document.Links{
		{Text: "/metrics, for Prometheus", To: "/metrics"}, {Text: "/healthz, which answers ok while the exporter runs", To: "/healthz"},
	})
	return d
}

// processList lists the worst processes first.
func processList(rows []row) []document.Block {
	if len(rows) == 0 {
		return []document.Block{document.Text{Text: "The scan found no Go process."}}
	}
	t := document.Table{}
	for _, c := range inspect.ByNeed() {
		t.Columns = append(t.Columns, document.Column{Head: c.Heading(), Left: !c.Right()})
	}
	rows = sorting.Sorted(rows, func(a, b row) int { return a.order() - b.order() })
	for _, r := range rows[:min(len(rows), mostShown)] {
		shown := document.Row{Cells: r.cells}
		if r.worst == rule.Error || r.worst == rule.Warning {
			shown.Tone = document.Attention
		}
		t.Rows = append(t.Rows, shown)
	}
	blocks := []document.Block{t}
	if len(rows) > mostShown {
		blocks = append(blocks, document.Text{Style: document.Small, Text: fmt.Sprintf("The table has the %d processes with the most serious findings; /metrics has all %d.", mostShown, len(rows))})
	}
	return append(blocks,
		document.Text{Style: document.Small, Text: "PROCS is the current GOMAXPROCS, RECOMMENDED the value that the process should use. Values cover the time since the previous scan; in the first scan, the time since each process started. WAITING is the average number of threads that wait for a CPU."},
		document.List{Items: []document.Item{{Text: "What a finding means", Command: "procfit explain PF001"}, {Text: "What to do, on the machine", Command: "procfit ps"}}})
}

// order is by the worst finding; processes without findings come last.
func (r row) order() int {
	if r.worst == "" {
		return len(rule.Severities())
	}
	return r.worst.Rank()
}
