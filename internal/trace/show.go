package trace

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/trace/sched"
	"github.com/procfit/procfit/internal/trace/sched/html"
	"github.com/procfit/procfit/internal/trace/sched/text"
	"github.com/procfit/procfit/internal/trace/sched/view"
)

// Text is how text is written.
type Text struct {
	Width int // columns; 0: unknown
	Color bool
	Files []string // pictures that were written elsewhere, named at the end
}

// The sizes of the views: what a terminal and a page can hold.
const (
	pagePoints = 150
	textProcs  = 16
	pageProcs  = 64
)

// WriteText writes what the trace says for a terminal or a text file.
func (l *Log) WriteText(w io.Writer, o Text) error {
	v := view.New(l.Summary, sched.Readings(l.Summary), view.Options{Name: l.Source.name(), Procs: textProcs})
	return text.Render(w, v, text.Options{Width: o.Width, Color: o.Color, Files: o.Files})
}

// WritePage writes a page with charts.
func (l *Log) WritePage(w io.Writer) error {
	return html.Render(w, view.New(l.Summary, sched.Readings(l.Summary), view.Options{Name: l.Source.name(), Points: pagePoints, Procs: pageProcs}))
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
