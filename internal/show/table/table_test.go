package table

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/terminal"
)

func lay(t *Table, width int) string {
	w := &terminal.Writer{Width: width}
	t.Write(w)
	return w.String()
}

// laid compares a table with what it is at some widths.
func laid(t *testing.T, table *Table, at map[int]string) {
	t.Helper()
	for width, want := range at {
		if got := lay(table, width); got != want {
			t.Errorf("at %d:\n%swant\n%s", width, got, want)
		}
	}
}

func processes() *Table {
	return &Table{
		Columns: []Column{{Right: true}, {Steps: []Step{{Rank: 1, To: Short}}}, {Right: true, Steps: []Step{{Rank: 3, To: Gone}}}, {Steps: []Step{{Rank: 2, To: Gone}}}},
		Rows: []Row{{Cells: Cells("PID", "NAME", "USE", "BY")}, {Cells: []Cell{{Text: "7"}, {Text: "a-long-name", Short: "a-long…"}, {Text: "0.50"}, {Text: "env"}}},
			{Cells: Cells("4711", "b", "12.25", "call")}},
	}
}

// What can be done without goes in its order, and what a later step makes room for is back.
func TestSteps(t *testing.T) {
	laid(t, processes(), map[int]string{
		0:  " PID  NAME           USE  BY\n   7  a-long-name   0.50  env\n4711  b            12.25  call\n",
		27: " PID  NAME         BY\n   7  a-long-name  env\n4711  b            call\n",
		20: " PID  NAME\n   7  a-long-name\n4711  b\n",
		13: " PID  NAME\n   7  a-long…\n4711  b\n",
		16: " PID  NAME\n   7  a-long…\n4711  b\n",
	})
	if got := lay(processes(), 19); !strings.HasPrefix(got, " PID  NAME     BY\n") && !strings.HasPrefix(got, " PID  NAME\n") {
		t.Errorf("at 19:\n%s", got)
	}
}

// A column is cut no further than is needed, and by whole characters of any script.
func TestCut(t *testing.T) {
	one := &Table{Columns: []Column{{Steps: []Step{{Rank: 1, To: 4}}}, {Right: true}}, Rows: []Row{{Cells: Cells("GOMAXPROCS", "p99")}, {Sign: "", Cells: Cells("日本語日本語", "1 ms")}}}
	laid(t, one, map[int]string{
		18: "GOMAXPROCS     p99\n日本語日本語  1 ms\n",
		15: "GOMAXPRO…   p99\n日本語日…  1 ms\n",
		5:  "GOM…   p99\n日…   1 ms\n",
	})
}

func TestFold(t *testing.T) {
	folded := &Table{Sign: 2, Tight: true, Fold: true, Columns: []Column{{}, {Right: true}, {Right: true}, {Right: true}},
		Rows: []Row{{Cells: Cells("procs", "req/s", "p50", "p99")}, {Sign: "▸", Cells: Cells("2", "12.8k", "840 µs", "4.14 ms")}}}
	laid(t, folded, map[int]string{
		31: "  procs  req/s     p50      p99\n▸ 2      12.8k  840 µs  4.14 ms\n",
		28: "  procs req/s    p50     p99\n▸ 2     12.8k 840 µs 4.14 ms\n",
		20: "  procs req/s    p50\n▸ 2     12.8k 840 µs\n\n  procs     p99\n▸ 2     4.14 ms\n",
		12: "▸ 2\n    req/s\n    12.8k,\n    p50 840\n    µs, p99\n    4.14 ms\n",
	})
}

// What is below has room for what was cut to have it next to.
func TestFoldedIsNotCut(t *testing.T) {
	folded := &Table{Fold: true, Columns: []Column{{}, {Right: true}, {Steps: []Step{{Rank: 1, To: 4}}}},
		Rows: []Row{{Cells: Cells("P", "waited", "where")}, {Cells: Cells("0", "1.00 ms", "P 1, P 2")}}}
	laid(t, folded, map[int]string{
		16: "P   waited  whe…\n0  1.00 ms  P 1…\n",
		12: "P   waited\n0  1.00 ms\n\nP  where\n0  P 1, P 2\n",
	})
}
