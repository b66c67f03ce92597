package html

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/procfit/procfit/internal/show/style"
	"github.com/procfit/procfit/internal/trace/sched/view"
)

//go:embed trace.html trace.css
var files embed.FS

// Render writes the view as a page.
func Render(out io.Writer, v *view.View) error {
	t, err := template.New("trace.html").Funcs(template.FuncMap{
		"plot":  plot,
		"heat":  heat,
		"icon":  icon,
		"prose": prose,
		"bar":   func(at float64) string { return percent(100 * at) },
	}).ParseFS(style.Styles, "*.css")
	if err == nil {
		t, err = t.ParseFS(files, "*")
	}
	if err != nil {
		return fmt.Errorf("parse the trace's templates: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("render the trace: %w", err)
	}
	_, err = out.Write(b.Bytes())
	return err
}

// icon is a sign beside a headline, so that colour is never the only one.
func icon(s view.State) string {
	switch s {
	case view.Attention:
		return "!"
	case view.Inform:
		return "→"
	}
	return "?"
}

// part is a stretch of prose, or of code, which stands between backquotes.
type part struct {
	Code bool
	Text string
}

func prose(s string) []part {
	var out []part
	for i, text := range strings.Split(s, "`") {
		out = append(out, part{i%2 == 1, text})
	}
	return out
}
