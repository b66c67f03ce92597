package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Folded writes a line, broken between words where it is wider than the Writer,
// its rest indented. A Writer whose Width is 0 has endless lines.
func (w *Writer) Folded(line, indent string) {
	const least = 20 // columns beside the indent that can be read
	if w.Width < len(indent)+least || ansi.StringWidth(line) <= w.Width {
		w.WriteString(line + "\n")
		return
	}
	first, rest, _ := strings.Cut(ansi.Wordwrap(line, w.Width, ""), "\n")
	w.WriteString(first + "\n")
	for part := range strings.SplitSeq(ansi.Wordwrap(strings.ReplaceAll(rest, "\n", " "), w.Width-len(indent), ""), "\n") {
		w.WriteString(indent + strings.TrimLeft(part, " ") + "\n")
	}
}
