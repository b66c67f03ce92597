package page

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/test/must"
)

func TestMarkdown(t *testing.T) {
	documenttest.Golden(t, "lab.md", markdown.Render(Results(madeLab())))
	for line := range strings.Lines(string(markdown.Render(Results(hostileLab())))) {
		if strings.HasPrefix(line, "procfit lab ") || strings.HasPrefix(line, "procfit sweep ") {
			continue // in a code block
		}
		if strings.HasPrefix(line, "# heading") || strings.Contains(line, "<script") || strings.Contains(line, "](javascript") && !strings.Contains(line, `\]`) {
			t.Errorf("hostile text is Markdown: %s", line)
		}
	}
}

// A figure by two numbers is a table: a row for each of the one, a column for each of the other.
func TestGrid(t *testing.T) {
	two := lab.Estimate{Value: new(2.5), Low: new(2.25), High: new(2.75), N: 6}
	f := grid(&lab.Grid{Title: "time of *10* Ps", Rows: []string{"1 busy", "4 busy"}, Columns: []string{"10 other"}, Cells: [][]lab.Estimate{{two}, {{Why: "not run"}}}})
	got := string(markdown.Render(&document.Document{Title: "x", Blocks: figures(f, 2)}))
	must.Say(t, got, "## Time of \\*10\\* Ps", "| 1 busy | 2.50 [2.25, 2.75] |", "| 4 busy | not measured |")
	if f.Table.Rows[0].Cells[1].Bar != 1 || f.Table.Rows[1].Cells[1].Bar != 0 {
		t.Errorf("bars of %+v", f.Table.Rows)
	}
	if none := grid(nil); figures(none, 2) != nil {
		t.Errorf("a figure of nothing: %+v", none)
	}
}
