package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// Alike on average and apart in each: the one that wants another value is named, and the
// mean is called what it is.
func TestBenchmarksStandByThemselves(t *testing.T) {
	r := pagetest.Benchmarks()
	if got := page.VerdictOf(r).Answer.Text; got != "Benchmarks disagree: Small is best at 1" {
		t.Errorf("the answer is %q", got)
	}
	g := sections(r)[0]
	if g.Throughput.Title != "Geometric mean of 2 benchmarks" || g.Table.Columns[2].Head != "Geometric mean, op/s" {
		t.Errorf("the mean is called %q and %q", g.Throughput.Title, g.Table.Columns[2].Head)
	}
	table := documenttest.Find[document.Table](page.Report(r).Blocks)[0] // before all numbers
	if len(g.Benchmarks) != 2 || len(table.Rows) != 3 || len(table.Columns) != 5 {
		t.Fatalf("benchmarks: %+v", table)
	}
	for i, want := range []struct{ name, mark, first, last string }{
		{"Large/tree", "", "8.0×", ""}, {"Small", "best at 1", "−87.5%", ""}, {"geometric mean", "", "~", ""},
	} {
		row := table.Rows[i]
		if row.Cells[0].Value != want.name || row.Mark != want.mark || row.Cells[1].Detail != want.first || row.Cells[4].Detail != want.last {
			t.Errorf("row %d: %+v, want %+v", i, row, want)
		}
	}
	for _, c := range g.Others[0].Columns {
		if strings.Contains(c.Head, "ns/op") {
			t.Errorf("%s stands in two tables", c.Head)
		}
	}
	if mark := g.Benchmarks[1].Categories[0].Mark; mark != "best" {
		t.Errorf("the wanted value is marked %q", mark)
	}
}

// An answer that does not hold for a benchmark says so.
func TestAnAnswerExceptForABenchmark(t *testing.T) {
	r := pagetest.Benchmarks()
	rec := &r.Groups[0].Recommendation
	four := 4
	rec.Verdict, rec.Confidence, rec.Procs = verdict.Recommended, verdict.Proven, &four
	if got := page.VerdictOf(r).Answer.Text; got != "Set GOMAXPROCS=4, except for Small" {
		t.Errorf("the answer is %q", got)
	}
	r.Groups[0].Benchmarks.List[0].Wants = &four
	if got := page.VerdictOf(r).Answer.Text; got != "Set GOMAXPROCS=4, except for 2 benchmarks" {
		t.Errorf("the answer is %q", got)
	}
}

// A gate's old and new share places and axis where a renderer has room.
func TestOldAndNewOnOneAxis(t *testing.T) {
	v := sections(analyze(versus(1.1, 0.9, nil)))[0]
	for _, c := range []*document.Chart{v.Throughput, v.Latency} {
		p := c.Together
		if p == nil || len(p.Categories) != 2 || len(p.Series) != 2 || p.Series[0].Name != "old" || p.Series[1].Name != "new" {
			t.Fatalf("%s: %+v", c.Title, p)
		}
		if !p.Series[0].Marks[0].Present || !p.Series[1].Marks[0].Present || p.Series[0].Marks[0].At == p.Series[1].Marks[0].At {
			t.Errorf("%s: old and new at %+v and %+v", c.Title, p.Series[0].Marks[0].At, p.Series[1].Marks[0].At)
		}
	}
	if sections(pagetest.Typical())[0].Throughput.Together != nil {
		t.Error("a sweep without a gate has old and new")
	}
}

// What a margin allows is on the better side of it; where no change is, all strips agree.
func TestStripsOfAGate(t *testing.T) {
	r := pagetest.Gate(func(*verdict.Gate) {})
	for i, row := range gateRows(r) {
		s, c := row.Strip, r.Gate.Checks[i]
		if s == nil || !s.Present || s.Interval.From >= s.Interval.To || s.At < s.Interval.From || s.At > s.Interval.To {
			t.Fatalf("row %d: %+v", i, s)
		}
		if within := s.Interval.From >= s.Zone.From && s.Interval.To <= s.Zone.To; within != c.Proven {
			t.Errorf("row %d: the interval is within the margin: %v; proven: %v", i, within, c.Proven)
		}
		if s.Zone.From > 0.5 || s.Zone.To < 0.5 || s.Ticks[0].At != 0.5 {
			t.Errorf("row %d: no change is not allowed by %+v", i, s)
		}
	}
}
