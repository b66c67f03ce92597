package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"

	"github.com/procfit/procfit/internal/report"
)

//go:embed page.html parts.html chart.html style.css
var files embed.FS

// Render writes the view as a page.
func Render(out io.Writer, v *report.View) error {
	t, err := template.New("page.html").Funcs(template.FuncMap{
		"plot": plot,
		"icon": icon,
	}).ParseFS(files, "*.html", "*.css")
	if err != nil {
		return fmt.Errorf("parse the report's templates: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("render report.html: %w", err)
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
