package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/sched/view"
)

// Options is what only the caller knows of the terminal and the files.
type Options struct {
	Width int // columns; 0 is 80
	Color bool
	Files []string // to end with
}

// unreadLines are shown at most.
const unreadLines = 5

type writer struct{ *terminal.Writer }

// Render writes the view.
func Render(out io.Writer, v *view.View, o Options) error {
	w := writer{terminal.NewWriter(o.Width, o.Color)}
	w.headline(v)
	if len(v.Charts) > 0 {
		w.Gap()
		w.charts(v)
	}
	if v.Procs != nil {
		w.Gap()
		w.procs(v.Procs)
	}
	if len(v.Waits) > 0 || v.RuntimeWaits != "" {
		w.Gap()
		w.waits(v)
	}
	if len(v.Facts) > 0 {
		w.Gap()
		w.facts(v.Facts)
	}
	w.readings(v)
	if len(o.Files) > 0 {
		w.Gap()
		for _, f := range o.Files {
			w.Line(w.Style(terminal.Dim, "→ ") + f)
		}
	}
	_, err := out.Write(w.Bytes())
	return err
}

func (w writer) headline(v *view.View) {
	h := v.Headline
	w.Line(w.Style(tone(h.State)+";"+terminal.Bold, strings.ToUpper(h.Label)))
	w.Wrap("", "", h.Sentence, terminal.Bold)
	if h.Advice != "" {
		w.Paragraph("  ", "  ", h.Advice)
	}
	if v.Context != "" {
		w.Wrap("  ", "  ", v.Context, terminal.Dim)
	}
}

func tone(s view.State) string {
	switch s {
	case view.Attention:
		return terminal.Yellow
	case view.Inform:
		return terminal.Cyan
	}
	return terminal.Bold
}

func (w writer) readings(v *view.View) {
	if len(v.Readings) > 0 {
		w.Gap()
	}
	for _, r := range v.Readings {
		sign := "· "
		if r.Warning {
			sign = w.Style(terminal.Yellow, "! ")
		}
		w.Paragraph(sign, "  ", r.Text)
		if r.Advice != "" {
			w.Wrap("  ", "  ", r.Advice, terminal.Dim)
		}
	}
	if len(v.Unread) == 0 {
		return
	}
	w.Gap()
	w.Line(w.Style(terminal.Bold, "COULD NOT BE READ"))
	for i, line := range v.Unread {
		if i == unreadLines && len(v.Unread) > unreadLines+1 {
			w.Paragraph("  ", "  ", fmt.Sprintf("and more; --json lists the first %d", len(v.Unread)-1))
			break
		}
		w.Paragraph("  ", "    ", line)
	}
}

func (w writer) facts(list []view.Fact) {
	wide := 0
	for _, f := range list {
		wide = max(wide, utf8.RuneCountInString(f.Name))
	}
	const leastValue = 24
	for _, f := range list {
		if w.Width-wide-4 < leastValue {
			w.Paragraph("  ", "    ", f.Name+": "+f.Value)
			continue
		}
		w.Paragraph("  "+w.Style(terminal.Dim, terminal.Pad(f.Name, wide, true))+"  ", strings.Repeat(" ", wide+4), f.Value)
	}
}
