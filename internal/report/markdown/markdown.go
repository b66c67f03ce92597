package markdown

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/procfit/procfit/internal/report"
)

type writer struct{ bytes.Buffer }

// Render writes the view.
func Render(out io.Writer, v *report.View) error {
	w := &writer{}
	w.view(v)
	_, err := out.Write(w.Bytes())
	return err
}

func (w *writer) view(v *report.View) {
	w.printf("# GOMAXPROCS of %s\n\n%s\n", escape(v.Name), escape(v.Started))
	w.verdict(v.Verdict)
	if v.Progress != "" {
		w.printf("\n**%s**\n", escape(v.Progress))
	}
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
		w.group(&v.Groups[i], len(v.Groups) > 1)
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

func (w *writer) verdict(v report.Verdict) {
	w.printf("\n**%s.** %s\n", escape(v.Label), escape(v.Sentence))
	if len(v.Reasons) > 0 {
		w.list(v.Reasons)
	}
	if len(v.Settle) > 0 {
		w.printf("\nWhat would settle it:\n")
		w.list(v.Settle)
	}
	if v.Context != "" {
		w.printf("\n%s\n", escape(v.Context))
	}
}

func (w *writer) group(g *report.Group, titled bool) {
	if titled {
		w.printf("\n## %s\n", escape(g.Title))
		w.verdict(g.Verdict)
	} else {
		w.printf("\n## Results\n")
	}
	if g.Throughput != nil {
		notes := "Throughput: " + g.Throughput.Note
		if g.Latency != nil {
			notes += ". Latency: " + g.Latency.Note
		}
		w.printf("\n%s. Each value's level over the run, with its 95 %% interval; p50 and what the kernel counted are medians.\n", escape(notes))
	}
	w.table(g.Table)
	if g.Metrics != nil {
		w.table(*g.Metrics)
	}
	if g.Requests != nil {
		w.table(*g.Requests)
	}
	w.printf("\n| | |\n|---|---|\n")
	w.pairs(g.Facts)
	w.paste(g.Paste)
	w.warnings("### Warnings", g.Warnings)
}

func (w *writer) paste(p report.Paste) {
	w.printf("\n### What to paste\n\n%s\n", escape(p.Lead))
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

func (w *writer) warnings(heading string, list []report.Warning) {
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

func (w *writer) pairs(list []report.Pair) {
	for _, p := range list {
		w.printf("| %s | %s |\n", escape(p.Name), escape(p.Value))
	}
}

func (w *writer) table(t report.Table) {
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
