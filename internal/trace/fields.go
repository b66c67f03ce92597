package trace

import (
	"io"

	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/sched"
)

// fieldsJSON is procfit.tracefields/v1.
type fieldsJSON struct {
	Schema string        `json:"schema"`
	Fields []sched.Field `json:"fields"`
}

// lineKinds are the lines of a trace, in order, and what each is about.
func lineKinds() []lineKind {
	return []lineKind{
		{"SCHED", "The SCHED line, one a sample"},
		{"P", "A P line, one for each P, with scheddetail=1"},
		{"M", "An M line, one for each thread, with scheddetail=1"},
		{"G", "A G line, one for each goroutine, with scheddetail=1"},
	}
}

type lineKind struct{ where, title string }

// WriteFieldsJSON writes procfit.tracefields/v1.
func WriteFieldsJSON(w io.Writer) error {
	return writeJSON(w, fieldsJSON{"procfit.tracefields/v1", sched.Fields()})
}

// WriteFields explains each field of a scheduler trace.
func WriteFields(to io.Writer, o Text) error {
	w := terminal.NewWriter(o.Width, o.Color)
	for i, kind := range lineKinds() {
		if i > 0 {
			w.Gap()
		}
		w.Line(w.Style(terminal.Bold, kind.title))
		for _, f := range sched.Fields() {
			if f.Where == kind.where {
				w.Line("  " + w.Style(terminal.Cyan, f.Name) + w.Style(terminal.Dim, "  "+f.Unit+versions(f)))
				w.Paragraph("      ", "      ", f.Meaning)
			}
		}
	}
	w.Gap()
	w.Paragraph("", "", "Based on the Go runtime's source, 1.2 to 1.27.")
	_, err := to.Write(w.Bytes())
	return err
}

// versions is empty for a field that has always been there.
func versions(f sched.Field) string {
	text := ""
	switch {
	case f.Until != "" && f.Since == f.Until:
		text = ", Go " + f.Since + " only"
	case f.Until != "" && f.Since != "1.2":
		text = ", Go " + f.Since + " to " + f.Until
	case f.Until != "":
		text = ", until Go " + f.Until
	case f.Since != "1.2":
		text = ", since Go " + f.Since
	}
	if f.Detail && f.Where == "SCHED" {
		text += ", with scheddetail=1"
	}
	return text
}
