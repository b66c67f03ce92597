package terminal

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	defaultWidth = 80
	minWidth     = 36  // a name, a figure, and a plot that still shows an order
	maxWidth     = 120 // beyond it lines are only harder to follow
)

// ANSI SGR parameters. Only the eight basic colours: the terminal's theme chooses
// them to be readable on its background.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// Writer collects the lines.
type Writer struct {
	bytes.Buffer
	Width int
	Color bool
}

// NewWriter has a width that can be laid out: 0 stands for 80 columns.
func NewWriter(width int, color bool) *Writer {
	if width <= 0 {
		width = defaultWidth
	}
	return &Writer{Width: min(maxWidth, max(minWidth, width)), Color: color}
}

// Line is one line, without blanks at its end.
func (w *Writer) Line(s string) { w.WriteString(strings.TrimRight(s, " ") + "\n") }

// Gap is one empty line, however many parts in a row want one.
func (w *Writer) Gap() {
	if !bytes.HasSuffix(w.Bytes(), []byte("\n\n")) {
		w.WriteByte('\n')
	}
}

// Paragraph wraps text behind a first prefix and further ones; prefixes may hold
// colour, and have the same width.
func (w *Writer) Paragraph(first, further, text string) { w.Wrap(first, further, text, "") }

// Wrap is a paragraph in a style.
func (w *Writer) Wrap(first, further, text, style string) {
	width := w.Width - utf8.RuneCountInString(further)
	prefix := first
	line := ""
	flush := func() {
		w.Line(prefix + w.Style(style, line))
		prefix, line = further, ""
	}
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			flush()
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" || text == "" {
		flush()
	}
}

// Grade is the colour of what is the n-th worst, from 0.
func Grade(n int) string {
	switch n {
	case 0:
		return Red
	case 1:
		return Yellow
	}
	return Cyan
}

// Style puts s in the style, where colour is wanted.
func (w *Writer) Style(codes, s string) string {
	if !w.Color || s == "" || codes == "" {
		return s
	}
	return "\x1b[" + codes + "m" + s + "\x1b[0m"
}

// Pad fills s with blanks up to n columns, after it or, where it is not left,
// before it.
func Pad(s string, n int, left bool) string {
	fill := strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
	if left {
		return s + fill
	}
	return fill + s
}

// Cell is one character of a plot and its style.
type Cell struct {
	Rune  rune
	Style string
}

// Cells is the cells as text, each run of one style in it once, so that a line
// holds few escape sequences.
func (w *Writer) Cells(cells []Cell) string {
	var b strings.Builder
	for x := 0; x < len(cells); {
		style := cells[x].Style
		var run []rune
		for ; x < len(cells) && cells[x].Style == style; x++ {
			run = append(run, cells[x].Rune)
		}
		b.WriteString(w.Style(style, string(run)))
	}
	return b.String()
}

// Widths is the columns that each column of a grid takes.
func Widths(grid [][]string) []int {
	out := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, c := range row {
			out[i] = max(out[i], utf8.RuneCountInString(c))
		}
	}
	return out
}
