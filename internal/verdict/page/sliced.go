package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// slicedTable is what slices of one start show: of values that were measured in starts of their
// own too, and of those that were not.
func (g *group) slicedTable() *document.Table {
	if g.Sliced == nil || len(g.Sliced.Values) == 0 {
		return nil
	}
	t := &document.Table{Columns: []document.Column{
		g.valueColumn(), {Head: "Slices of one start", Short: "slices"},
		{Head: "Throughput in them, compared with the default", Short: "vs default"}, {Head: "Measured in starts of its own", Short: "own starts", Left: true},
	}}
	for _, v := range g.Sliced.Values {
		kept := document.Cell{Value: "yes"}
		switch {
		case v.Kept:
		case v.Slower:
			kept.Value, kept.Detail = "no", "slower"
		default:
			kept.Value, kept.Detail = "no", "a smaller value is as good there"
		}
		t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{
			{Value: strconv.Itoa(v.Procs)}, {Value: strconv.Itoa(v.Slices)}, difference(v.Throughput), kept,
		}})
	}
	return t
}

// sliced is which values have no start of their own.
func sliced(x verdict.ReasonSliced) string {
	of := func(list []int, why string) string {
		if len(list) == 0 {
			return ""
		}
		return phrase.And(listOf(list, func(n *int) string { return strconv.Itoa(*n) })) + " (" + why + ")"
	}
	return "measured only in slices of one start, with the value set in the running program: " +
		strings.Join(slices.DeleteFunc([]string{of(x.Slower, "slower"), of(x.Covered, "a smaller value is as good there")}, func(s string) bool { return s == "" }), "; ")
}
