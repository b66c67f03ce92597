package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/trace/sched"
)

// waiting is what waited on each P and what it did: a row for each of the first most
// Ps, or, where there are more, for those with the longest queues.
func waiting(st *sched.Stats, most int) []document.Block {
	list := slices.DeleteFunc(slices.Clone(st.PerProc), func(p sched.ProcLoad) bool { return p.Queue == nil })
	if len(list) == 0 {
		return nil
	}
	var longest, largest float64
	slicesKnown := false // since Go 1.25, or with scheddetail
	for _, p := range list {
		longest = max(longest, p.Queue.Mean)
		if p.TickShare != nil {
			largest, slicesKnown = max(largest, *p.TickShare), true
		}
	}
	var rest []string
	if len(list) > most {
		sorting.Stable(list, func(a, b sched.ProcLoad) int { return cmp.Compare(b.Queue.Mean, a.Queue.Mean) })
		var others sched.Level
		for _, p := range list[most:] {
			others.Mean += p.Queue.Mean
			others.Max = max(others.Max, p.Queue.Max)
		}
		rest = append(rest, fmt.Sprintf("%d more Ps have shorter queues: %s waiting on all of them together on average, at most %s on one", len(list)-most, number.Amount(others.Mean), number.Amount(others.Max)))
		list = list[:most]
		sorting.Stable(list, func(a, b sched.ProcLoad) int { return a.Proc - b.Proc })
	}
	t := document.Table{Columns: []document.Column{{Head: "P", Short: "P", Left: true}, {Head: "mean queue", Short: "mean", Bars: true}, {Head: "longest", Short: "max"}, {Head: "share of all", Short: "share"}}}
	if slicesKnown {
		t.Columns = append(t.Columns, document.Column{Head: "time slices started"}, document.Column{Head: "share of all", Short: "time slices", Bars: true})
	}
	for _, p := range list {
		row := []document.Cell{{Value: "P " + strconv.Itoa(p.Proc)}, {Value: number.Amount(p.Queue.Mean), Bar: part(p.Queue.Mean, longest)}, {Value: number.Amount(p.Queue.Max)}, {}}
		if p.QueueShare != nil {
			row[3].Value = number.Share(*p.QueueShare)
		}
		if slicesKnown {
			row = append(row, document.Cell{}, document.Cell{})
			if p.Ticks != nil {
				row[4].Value = strconv.FormatInt(*p.Ticks, 10)
			}
			if p.TickShare != nil {
				row[5] = document.Cell{Value: number.Share(*p.TickShare), Bar: part(*p.TickShare, largest)}
			}
		}
		t.Rows = append(t.Rows, document.Row{Cells: row})
	}
	if st.Untracked > 0 {
		rest = append(rest, fmt.Sprintf("%d more Ps are only in the sums", st.Untracked))
	}
	return []document.Block{heading("Waiting on each P"), t, document.Text{Text: sentence(strings.Join(rest, "; ")), Style: document.Small}}
}

func part(of, longest float64) float64 {
	if longest == 0 {
		return 0
	}
	return of / longest
}
