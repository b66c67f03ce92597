package terminal

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Region is the lowest lines of a terminal, which are drawn again and again while
// whole lines are printed above them.
type Region struct {
	Out io.Writer

	drawn []int // columns of each line that stands there
}

// Draw prints the lines above, which stay, and draws the region anew below them:
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
