package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/procfit/procfit/internal/show/terminal"
)

// screen is the foot of a terminal whose lines can be drawn again. The zero value is
// none: a pipe, a file, or a terminal without a cursor to move.
type screen struct {
	size   func() (width, height int) // nil: none
	region terminal.Region
}

func newScreen(out io.Writer) screen {
	s := screen{region: terminal.Region{Out: out}}
	f, ok := out.(*os.File)
	if !ok || !terminal.Escapes(f) {
		return s
	}
	s.size = func() (int, int) {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
		return 80, 24
	}
	return s
}

// there tells that there is one.
func (s *screen) there() bool { return s.size != nil }

// draw prints lines that stay, and the foot anew below them.
func (s *screen) draw(above []string, foot func(width, height int) []string) {
	width, height := s.size()
	// Where nobody looks any more, the work goes on.
	_ = s.region.Draw(above, foot(width, height), width)
}

// clear leaves the terminal as it was.
func (s *screen) clear() {
	if s.there() {
		s.draw(nil, func(int, int) []string { return nil })
	}
}
