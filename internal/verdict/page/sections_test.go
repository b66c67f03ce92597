package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
)

// section is what a report shows of one part.
type section struct {
	Throughput, Latency  *document.Chart
	Evidence, Benchmarks []document.Chart
	Table                document.Table   // all numbers, with what is folded away
	Others               []document.Table // below it
	Checklist, Mistakes  document.Checks
	Facts                document.Pairs
	Lead                 string // of how it is set
	Snippets             document.Snippets
	Warnings             document.Notes
}

// fact is what a report has by a name; empty: it does not have it.
func fact(r *verdict.Result, name string) string {
	for _, p := range slices.Concat(documenttest.Find[document.Pairs](page.Report(r).Blocks)...) {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// has reports what a text does not hold.
func has(t testing.TB, text string, want ...string) {
	t.Helper()
	for _, one := range want {
		if !strings.Contains(text, one) {
			t.Errorf("no %q in\n%s", one, text)
		}
	}
}

// unwrapped is a text on one line.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// notes are the warnings of a report.
func notes(r *verdict.Result) document.Notes {
	return slices.Concat(documenttest.Find[document.Notes](page.Report(r).Blocks)...)
}

// noted is how a report has a remark about its first group.
func noted(r *verdict.Result, x verdict.Remark) document.Note {
	r.Warnings = []verdict.Warning{{Group: new(0), Remark: x}}
	return notes(r)[0]
}

// sections are those of a report.
func sections(r *verdict.Result) (list []section) {
	for _, s := range documenttest.Find[document.Section](page.Report(r).Blocks) {
		if s.Class == "group" {
			list = append(list, readSection(s.Blocks))
		}
	}
	return list
}

func readSection(blocks []document.Block) (s section) {
	set := false
	for _, b := range blocks {
		switch b := b.(type) {
		case document.Charts:
			s.charts(b)
		case document.Pairs:
			s.Facts = b
		case document.Heading:
			set = b.Text == "How to set it"
		case document.Text:
			if set {
				s.Lead = b.Text
			}
		case document.Snippets:
			s.Snippets = b
		case document.Notes:
			s.Warnings = b
		}
	}
	all := slices.IndexFunc(blocks, func(b document.Block) bool {
		h, is := b.(document.Heading)
		return is && h.Text == "All numbers"
	})
	if tables := documenttest.Find[document.Table](blocks[max(0, all):]); len(tables) > 0 {
		s.Table, s.Others = tables[0], tables[1:]
	}
	for _, f := range documenttest.Find[document.Folds](blocks) {
		for _, one := range f.List {
			if aside, is := one.Blocks[0].(document.Table); is && strings.HasSuffix(one.Summary, "by value") {
				s.join(aside)
			}
		}
	}
	if checks := documenttest.Find[document.Checks](blocks); len(checks) == 2 {
		s.Checklist, s.Mistakes = checks[0], checks[1]
	}
	return s
}

func (s *section) charts(c document.Charts) {
	switch c.Layout {
	case document.Curves:
		s.Throughput, s.Benchmarks = &c.List[0], c.Beside
		if len(c.List) > 1 {
			s.Latency = &c.List[1]
		}
	case document.Multiples:
		s.Benchmarks = c.List
	case document.Evidence:
		s.Evidence = c.List
	}
}

// join adds the columns of a table that has the same rows.
func (s *section) join(aside document.Table) {
	s.Others = s.Others[1:]
	s.Table.Columns = append(s.Table.Columns, aside.Columns[1:]...)
	for i := range s.Table.Rows {
		s.Table.Rows[i].Cells = append(s.Table.Rows[i].Cells, aside.Rows[i].Cells[1:]...)
	}
}
