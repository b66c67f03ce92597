package exporter

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/style"
)

//go:embed index.html
var indexFile embed.FS

// mostShown is how many processes the page has at most, the worst: a page is for a
// person.
const mostShown = 200

// indexPage is what index.html shows: the list of procfit ps.
type indexPage struct {
	Count   string
	At      string // when it was seen, UTC
	Columns []inspect.Column
	Rows    []indexRow
	Hidden  int
	Failed  string
}

type indexRow struct {
	Severity rule.Severity
	Cells    []indexCell
}

type indexCell struct {
	Text   string
	Column inspect.Column
}

// serveIndex answers with the page; a scan that fails is told there.
func (e *Exporter) serveIndex(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), timeoutOf(r.Header))
	defer cancel()
	v, err := e.shared.get(ctx)
	body, pageErr := renderIndex(indexOf(v, err))
	if pageErr != nil {
		e.fail(w, "%v", pageErr)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	// Who asked may be gone; there is nobody to tell.
	_, _ = w.Write(body)
}

func indexOf(v *view, err error) indexPage {
	p := indexPage{Columns: inspect.ByNeed()}
	if err != nil || v == nil {
		p.Count, p.Failed = "no scan", fmt.Sprint(err)
		return p
	}
	p.Count, p.At = phrase.CountOf(len(v.rows), "Go process", "Go processes"), v.at.UTC().Format("2006-01-02 15:04:05 UTC")
	rows := slices.SortedStableFunc(slices.Values(v.rows), func(a, b row) int { return a.order() - b.order() })
	if p.Hidden = len(rows) - mostShown; p.Hidden > 0 {
		rows = rows[:mostShown]
	}
	for _, r := range rows {
		shown := indexRow{Severity: r.worst}
		for i, text := range r.cells {
			shown.Cells = append(shown.Cells, indexCell{text, p.Columns[i]})
		}
		p.Rows = append(p.Rows, shown)
	}
	return p
}

// order is by the worst finding; those without any come last.
func (r row) order() int {
	if r.worst == "" {
		return len(rule.Severities())
	}
	return r.worst.Rank()
}

func renderIndex(p indexPage) ([]byte, error) {
	t, err := template.New("index.html").ParseFS(style.Styles, "*.css")
	if err == nil {
		t, err = t.ParseFS(indexFile, "index.html")
	}
	if err != nil {
		return nil, fmt.Errorf("parse the page's templates: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	return b.Bytes(), nil
}
