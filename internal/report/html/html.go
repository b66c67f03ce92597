package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"

	"github.com/procfit/procfit/internal/page"
	"github.com/procfit/procfit/internal/report"
)

//go:embed *.html *.css
var files embed.FS

// Render writes the view as a page.
func Render(out io.Writer, v *report.View) error { return execute(out, "page.html", v) }

// execute writes one of the pages.
func execute(out io.Writer, name string, v any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"plot": plot,
		"icon": icon,
	}).ParseFS(page.Styles, "*.css")
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
