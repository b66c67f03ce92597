package markdown

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/verdict/page"
)

// Writer is a page that is being written.
type Writer struct{ bytes.Buffer }

// Render writes the view.
func Render(out io.Writer, v *page.View) error {
	w := &Writer{}
	w.view(v)
	_, err := out.Write(w.Bytes())
	return err
}

func (w *Writer) view(v *page.View) {
	many := len(v.Groups) > 1
	w.printf("# GOMAXPROCS of %s\n\n%s\n", Escape(v.Name), Escape(v.Started))
	if v.Progress != "" {
		w.printf("\n**%s**\n", Escape(v.Progress))
	}
	w.printf("\n## %s\n", Escape(v.Verdict.Answer.Text))
	w.answer(v.Verdict)
	w.alert(v, many)
	if v.Gate != nil {
		w.printf("\n## Gate\n")
		if v.Gate.Sentence != "" {
			w.printf("\n**%s.** %s\n", Escape(v.Gate.Label), Escape(v.Gate.Sentence))
		}
		w.Table(v.Gate.Table)
	}
	if v.Summary != nil {
		w.printf("\n## Summary\n")
		w.Table(*v.Summary)
	}
	for i := range v.Groups {
		w.group(&v.Groups[i], many)
	}
	w.warnings("## Warnings on the whole run", v.Warnings)
	w.printf("\n## Environment\n\n| | |\n|---|---|\n")
	w.Pairs(v.Environment)
	w.printf("\n## How to reproduce\n\nThe program under test:\n")
	w.Code("sh", v.Command)
	if v.Against != "" {
		w.printf("\nCompared with:\n")
		w.Code("sh", v.Against)
	}
	w.printf("\nThe sweep, which `reproduce.sh` beside this file repeats with the same seed:\n")
	w.Code("sh", v.Sweep)
}

// answer is the first screen: why, what changes, what to type.
func (w *Writer) answer(v page.Verdict) {
	a := v.Answer
	w.printf("\n%s\n", Escape(a.Plain))
	w.tiles(a.Tiles)
	if a.Apply != "" {
		w.Code("sh", a.Apply)
	}
	if len(v.Settle) > 0 {
		w.printf("\nWhat would settle it:\n")
		w.advice(v.Settle)
	}
	if v.Context != "" {
		w.printf("\n%s\n", Escape(v.Context))
	}
}

func (w *Writer) tiles(list []page.Tile) {
	if len(list) == 0 {
		return
	}
	changes := slices.ContainsFunc(list, func(t page.Tile) bool { return t.Before != "" })
	if changes {
		w.printf("\n| | before | after | 95 %% interval |\n|---|---:|---:|---:|\n")
	} else {
		w.printf("\n| | now | 95 %% interval |\n|---|---:|---:|\n")
	}
	for _, t := range list {
		w.printf("| %s |", Escape(t.Name))
		if changes {
			w.printf(" %s |", Escape(t.Before))
		}
		w.printf(" **%s** | %s |\n", Escape(t.After), Escape(t.Note))
	}
}

// alert is the warnings in one line, which leads to them.
func (w *Writer) alert(v *page.View, many bool) {
	if v.Alert == "" {
		return
	}
	anchor := "warnings"
	if many || len(v.Groups) == 0 || len(v.Groups[0].Warnings) == 0 {
		anchor = "warnings-on-the-whole-run"
	}
	w.printf("\n**!** %s ([all](#%s))\n", Escape(v.Alert), anchor)
}

func (w *Writer) group(g *page.Group, titled bool) {
	level := "##"
	if titled {
		level = "###"
		w.printf("\n## %s\n\n**%s**\n", Escape(g.Title), Escape(g.Verdict.Answer.Text))
		w.answer(g.Verdict)
	}
	if g.Throughput != nil {
		notes := "Throughput: " + g.Throughput.Note
		if g.Latency != nil {
			notes += ". Latency: " + g.Latency.Note
		}
		w.printf("\n%s By GOMAXPROCS\n", level)
		w.Table(g.Curves)
		w.printf("\n%s. %s\n", Escape(notes), Escape(g.Levels))
	}
	if b := g.Benchmarks; b != nil {
		w.printf("\n%s By benchmark\n\n%s\n", level, Escape(b.Note))
		w.Table(b.Table)
	}
	w.printf("\n%s Why\n\n%s\n", level, Escape(g.Verdict.Sentence))
	if len(g.Verdict.Reasons) > 0 {
		w.list(g.Verdict.Reasons)
	}
	w.printf("\n%s All figures\n", level)
	w.Table(g.Table)
	if g.Metrics != nil {
		w.Table(*g.Metrics)
	}
	if g.Requests != nil {
		w.Table(*g.Requests)
	}
	w.printf("\n| | |\n|---|---|\n")
	w.Pairs(g.Facts)
	w.paste(level, g.Paste)
	w.warnings(level+" Warnings", g.Warnings)
}

func (w *Writer) paste(level string, p page.Paste) {
	w.printf("\n%s What to paste\n\n%s\n", level, Escape(p.Lead))
	for _, s := range p.Snippets {
		w.printf("\n%s", Escape(s.Title))
		if s.Note != "" {
			w.printf(" (%s)", Escape(s.Note))
		}
		w.printf(":\n")
		if s.Text != "" {
			w.Code("", s.Text)
		}
	}
}

func (w *Writer) warnings(heading string, list []page.Warning) {
	if len(list) == 0 {
		return
	}
	w.printf("\n%s\n\n", heading)
	for _, x := range list {
		w.printf("- ")
		if x.Setting != "" {
			w.printf("%s: ", Escape(x.Setting))
		}
		w.printf("%s", Escape(x.Message))
		if x.Fix != "" {
			w.printf(" *%s*", Escape(x.Fix))
		}
		w.printf("\n")
	}
}

func (w *Writer) list(items []string) {
	w.printf("\n")
	for _, s := range items {
		w.printf("- %s\n", Escape(s))
	}
}

func (w *Writer) advice(list []page.Advice) {
	w.printf("\n")
	for _, a := range list {
		w.printf("- %s\n", Escape(a.Text))
		if a.Command != "" {
			w.Code("sh", a.Command)
		}
	}
}

// Pairs are rows of a table of two columns.
func (w *Writer) Pairs(list []page.Pair) {
	for _, p := range list {
		w.printf("| %s | %s |\n", Escape(p.Name), Escape(p.Value))
	}
}

// Table is one with its heading.
func (w *Writer) Table(t page.Table) {
	w.printf("\n|")
	for _, c := range t.Columns {
		w.printf(" %s |", Escape(c.Head))
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
			text := Escape(c.Value)
			switch {
			case strings.HasPrefix(c.Detail, "["):
				text += " " + Escape(c.Detail)
			case c.Detail != "":
				text += " (" + Escape(c.Detail) + ")"
			}
			if i == 0 && r.Mark != "" {
				text = fmt.Sprintf("**%s** (%s)", text, Escape(r.Mark))
			}
			w.printf(" %s |", text)
		}
		w.printf("\n")
	}
}

// Code is a fenced block whose fence is longer than any run of backticks in it.
func (w *Writer) Code(language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.printf("\n%s%s\n%s\n%s\n", fence, language, text, fence)
}

func (w *Writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// Escape keeps plain text plain: every character that begins markup, a table
// cell, HTML or an autolink is written so that it does not. Brackets are left
// alone where they begin no link, so that intervals stay readable in the source.
func Escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "#", `\#`, "~", `\~`,
	"](", `\](`, "][", `\][`, "]:", `\]:`, "[x]", `\[x]`, "[X]", `\[X]`, "[ ]", `\[ ]`,
	"|", `\|`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ", "://", ":&#47;/", "@", "&#64;",
)
