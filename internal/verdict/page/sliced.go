package page

import (
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// slicedStanding is what a value came to that only slices of one start measured.
func slicedStanding(v *contest.SliceValue) document.Cell {
	c := document.Cell{Value: "no faster", Detail: "in slices of one start"}
	switch {
	case v.Kept: // it gets trials
		c.Value = "undecided"
	case v.Slower:
		c.Value = "slower"
	}
	return c
}

// isSliced reports whether a row is of such a value, so that its throughput is an estimate.
func isSliced(a *verdict.Row) bool { return a.Sliced != nil }

func (w words) hasSliced() bool { return slices.ContainsFunc(rowsFrom(w.Rows), isSliced) }

// withTrials is the group without these rows.
func (g *group) withTrials() *group {
	own := *g
	own.rows = slices.DeleteFunc(slices.Clone(g.rows), isSliced)
	return &own
}

// estimates is what the signs of an estimate mark; empty: there is none.
func (g *group) estimates(signs string) string {
	if !g.hasSliced() {
		return ""
	}
	return signs + " an estimate for a value that has no trials: the default's throughput, times the ratio in slices of one start."
}

// sliced is which values have no start of their own.
func sliced(x verdict.ReasonSliced) string {
	of := func(list []int, why string) string {
		if len(list) == 0 {
			return ""
		}
		return phrase.And(phrase.Each(list, strconv.Itoa)) + " (" + why + ")"
	}
	return "measured only in slices of one start, with the value set in the running program: " +
		phrase.Join("; ", of(x.Slower, "slower"), of(x.Covered, "a smaller value is as good there"))
}
