package trace

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/sched"
	"github.com/procfit/procfit/internal/trace/sched/page"
)

// Text is how text is written.
type Text struct {
	Width int // columns; 0: unknown
	Color bool
	Files []string // pictures that were written elsewhere, named at the end
}

// WriteText writes what the trace says for a terminal or a text file.
func (l *Log) WriteText(w io.Writer, o Text) error {
	d := page.Brief(l.Source.name(), l.Summary, sched.Readings(l.Summary))
	return text.Render(w, d, text.Options{Width: o.Width, Color: o.Color, Files: o.Files})
}

// WritePage writes a page with charts.
func (l *Log) WritePage(w io.Writer) error {
	return writePage(w, page.Report(l.Source.name(), l.Summary, sched.Readings(l.Summary)))
}

func writePage(w io.Writer, d *document.Document) error {
	b, err := html.Render(d)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// logJSON is procfit.trace/v1.
type logJSON struct {
	Schema   string          `json:"schema"`
	Source   Source          `json:"source"`
	Exit     *Exit           `json:"exit"`
	Readings []sched.Reading `json:"readings"`
	Summary  *sched.Summary  `json:"summary"`
}

// WriteJSON writes procfit.trace/v1.
func (l *Log) WriteJSON(w io.Writer) error {
	return writeJSON(w, logJSON{"procfit.trace/v1", l.Source, l.Exit, sched.Readings(l.Summary), l.Summary})
}

func writeJSON(to io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "%s\n", b)
	return err
}
