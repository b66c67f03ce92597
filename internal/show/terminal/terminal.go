// Package terminal lays text out for a terminal: lines of a limited number of
// columns, wrapped behind a prefix, in a few of the basic colours.
//
// A character is taken to be one column wide; wide scripts (CJK) push what
// follows them to the right. Text from outside must be printable already.
package terminal

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Escapes reports whether escape sequences may be written to a file: it is a terminal, it
// says what it is and does not call itself dumb (terminfo(5)), and NO_COLOR is not set
// (https://no-color.org).
func Escapes(f *os.File) bool {
	name := os.Getenv("TERM")
	known := name != "dumb" && (name != "" || runtime.GOOS == "windows")
	return known && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}

const (
	defaultWidth = 80
	minWidth     = 36  // a name, a number, and a plot that still shows an order
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

// NewWriter has a width that can be laid out: 0 represents 80 columns.
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

// Folded writes a line, broken between words where it is wider than the Writer,
// its rest indented. A Writer whose Width is 0 has endless lines.
func (w *Writer) Folded(line, indent string) {
	const least = 20 // columns next to the indent that can be read
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

// Region is the lowest lines of a terminal, which are drawn again and again while
// whole lines are printed above them.
type Region struct {
	Out io.Writer

	drawn []int // columns of each line that is there
}

// Draw prints the lines above, which stay, and draws the region again below them:
// lines of less than width columns, so that none wraps. No lines leave the cursor
// at the beginning of an empty one.
func (r *Region) Draw(above, lines []string, width int) error {
	var b strings.Builder
	b.WriteString(r.home(width))
	for _, line := range above {
		b.WriteString(line + ansi.EraseLineRight + "\n")
	}
	r.drawn = r.drawn[:0]
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		line = ansi.Truncate(line, max(0, width-1), "…")
		r.drawn = append(r.drawn, ansi.StringWidth(line))
		b.WriteString(line + ansi.EraseLineRight)
	}
	b.WriteString(ansi.EraseScreenBelow)
	_, err := io.WriteString(r.Out, b.String())
	return err
}

// home moves to the region's beginning. A terminal that has become narrower has
// broken its lines.
func (r *Region) home(width int) string {
	rows := 0
	for _, columns := range r.drawn {
		rows += max(1, (columns+width-1)/max(1, width))
	}
	if rows < 2 {
		return "\r"
	}
	return "\r" + ansi.CursorUp(rows-1)
}
