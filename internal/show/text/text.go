// Package text writes a document for a terminal.
package text

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/terminal"
)

// Options is what only the caller knows of the terminal and the files.
type Options struct {
	Width int // columns; 0 is 80
	// Height is the terminal's lines; 0: there is none. On a terminal what has its place at
	// the foot, the paths and the closing words come last, in a form that they fit in.
	Height int
	Color  bool // ANSI colours
	// Files are the paths to end with, most useful first.
	Files []string
}

type writer struct {
	*terminal.Writer
	height int
	foot   document.Block // the one that is left for the end
	headed bool           // a heading is above, to which what follows belongs
}

// Render writes the document. Its title is that of a file.
func Render(out io.Writer, d *document.Document, o Options) error {
	w := &writer{Writer: terminal.NewWriter(o.Width, o.Color), height: o.Height}
	w.blocks(d.Blocks)
	w.end(o.Files, d.Closing)
	_, err := out.Write(bytes.TrimLeft(w.Bytes(), "\n"))
	return err
}

func (w *writer) blocks(list []document.Block) {
	for _, b := range list {
		if w.height > 0 && w.foot == nil && atFoot(b) {
			w.foot = b
			continue
		}
		w.block(b)
	}
}

func (w *writer) block(b document.Block) {
	switch b := b.(type) {
	case document.Heading:
		w.Gap()
		w.heading(b)
	case document.Panel:
		w.panel(b)
	case document.Text:
		if b.Style == document.Muted {
			w.text(b, "  ")
			return
		}
		if b.Style == document.Strong {
			w.Gap()
		}
		w.text(b, "")
	case document.Alert:
		w.Gap()
		w.alert(document.Line(b.Text))
		w.Gap()
	case document.List:
		w.headed = false
		w.list(b)
	case document.Notes:
		w.notes(b)
	case document.Pairs:
		w.gap()
		w.pairs(b)
	case document.Table:
		if b.Prose {
			w.prose(b)
			return
		}
		w.gap()
		w.table(b)
	case document.Charts:
		w.gap()
		w.charts(b)
	case document.Timeline:
		w.gap()
		w.timeline(b)
	case document.Links:
		for _, l := range b {
			w.Line("  → " + l.To + "  " + w.Style(terminal.Dim, l.Text))
		}
	case document.Section:
		w.blocks(b.Blocks)
	case document.Code:
		w.Wrap("", "", b.Title+":", "")
		w.Line(w.Style(terminal.Bold, b.Text))
	}
}

// heading of the highest level is a rule across the screen.
func (w *writer) heading(h document.Heading) {
	w.headed = h.Level > 2
	switch rule := w.Width - utf8.RuneCountInString(h.Text) - 4; {
	case h.Note != "":
		w.Paragraph(w.Style(terminal.Cyan+";"+terminal.Bold, h.Text)+"  ", strings.Repeat(" ", utf8.RuneCountInString(h.Text)+2), h.Note)
	case h.Level > 2:
		w.Wrap("", "", strings.ToUpper(h.Text), terminal.Bold)
	case rule >= 0:
		w.Line(w.Style(terminal.Dim, "── ") + w.Style(terminal.Bold, h.Text) + " " + w.Style(terminal.Dim, strings.Repeat("─", rule)))
	default:
		w.Wrap(w.Style(terminal.Dim, "── "), "   ", h.Text, terminal.Bold)
	}
}

// gap is before what does not belong to a heading.
func (w *writer) gap() {
	if !w.headed {
		w.Gap()
	}
	w.headed = false
}

func (w *writer) panel(p document.Panel) {
	w.Line(w.Style(toneColor(p.Tone)+";"+terminal.Bold, strings.ToUpper(p.Label)))
	w.Wrap("", "", p.Sentence, terminal.Bold)
	for _, b := range p.Blocks {
		if t, ok := b.(document.Text); ok {
			w.text(t, "  ")
			continue
		}
		w.block(b)
	}
}

func (w *writer) text(t document.Text, indent string) {
	if t.Text == "" {
		return
	}
	style := map[document.Style]string{document.Strong: terminal.Bold, document.Muted: terminal.Dim, document.Small: terminal.Dim}[t.Style]
	if t.Tone != "" {
		style = toneColor(t.Tone) + ";" + terminal.Bold
	}
	w.Wrap(indent, indent, t.Text, style)
}

// alert has its command on a line of its own, as a list has.
func (w *writer) alert(i document.Item) {
	text := i.Text
	if i.Command != "" {
		text += ":"
	}
	w.Paragraph(w.Style(terminal.Yellow, "! "), "  ", text)
	if i.Command != "" {
		w.Line("  " + w.Style(terminal.Bold, i.Command))
	}
}

// list has a command on a line of its own, however long: a terminal wraps it, and it is
// copied as one.
func (w *writer) list(l document.List) {
	if l.Lead != "" {
		w.Paragraph("  "+l.Lead, "", "")
	}
	for _, i := range l.Items {
		switch {
		case i.Command != "":
			w.Paragraph("  · ", "    ", i.Text+":")
			w.Line("    " + w.Style(terminal.Bold, i.Command))
		default:
			w.Paragraph("  · ", "    ", i.Text)
		}
	}
}

func (w *writer) notes(list []document.Note) {
	if len(list) > 0 {
		w.Gap()
	}
	for _, n := range list {
		message := n.Message
		if n.Subject != "" {
			message = n.Subject + ": " + message
		}
		sign := "· "
		if !n.Quiet {
			sign = w.Style(terminal.Yellow, "! ")
		}
		w.Paragraph(sign, "  ", message)
		if n.Fix != "" {
			w.Wrap("  ", "  ", n.Fix, terminal.Dim)
		}
	}
}

func (w *writer) pairs(list []document.Pair) {
	wide := 0
	for _, p := range list {
		wide = max(wide, utf8.RuneCountInString(p.Name))
	}
	const leastValue = 24
	for _, p := range list {
		if w.Width-wide-4 < leastValue {
			w.Paragraph("  ", "    ", p.Name+": "+p.Value)
			continue
		}
		w.Paragraph("  "+w.Style(terminal.Dim, terminal.Pad(p.Name, wide, true))+"  ", strings.Repeat(" ", wide+4), p.Value)
	}
}

func (w *writer) paths(files []string) {
	if len(files) > 0 {
		w.Gap()
		for _, f := range files {
			w.Line(w.Style(terminal.Dim, "→ ") + f)
		}
	}
}

// together are paths of one folder in one line, but for the first.
func together(files []string) []string {
	if len(files) < 3 {
		return files
	}
	dir := filepath.Dir(files[0])
	var names []string
	for _, f := range files[1:] {
		if filepath.Dir(f) != dir {
			return files
		}
		names = append(names, filepath.Base(f))
	}
	return []string{files[0], strings.Join(names, ", ") + " in the same directory"}
}

func toneColor(t document.Tone) string {
	switch t {
	case document.OK:
		return terminal.Green
	case document.Act:
		return terminal.Cyan
	case document.Attention:
		return terminal.Yellow
	}
	return terminal.Bold
}

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
