package exporter

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/phrase"
)

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
		d.Title = "exporter: " + phrase.CountOf(len(v.rows), "Go process", "Go processes")
		d.Date = "seen at " + v.at.UTC().Format("2006-01-02 15:04:05 UTC")
		d.Blocks = processList(v.rows)
	}
	d.Blocks = append(d.Blocks, document.Links{
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
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b row) int { return a.order() - b.order() })
	for _, r := range rows[:min(len(rows), mostShown)] {
		shown := document.Row{Cells: r.cells}
		if r.worst == rule.Error || r.worst == rule.Warning {
			shown.Tone = document.Attention
		}
		t.Rows = append(t.Rows, shown)
	}
	blocks := []document.Block{t}
	if hidden := len(rows) - mostShown; hidden > 0 {
		blocks = append(blocks, document.Text{Style: document.Small, Text: fmt.Sprintf("%d more processes, with less serious findings, are in /metrics.", hidden)})
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
