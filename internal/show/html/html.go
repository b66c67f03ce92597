// Package html writes a document as one self-contained page: no script, no font, nothing
// fetched. Text goes through html/template and stays text.
//
// The page reads on a phone, in both colour schemes, on paper and to a screen reader: no
// sign is of colour alone, headings go down a step at a time, and values show on hover,
// focus or tap by CSS alone.
package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"slices"

	"github.com/procfit/procfit/internal/show/document"
)

//go:embed *.html *.css
var files embed.FS

// Colors is the style sheet with the colours of procfit's pages, light and dark.
//
//go:embed colors.css
var Colors string

// page is a document with what only a page that is served has.
type page struct {
	*document.Document
	Refresh int // seconds until the browser asks again; 0: it is a file
}

// Has reports whether the page has a block of this kind, whose style sheet it needs.
func (p page) Has(kind string) bool {
	return slices.ContainsFunc(p.Blocks, func(b document.Block) bool { return b.Kind() == kind })
}

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
	t, err := templates()
	if err != nil {
		return nil, err
	}
	var top, rest bytes.Buffer
	p := page{d, refresh}
	if err := t.ExecuteTemplate(&top, "top", p); err != nil {
		return nil, fmt.Errorf("render the page's head: %w", err)
	}
	if err := t.ExecuteTemplate(&rest, "rest", p); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	return &Live{top.Bytes(), rest.Bytes()}, nil
}

// Page is the whole of it, with what runs now; it costs a copy.
func (l *Live) Page(now string) []byte {
	b := bytes.NewBuffer(make([]byte, 0, len(l.top)+len(l.rest)+len(now)+64))
	b.Write(l.top)
	if now != "" {
		b.WriteString(`<p class="progress" role="status">` + template.HTMLEscapeString(now) + "</p>\n")
	}
	b.Write(l.rest)
	return b.Bytes()
}

// templates has one for each kind of block.
func templates() (*template.Template, error) {
	t := template.New("")
	t.Funcs(template.FuncMap{
		// show writes blocks by the template of their kind.
		"show": func(list []document.Block) (template.HTML, error) {
			var out bytes.Buffer
			for _, b := range list {
				if err := t.ExecuteTemplate(&out, b.Kind(), b); err != nil {
					return "", err
				}
			}
			return template.HTML(out.String()), nil
		},
		"plot":   plot,
		"course": course,
		"lanes":  lanes,
		"times":  times,
		"across": across,
		"along":  along,
		"icon":   icon,
		"prose":  document.Prose,
		"part":   func(at float64) string { return percent(100 * at) },
		"length": func(s document.Span) string { return percent(100 * (s.To - s.From)) },
	})
	t, err := t.ParseFS(files, "*.html", "*.css")
	if err != nil {
		return nil, fmt.Errorf("parse the page's templates: %w", err)
	}
	return t, nil
}

// icon is a sign next to an answer, so that colour is never the only one.
func icon(t document.Tone) string {
	switch t {
	case document.OK:
		return "✓"
	case document.Act:
		return "→"
	case document.Attention:
		return "!"
	}
	return "?"
}
