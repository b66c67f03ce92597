package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func inMarkdown(r *verdict.Result) string { return string(markdown.Render(page.Report(r))) }

// The reports of a sweep, of a canary and of a live experiment are whole in a golden each; those of
// other kinds are in their outlines.
func TestReportGolden(t *testing.T) {
	for name, r := range map[string]*verdict.Result{"typical": pagetest.Typical(), "canary": pagetest.Canary(), "live": live.Analyze(pagetest.LiveContents())} {
		documenttest.Golden(t, name+".md", []byte(inMarkdown(r)))
	}
}

func TestNothingIsSaidTwice(t *testing.T) {
	for name, r := range map[string]*verdict.Result{"typical": pagetest.Typical(), "groups": pagetest.Groups(), "varied": pagetest.Varied(200), "gate": pagetest.Gate(func(*verdict.Gate) {}), "invalid": pagetest.Invalid()} {
		out := inMarkdown(r)
		if strings.Contains(out, "tell.** Cannot") || strings.Contains(out, "Not slower.** Not") {
			t.Errorf("%s: a label and a sentence that begins with it", name)
		}
		seen := map[string]bool{}
		for line := range strings.SplitSeq(out, "\n") {
			if strings.HasPrefix(line, "#") && len(r.Groups) == 1 && seen[line] {
				t.Errorf("%s: two headings %q", name, line)
			}
			seen[line] = true
		}
	}
}

// outside is the text without fenced blocks, in which nothing is markup.
func outside(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && line == fence:
			fence = ""
		case fence == "":
			b.WriteString(line + "\n")
		}
	}
	if fence != "" {
		t.Errorf("a fence of %d backticks never closes", len(fence))
	}
	return b.String()
}

func TestHostileTextStaysTextInMarkdown(t *testing.T) {
	out := outside(t, inMarkdown(pagetest.Hostile()))
	out = strings.NewReplacer("<details>", "", "</details>", "", "<summary>", "", "</summary>", "").Replace(out)
	for _, not := range []string{"<", ">", "](", "\n# heading"} {
		if strings.Contains(strings.NewReplacer(`\](`, "", "[all](#warnings", "").Replace(out), not) {
			t.Errorf("%q outside a code block", not)
		}
	}
	if strings.Contains(strings.ReplaceAll(out, "\\`", ""), "`") && !strings.Contains(out, "`reproduce.sh`") {
		t.Error("a bare backtick outside a code block")
	}
	columns := 0
	for line := range strings.SplitSeq(out, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns == 0 {
			columns = n
		}
		if n != columns {
			t.Errorf("%d cells in a table of %d: %s", n-1, columns-1, line)
		}
	}
}
