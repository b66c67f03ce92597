package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/trace/exec"
)

func picture(t *testing.T, tr *exec.Trace) []byte {
	t.Helper()
	b, err := html.Picture(Picture(tr))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wellFormed counts the elements of a drawing.
func wellFormed(t *testing.T, name string, drawing []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(drawing))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || strings.Contains(a.Value, "NaN") {
					t.Errorf("%s: <%s %s=%q>", name, e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func TestPicture(t *testing.T) {
	tr := read(t, "1.27.1", exec.Options{})
	drawing := picture(t, tr)
	documenttest.Golden(t, "go1.27.1.svg", drawing)
	if n := wellFormed(t, "golden", drawing); n["script"] != 0 || n["path"] < int(tr.StealCount) {
		t.Errorf("%v, want an arrow for each of %d steals", n, tr.StealCount)
	}
}

func TestOdd(t *testing.T) {
	many := &exec.Trace{Duration: time.Second, SpanCount: 2_000_000, StealCount: 9999}
	for i := range 200 {
		many.Procs = append(many.Procs, exec.Proc{ID: i, Running: time.Second})
	}
	for i := range 100_000 {
		at := time.Duration(i) * 10 * time.Microsecond
		many.Spans = append(many.Spans, exec.Span{Goroutine: int64(i % 999), Proc: i % 200, Start: at, End: at + 5*time.Microsecond})
		many.Steals = append(many.Steals, exec.Steal{Goroutine: 1, From: i % 7, To: i%7 + 1, Start: at, Unclear: i%2 == 0})
	}
	hostile := &exec.Trace{Duration: 1, Procs: []exec.Proc{{}},
		Goroutines: []exec.Goroutine{{ID: 1, Name: `</text><script>x</script>`, Spans: 1}},
		Spans:      []exec.Span{{Goroutine: 1, End: 1, Stop: `"><script>`}}, SpanCount: 1}
	for name, tr := range map[string]*exec.Trace{"empty": {}, "many": many, "hostile": hostile} {
		drawing := picture(t, tr)
		if n := wellFormed(t, name, drawing); n["script"] != 0 {
			t.Errorf("%s: a script", name)
		}
		if len(drawing) > 1<<20 {
			t.Errorf("%s: %d bytes", name, len(drawing))
		}
		for _, not := range []string{"<script", "ZgotmplZ", "NaN", "url("} {
			if bytes.Contains(drawing, []byte(not)) {
				t.Errorf("%s: %q in the drawing", name, not)
			}
		}
	}
}
