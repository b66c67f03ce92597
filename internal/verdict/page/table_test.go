package page_test

import (
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// A request that never has a good answer is not just absent.
func TestRequestThatFails(t *testing.T) {
	r := pagetest.Typical()
	for i, one := range []verdict.RequestLatency{{P50: stat.Interval{Median: new(0.001)}, P99: stat.Interval{Median: new(0.004)}, Errors: 2}, {Errors: 7}} {
		one.Name = "login"
		r.Groups[0].Rows[i].ByRequest = []verdict.RequestLatency{one}
	}
	tables := sections(r)[0].Others
	got := tables[len(tables)-1].Rows[0].Cells[:4]
	if want := []document.Cell{{Value: "login"}, {Value: "4.00 ms", Detail: "p50 1.00 ms, 2 failed"}, {Value: "–", Detail: "7 failed"}, {Value: "–"}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A speed-up says what it is over: the smallest value that has a metric, which need not be
// 1 and is not the default.
func TestSpeedUpNamesItsBase(t *testing.T) {
	for _, c := range []struct {
		without int // values that have no metric
		want    string
	}{{0, "1"}, {1, "2"}, {2, "4"}} {
		r := pagetest.Typical()
		rows := r.Groups[0].Rows
		for i := range rows {
			if rows[i].Procs != nil && c.without > 0 {
				rows[i].Speedup = nil
				c.without--
			}
		}
		columns := sections(r)[0].Table.Columns
		if !slices.ContainsFunc(columns, func(k document.Column) bool { return k.Head == "Speed-up over "+c.want && k.Short == "× of "+c.want }) {
			t.Errorf("no speed-up over %s in %+v", c.want, columns)
		}
	}
}
