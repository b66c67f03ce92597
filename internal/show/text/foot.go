package text

import (
	"bytes"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/terminal"
)

// The foot is the screen that a terminal is at when the prompt is back: curves, paths
// and answer, in the lines that it has. What it has no room for comes before, in the
// order of the rest.

func atFoot(b document.Block) bool {
	switch b := b.(type) {
	case document.Table:
		return b.Foot
	case document.Charts:
		return b.Foot
	}
	return false
}

// end writes the foot: curves in full where they fit, else small, and then the paths in
// less lines too.
func (w *writer) end(files []string, closing []document.Block) {
	const prompt = 1
	start := w.part(func(w *writer) {
		if w.foot != nil {
			w.block(w.foot)
		}
	})
	last := func(files []string) []byte {
		return w.part(func(w *writer) {
			w.paths(files)
			if len(closing) > 0 {
				w.Gap()
				w.blocks(closing)
			}
		})
	}
	end := last(files)
	if w.foot != nil && lines(start)+lines(end)+prompt > w.height {
		if c, ok := w.foot.(document.Charts); ok {
			start = w.part(func(w *writer) { w.small(c) })
		}
		if lines(start)+lines(end)+prompt > w.height {
			end = last(together(files))
		}
	}
	for _, part := range [][]byte{start, end} {
		if len(part) > 0 {
			w.Gap()
			w.Write(part)
		}
	}
}

// part is what write writes, without empty lines before it.
func (w *writer) part(write func(*writer)) []byte {
	p := &writer{Writer: &terminal.Writer{Width: w.Width, Color: w.Color}, foot: w.foot}
	write(p)
	return bytes.TrimLeft(p.Bytes(), "\n")
}

// lines are those that a part adds, with the empty one before it.
func lines(part []byte) int {
	if len(part) == 0 {
		return 0
	}
	return bytes.Count(bytes.TrimRight(part, "\n"), []byte("\n")) + 2
}
