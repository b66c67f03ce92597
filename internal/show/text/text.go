// Package text writes a document for a terminal.
package text

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// Options is what only the caller knows of the terminal and the files.
type Options struct {
	Width int  // columns; 0 is 80
	Color bool // ANSI colours
	// Files are the paths to end with, most useful first.
	Files []string
}

type writer struct {
	*terminal.Writer
	headed bool // a heading is above, to which what follows belongs
}

// Render writes the document. Its title is that of a file.
func Render(out io.Writer, d *document.Document, o Options) error {
	w := &writer{Writer: terminal.NewWriter(o.Width, o.Color)}
	d = d.Printable()
	w.blocks(d.Blocks)
	w.paths(o.Files)
	if len(d.Closing) > 0 {
		w.Gap()
		w.blocks(d.Closing)
	}
	_, err := out.Write(bytes.TrimLeft(w.Bytes(), "\n"))
	return err
}

func (w *writer) blocks(list []document.Block) {
	for _, b := range list {
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
		if b.Style == document.Strong {
			w.Gap()
		}
		w.text(b, "")
	case document.Alert:
		w.Gap()
		w.item(w.Style(terminal.Yellow, "! "), "  ", document.Line(b.Text))
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
		w.charts(b.List)
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
		w.Wrap("", "", capitals(h.Text), terminal.Bold)
	case rule >= 0:
		w.Line(w.Style(terminal.Dim, "── ") + w.Style(terminal.Bold, h.Text) + " " + w.Style(terminal.Dim, strings.Repeat("─", rule)))
	default:
		w.Wrap(w.Style(terminal.Dim, "── "), "   ", h.Text, terminal.Bold)
	}
}

// capitals are those of a heading, but for a unit with a µ, whose capital is an M.
func capitals(s string) string {
	words := strings.Split(s, " ")
	for i, word := range words {
		if !strings.ContainsRune(word, 'µ') {
			words[i] = strings.ToUpper(word)
		}
	}
	return strings.Join(words, " ")
}

// gap is before what does not belong to a heading.
func (w *writer) gap() {
	if !w.headed {
		w.Gap()
	}
	w.headed = false
}

func (w *writer) panel(p document.Panel) {
	w.Line(w.Style(toneColor(p.Tone)+";"+terminal.Bold, capitals(p.Label)))
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

// item has a command on a line of its own, however long: a terminal wraps it, and it is
// copied as one.
func (w *writer) item(first, further string, i document.Item) {
	if i.Command == "" {
		w.Paragraph(first, further, i.Text)
		return
	}
	w.Paragraph(first, further, i.Text+":")
	w.Line(further + w.Style(terminal.Bold, i.Command))
}

func (w *writer) list(l document.List) {
	if l.Lead != "" {
		w.Paragraph("  "+l.Lead, "", "")
	}
	for _, i := range l.Items {
		w.item("  · ", "    ", i)
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
	wide := widest(phrase.Each(list, func(p document.Pair) string { return p.Name }))
	const leastValue = 24
	for _, p := range list {
		if w.Width-wide-4 < leastValue {
			w.Paragraph("  ", "    ", p.Name+": "+p.Value)
			continue
		}
		w.Paragraph("  "+w.Style(terminal.Dim, terminal.Pad(p.Name, wide, true))+"  ", strings.Repeat(" ", wide+4), p.Value)
	}
}

func widest(texts []string) (wide int) {
	for _, s := range texts {
		wide = max(wide, utf8.RuneCountInString(s))
	}
	return wide
}

// paths are one line: the first path, and the names of what is next to it, as far as there is
// room. Files of several folders have a line each.
func (w *writer) paths(files []string) {
	if len(files) == 0 {
		return
	}
	w.Gap()
	dir := filepath.Dir(files[0])
	if slices.ContainsFunc(files, func(f string) bool { return filepath.Dir(f) != dir }) {
		for _, f := range files {
			w.Line(w.Style(terminal.Dim, "→ ") + f)
		}
		return
	}
	more := ""
	for n := len(files) - 1; n > 0; n-- {
		names := phrase.Each(files[1:1+n], filepath.Base)
		if more = " (and " + phrase.And(names) + " next to it)"; n < len(files)-1 {
			more = " (and " + strings.Join(names, ", ") + ", … next to it)"
		}
		if utf8.RuneCountInString("→ "+files[0]+more) <= w.Width {
			break
		}
		more = ""
	}
	w.Line(w.Style(terminal.Dim, "→ ") + files[0] + w.Style(terminal.Dim, more))
}

func toneColor(t document.Tone) string {
	colors := map[document.Tone]string{document.OK: terminal.Green, document.Act: terminal.Cyan, document.Attention: terminal.Yellow}
	return cmp.Or(colors[t], terminal.Bold)
}
