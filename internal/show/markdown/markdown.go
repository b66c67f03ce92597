// Package markdown writes a document as GitHub-flavoured Markdown. Charts are skipped: the
// tables of a page have what they show.
package markdown

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/pattern"
)

type writer struct{ bytes.Buffer }

// Render writes the document.
func Render(d *document.Document) []byte {
	w := &writer{}
	d = d.Printable()
	w.printf("# %s\n", escape(d.Title))
	if d.Date != "" {
		w.printf("\n%s\n", escape(d.Date))
	}
	w.blocks(d.Blocks)
	return w.Bytes()
}

func (w *writer) blocks(list []document.Block) {
	for _, b := range list {
		w.block(b)
	}
}

func (w *writer) block(b document.Block) {
	switch b := b.(type) {
	case document.Heading:
		text := b.Text
		if b.Note != "" {
			text += ": " + b.Note
		}
		w.heading(b.Level, text)
	case document.Panel:
		w.heading(b.Level, b.Sentence)
		w.blocks(b.Blocks)
	case document.Text:
		w.text(b)
	case document.Alert:
		w.alert(b)
	case document.List:
		w.list(b)
	case document.Notes:
		w.notes(b)
	case document.Pairs:
		w.pairs(b)
	case document.Tiles:
		w.tiles(b)
	case document.Table:
		w.table(b)
	case document.Code:
		w.code(b)
	case document.Snippets:
		for _, c := range b {
			w.code(c)
		}
	case document.Links:
		for _, l := range b {
			if !strings.HasPrefix(l.To, "#") {
				w.printf("\n[%s](%s)\n", escape(l.Text), escaper.Replace(l.To))
			}
		}
	case document.Section:
		w.blocks(b.Blocks)
	case document.Checks:
		w.checks(b)
	case document.Folds:
		if b.Title.Text != "" {
			w.heading(b.Title.Level, b.Title.Text)
		}
		for _, f := range b.List {
			w.printf("\n<details>\n<summary>%s</summary>\n", html.EscapeString(f.Summary))
			w.blocks(f.Blocks)
			w.printf("\n</details>\n")
		}
	}
}

func (w *writer) checks(list []document.Check) {
	w.printf("\n")
	for _, c := range list {
		w.printf("%d. %s **%s**", c.Number, escape(c.Question), escape(c.Answer))
		if c.Detail != "" {
			w.printf(": %s", escape(c.Detail))
		}
		w.printf("\n")
	}
}

func (w *writer) heading(level int, text string) {
	w.printf("\n%s %s\n", strings.Repeat("#", level), escape(text))
}

func (w *writer) text(t document.Text) {
	text := escape(t.Text)
	if t.Style == document.Advice {
		text = prose(t.Text)
	}
	switch {
	case text == "":
	case t.Lead != "":
		w.printf("\n**%s.** %s\n", escape(t.Lead), text)
	case t.Style == document.Strong:
		w.printf("\n**%s**\n", text)
	default:
		w.printf("\n%s\n", text)
	}
}

func (w *writer) alert(a document.Alert) {
	switch line := document.Line(a.Text); {
	case a.To != "":
		w.printf("\n**!** %s ([all](%s))\n", escape(a.Text), a.To)
	case line.Command == "":
		w.printf("\n**%s**\n", escape(line.Text))
	default:
		w.printf("\n**%s:**\n", escape(line.Text))
		w.code(document.Code{Language: "sh", Text: line.Command})
	}
}

func (w *writer) list(l document.List) {
	if l.Lead != "" {
		w.printf("\n%s\n", escape(l.Lead))
	}
	w.printf("\n")
	for _, i := range l.Items {
		w.printf("- %s\n", escape(i.Text))
		w.code(document.Code{Language: "sh", Text: i.Command})
	}
}

func (w *writer) notes(list []document.Note) {
	w.printf("\n")
	for _, n := range list {
		w.printf("- ")
		if n.Subject != "" {
			w.printf("%s: ", escape(n.Subject))
		}
		w.printf("%s", escape(n.Message))
		if n.Fix != "" {
			w.printf(" *%s*", prose(n.Fix))
		}
		w.printf("\n")
	}
}

func (w *writer) pairs(list []document.Pair) {
	w.printf("\n| | |\n|---|---|\n")
	for _, p := range list {
		w.printf("| %s | %s |\n", escape(p.Name), escape(p.Value))
	}
}

func (w *writer) tiles(list []document.Tile) {
	changes := slices.ContainsFunc(list, func(t document.Tile) bool { return t.Before != "" })
	if changes {
		w.printf("\n| | before | after | 95%% interval |\n|---|---:|---:|---:|\n")
	} else {
		w.printf("\n| | now | 95%% interval |\n|---|---:|---:|\n")
	}
	for _, t := range list {
		w.printf("| %s |", escape(t.Name))
		if changes {
			w.printf(" %s |", escape(t.Before))
		}
		w.printf(" **%s** | %s |\n", escape(t.After), escape(t.Note))
	}
}

func (w *writer) table(t document.Table) {
	w.printf("\n|")
	for _, c := range t.Columns {
		w.printf(" %s |", escape(c.Head))
	}
	w.printf("\n|")
	for _, c := range t.Columns {
		if c.Left {
			w.printf("---|")
		} else {
			w.printf("---:|")
		}
	}
	w.printf("\n")
	for _, r := range t.Rows {
		w.printf("|")
		for i, c := range r.Cells {
			text := cell(c)
			if i == 0 && r.Mark != "" {
				text = fmt.Sprintf("**%s** (%s)", text, escape(r.Mark))
			}
			w.printf(" %s |", text)
		}
		w.printf("\n")
	}
}

func cell(c document.Cell) string {
	text := escape(c.Value)
	if c.Tag != "" {
		text = escape(c.Tag) + ": " + text
	}
	switch {
	case strings.HasPrefix(c.Detail, "["):
		text += " " + escape(c.Detail)
	case c.Detail != "":
		text += " (" + escape(c.Detail) + ")"
	}
	return text
}

// code is a fenced block whose fence is longer than any run of backticks in it.
func (w *writer) code(c document.Code) {
	if c.Title != "" {
		w.printf("\n%s", escape(c.Title))
		if c.Note != "" {
			w.printf(" (%s)", escape(c.Note))
		}
		w.printf(":\n")
	}
	if c.Text == "" {
		return
	}
	fence := "```"
	for strings.Contains(c.Text, fence) {
		fence += "`"
	}
	w.printf("\n%s%s\n%s\n%s\n", fence, c.Language, c.Text, fence)
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// prose keeps code between backquotes as code.
func prose(s string) (text string) {
	for _, p := range document.Prose(s) {
		if p.Code {
			text += "`" + p.Text + "`"
			continue
		}
		text += escape(p.Text)
	}
	return text
}

// escape keeps plain text plain: every character that begins markup, a table
// cell, HTML or an autolink is written so that it does not. Brackets are left
// alone where they begin no link, so that intervals stay readable in the source.
// URLs become code, which is no link either, and can be copied from the source.
func escape(s string) (text string) {
	for {
		at := address().FindStringIndex(s)
		if at == nil {
			return text + escaper.Replace(s)
		}
		text += escaper.Replace(s[:at[0]]) + "`" + s[at[0]:at[1]] + "`"
		s = s[at[1]:]
	}
}

// address is a URL as far as it can be code.
var address = pattern.Of("\\bhttps?://[^\\s`<>|\\\\]*[^\\s`<>|\\\\.,;:)'\"]")

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "#", `\#`, "~", `\~`,
	"](", `\](`, "][", `\][`, "]:", `\]:`, "[x]", `\[x]`, "[X]", `\[X]`, "[ ]", `\[ ]`,
	"|", `\|`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ", "://", ":&#47;/", "@", "&#64;",
)
