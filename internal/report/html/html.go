package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"

	styles "github.com/procfit/procfit/internal/page"
	"github.com/procfit/procfit/internal/report"
)

//go:embed *.html *.css
var files embed.FS

// page is a View with what only a page that is served has.
type page struct {
	*report.View
	Refresh int // seconds until the browser asks again; 0: it is a file
}

// Render writes the view as a page.
func Render(out io.Writer, v *report.View) error { return execute(out, "page.html", page{View: v}) }

// Live is the page of a sweep that goes on: the browser loads it again and again. What
// runs now stands between two parts that are rendered once a trial.
type Live struct{ top, rest []byte }

// NewLive renders what the trials so far say, to be loaded again after so many seconds;
// 0: this is the last of it.
func NewLive(v *report.View, refresh int) (*Live, error) {
	var top, rest bytes.Buffer
	if err := execute(&top, "top", page{v, refresh}); err != nil {
		return nil, err
	}
	if err := execute(&rest, "rest", page{v, refresh}); err != nil {
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

// execute writes one of the templates.
func execute(out io.Writer, name string, v any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"plot":   plot,
		"icon":   icon,
		"part":   func(at float64) string { return percent(100 * at) },
		"length": func(s report.Span) string { return percent(100 * (s.To - s.From)) },
	}).ParseFS(styles.Styles, "*.css")
	if err == nil {
		t, err = t.ParseFS(files, "*.html", "*.css")
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
func icon(s report.State) string {
	switch s {
	case report.OK:
		return "✓"
	case report.Act:
		return "→"
	case report.Attention:
		return "!"
	}
	return "?"
}
