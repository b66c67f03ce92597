// Package html writes a document as one self-contained page: no script, no font, nothing
// fetched. Text stays text: pages are trees of elements, which golang.org/x/net/html writes
// and escapes.
//
// The page reads on a phone, in both colour schemes, on paper and to a screen reader: no
// sign is of colour alone, headings go down a step at a time, and values show on hover,
// focus or tap by CSS alone.
package html

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/procfit/procfit/internal/show/document"
)

//go:embed *.css
var files embed.FS

// Render writes the document as a page.
func Render(d *document.Document) ([]byte, error) {
	l, err := NewLive(d, 0)
	if err != nil {
		return nil, err
	}
	return l.Page(""), nil
}

// Live is a page that the browser loads again and again, as long as what it shows continues.
// What runs now is between two parts that are rendered before.
type Live struct{ top, rest []byte }

// NewLive renders what is known so far, to be loaded again after N seconds; 0: this
// is the last of it.
func NewLive(d *document.Document, refresh int) (*Live, error) {
	d = d.Printable()
	page := bytes.NewBufferString("<!DOCTYPE html>\n")
	root := el("html lang=en", head(d, refresh),
		el("body", class(cmp.Or(d.Class, when(!d.Parts, "single"), "parts")), header(d), el("main", show(d.Blocks))))
	if err := html.Render(page, (*html.Node)(root)); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	page.WriteByte('\n')
	// Of what is not text there is one.
	at := bytes.Index(page.Bytes(), []byte("<main>")) + len("<main>")
	return &Live{page.Bytes()[:at], page.Bytes()[at:]}, nil
}

// Page is the whole of it, with what runs now; it costs a copy.
func (l *Live) Page(now string) []byte {
	line := ""
	if now != "" {
		line = "\n" + `<p class="progress" role="status">` + html.EscapeString(now) + "</p>"
	}
	return slices.Concat(l.top, []byte(line), l.rest)
}

func head(d *document.Document, refresh int) *element {
	return el("head",
		el("meta charset=utf-8"),
		el("meta name=viewport", attrs{"content", "width=device-width, initial-scale=1"}),
		el("meta http-equiv=Content-Security-Policy", attrs{"content", "default-src 'none'; style-src 'unsafe-inline'"}),
		el("meta name=color-scheme", attrs{"content", "light dark"}),
		where(refresh > 0, el("meta http-equiv=refresh", attrs{"content", refresh})),
		el("title", text(d.Title+" – procfit")),
		el("style", text(style("style.css"))))
}

func header(d *document.Document) *element {
	var home part
	if d.Home != nil {
		home = parts{link(d.Home.To, text(d.Home.Text)), text(" / ")}
	}
	return el("header", el("p class=brand", text("procfit")), el("h1", home, text(d.Title)), paragraph("when", d.Date))
}

// style is a style sheet, with those that it imports in their places.
func style(name string) string {
	sheet, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is a part of the program
	}
	var b strings.Builder
	for line := range strings.Lines(string(sheet)) {
		if imported, ok := strings.CutPrefix(line, "@import "); ok {
			line = style(strings.Trim(imported, "\";\n"))
		}
		b.WriteString(line)
	}
	return b.String()
}
