package markdown

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/verdict/page"
)

type writer struct{ bytes.Buffer }

// Render writes the view.
func Render(out io.Writer, v *page.View) error {
	w := &writer{}
	w.view(v)
	_, err := out.Write(w.Bytes())
	return err
}

func (w *writer) view(v *page.View) {
	many := len(v.Groups) > 1
	w.printf("# GOMAXPROCS of %s\n\n%s\n", escape(v.Name), escape(v.Started))
	if v.Progress != "" {
		w.printf("\n**%s**\n", escape(v.Progress))
	}
	w.printf("\n## %s\n", escape(v.Verdict.Answer.Text))
	w.answer(v.Verdict)
	w.alert(v, many)
	if v.Gate != nil {
		w.printf("\n## Gate\n")
		if v.Gate.Sentence != "" {
			w.printf("\n**%s.** %s\n", escape(v.Gate.Label), escape(v.Gate.Sentence))
		}
		w.table(v.Gate.Table)
	}
	if v.Summary != nil {
		w.printf("\n## Summary\n")
		w.table(*v.Summary)
	}
	for i := range v.Groups {
		w.group(&v.Groups[i], many)
	}
	w.warnings("## Warnings on the whole run", v.Warnings)
	w.printf("\n## Environment\n\n| | |\n|---|---|\n")
	w.pairs(v.Environment)
	w.printf("\n## How to reproduce\n\nThe program under test:\n")
	w.code("sh", v.Command)
	if v.Against != "" {
		w.printf("\nCompared with:\n")
		w.code("sh", v.Against)
	}
	w.printf("\nThe sweep, which `reproduce.sh` beside this file repeats with the same seed:\n")
	w.code("sh", v.Sweep)
}

// answer is the first screen: why, what changes, what to type.
func (w *writer) answer(v page.Verdict) {
	a := v.Answer
	w.printf("\n%s\n", escape(a.Plain))
	w.tiles(a.Tiles)
	if a.Apply != "" {
		w.code("sh", a.Apply)
	}
	if len(v.Settle) > 0 {
		w.printf("\nWhat would settle it:\n")
		w.advice(v.Settle)
	}
	if v.Context != "" {
		w.printf("\n%s\n", escape(v.Context))
	}
}

func (w *writer) tiles(list []page.Tile) {
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
		w.printf("| %s |", escape(t.Name))
		if changes {
			w.printf(" %s |", escape(t.Before))
		}
		w.printf(" **%s** | %s |\n", escape(t.After), escape(t.Note))
	}
}

// alert is the warnings in one line, which leads to them.
func (w *writer) alert(v *page.View, many bool) {
	if v.Alert == "" {
		return
	}
	anchor := "warnings"
	if many || len(v.Groups) == 0 || len(v.Groups[0].Warnings) == 0 {
		anchor = "warnings-on-the-whole-run"
	}
	w.printf("\n**!** %s ([all](#%s))\n", escape(v.Alert), anchor)
}

func (w *writer) group(g *page.Group, titled bool) {
	level := "##"
	if titled {
		level = "###"
		w.printf("\n## %s\n\n**%s**\n", escape(g.Title), escape(g.Verdict.Answer.Text))
		w.answer(g.Verdict)
	}
	if g.Throughput != nil {
		notes := "Throughput: " + g.Throughput.Note
		if g.Latency != nil {
			notes += ". Latency: " + g.Latency.Note
		}
		w.printf("\n%s By GOMAXPROCS\n", level)
		w.table(g.Curves)
		w.printf("\n%s. %s\n", escape(notes), escape(g.Levels))
	}
	if b := g.Benchmarks; b != nil {
		w.printf("\n%s By benchmark\n\n%s\n", level, escape(b.Note))
		w.table(b.Table)
	}
	w.printf("\n%s Why\n\n%s\n", level, escape(g.Verdict.Sentence))
	if len(g.Verdict.Reasons) > 0 {
		w.list(g.Verdict.Reasons)
	}
	w.printf("\n%s All figures\n", level)
	w.table(g.Table)
	if g.Metrics != nil {
		w.table(*g.Metrics)
	}
	if g.Requests != nil {
		w.table(*g.Requests)
	}
	w.printf("\n| | |\n|---|---|\n")
	w.pairs(g.Facts)
	w.paste(level, g.Paste)
	w.warnings(level+" Warnings", g.Warnings)
}

func (w *writer) paste(level string, p page.Paste) {
	w.printf("\n%s What to paste\n\n%s\n", level, escape(p.Lead))
	for _, s := range p.Snippets {
		w.printf("\n%s", escape(s.Title))
		if s.Note != "" {
			w.printf(" (%s)", escape(s.Note))
		}
		w.printf(":\n")
		if s.Text != "" {
			w.code("", s.Text)
		}
	}
}

func (w *writer) warnings(heading string, list []page.Warning) {
	if len(list) == 0 {
		return
	}
	w.printf("\n%s\n\n", heading)
	for _, x := range list {
		w.printf("- ")
		if x.Arm != "" {
			w.printf("%s: ", escape(x.Arm))
		}
		w.printf("%s", escape(x.Message))
		if x.Fix != "" {
			w.printf(" *%s*", escape(x.Fix))
		}
		w.printf("\n")
	}
}

func (w *writer) list(items []string) {
	w.printf("\n")
	for _, s := range items {
		w.printf("- %s\n", escape(s))
	}
}

func (w *writer) advice(list []page.Advice) {
	w.printf("\n")
	for _, a := range list {
		w.printf("- %s\n", escape(a.Text))
		if a.Command != "" {
			w.code("sh", a.Command)
		}
	}
}

func (w *writer) pairs(list []page.Pair) {
	for _, p := range list {
		w.printf("| %s | %s |\n", escape(p.Name), escape(p.Value))
	}
}

func (w *writer) table(t page.Table) {
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
			text := escape(c.Value)
			switch {
			case strings.HasPrefix(c.Detail, "["):
				text += " " + escape(c.Detail)
			case c.Detail != "":
				text += " (" + escape(c.Detail) + ")"
			}
			if i == 0 && r.Mark != "" {
				text = fmt.Sprintf("**%s** (%s)", text, escape(r.Mark))
			}
			w.printf(" %s |", text)
		}
		w.printf("\n")
	}
}

// code is a fenced block whose fence is longer than any run of backticks in it.
func (w *writer) code(language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.printf("\n%s%s\n%s\n%s\n", fence, language, text, fence)
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// escape keeps plain text plain: every character that begins markup, a table
// cell, HTML or an autolink is written so that it does not. Brackets are left
// alone where they begin no link, so that intervals stay readable in the source.
func escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "#", `\#`, "~", `\~`,
	"](", `\](`, "][", `\][`, "]:", `\]:`, "[x]", `\[x]`, "[X]", `\[X]`, "[ ]", `\[ ]`,
	"|", `\|`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ", "://", ":&#47;/", "@", "&#64;",
)
