package exporter

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
)

// TestIndex has a row for each process, the worst first, and nothing of what they call
// themselves in the page's own words.
func TestIndex(t *testing.T) {
	e := exporterOf(fixture())
	code, body := scrape(t, e.Handler(), "/")
	if code != 200 || !strings.Contains(body, `<meta name="viewport" content="width=device-width`) || !strings.Contains(body, `href="/metrics"`) {
		t.Fatalf("%d %q", code, body)
	}
	for _, h := range inspect.Columns() {
		if !strings.Contains(body, ">"+h.Heading()+"</th>") {
			t.Errorf("no column %s", h.Heading())
		}
	}
	want := 1 + len(e.shared.latest().rows)
	if n := strings.Count(body, "<tr"); n != want {
		t.Errorf("%d rows, want %d", n, want)
	}
	body = body[strings.Index(body, "<tbody>"):]
	if worse, none := strings.LastIndex(body, `<tr class=`), strings.Index(body, `<tr>`); worse < 0 || none < worse {
		t.Errorf("the last with findings is at %d, the first without at %d", worse, none)
	}

	hostile := fixture()
	hostile.Processes = hostile.Processes[:1]
	hostile.Processes[0].Name = `<script>alert("x")</script>`
	if _, body = scrape(t, exporterOf(hostile).Handler(), "/"); strings.Contains(body, "<script") {
		t.Errorf("a name is read as HTML: %s", body)
	}
	wellFormed(t, body)
	if _, body = scrape(t, exporterOf(observe.Snapshot{}).Handler(), "/"); !strings.Contains(body, "The scan found no Go process") {
		t.Errorf("of none: %s", body)
	}
	failing := New(Options{Scan: func(context.Context) (observe.Snapshot, error) { return observe.Snapshot{}, errors.New("no <proc>") }})
	if _, body = scrape(t, failing.Handler(), "/"); !strings.Contains(body, "The scan failed: no &lt;proc&gt;") {
		t.Errorf("of a scan that fails: %s", body)
	}
}

// wellFormed reads the page as HTML that closes what it opens.
func wellFormed(t *testing.T, body string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
	}
}
