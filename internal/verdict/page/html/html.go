package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"

	styles "github.com/procfit/procfit/internal/show/style"
	"github.com/procfit/procfit/internal/verdict/page"
)

//go:embed *.html *.css
var files embed.FS

// page is a View with what only a page that is served has.
type document struct {
	*page.View
	Refresh int // seconds until the browser asks again; 0: it is a file
}

// Render writes the view as a page.
func Render(out io.Writer, v *page.View) error {
	return Execute(out, nil, "page.html", document{View: v})
}

// Live is the page of a sweep that goes on: the browser loads it again and again. What
// runs now stands between two parts that are rendered once a trial.
type Live struct{ top, rest []byte }

// NewLive renders what the trials so far say, to be loaded again after so many seconds;
// 0: this is the last of it.
func NewLive(v *page.View, refresh int) (*Live, error) {
	var top, rest bytes.Buffer
	if err := Execute(&top, nil, "top", document{v, refresh}); err != nil {
		return nil, err
	}
	if err := Execute(&rest, nil, "rest", document{v, refresh}); err != nil {
		return nil, err
	}
	return &Live{top.Bytes(), rest.Bytes()}, nil
}

// Page is the whole of it, with what runs now; it costs a copy.
func (l *Live) Page(now string) []byte {
	b := bytes.NewBuffer(make([]byte, 0, len(l.top)+len(l.rest)+len(now)+64))
	b.Write(l.top)
	if now != "" {
		b.WriteString(`<p class="progress" role="status">` + template.HTMLEscapeString(now) + "</p>")
	}
	b.Write(l.rest)
	return b.Bytes()
}

// Execute writes one of the templates. A page of another package has templates and style
// sheets of its own, which use the parts of this one; its further.css comes after the style
// that all pages have.
func Execute(out io.Writer, own fs.FS, name string, v any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"plot":   plot,
		"icon":   icon,
		"part":   func(at float64) string { return percent(100 * at) },
		"length": func(s page.Span) string { return percent(100 * (s.To - s.From)) },
	}).ParseFS(styles.Styles, "*.css")
	if err == nil {
		t, err = t.ParseFS(files, "*.html", "*.css")
	}
	if err == nil && own != nil {
		t, err = t.ParseFS(own, "*.html", "*.css")
	}
	if err != nil {
		return fmt.Errorf("parse the report's templates: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	_, err = out.Write(b.Bytes())
	return err
}

// icon is a sign beside an answer, so that colour is never the only one.
func icon(s page.State) string {
	switch s {
	case page.OK:
		return "✓"
	case page.Act:
		return "→"
	case page.Attention:
		return "!"
	}
	return "?"
}
