package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// standingLines are the settings as a table with a bound on its lines and on its
// columns; now has the one that is measured just now. Where there is no room for
// all, those measured last are shown.
func standingLines(s *trial.Standing, now plan.Progress, most, width int) []string {
	shown, hidden := s.Latest(most-1, now.Task) // below the heading
	if len(shown) == 0 {
		return nil
	}
	head, name := "GOMAXPROCS", func(one trial.SoFar) string { return one.Setting.Name() }
	if now.Versions {
		head, name = "version", func(one trial.SoFar) string { return one.Setting.VersionName() }
	}
	if hidden > 0 {
		head += fmt.Sprintf(" (%d of %d)", len(shown), len(shown)+hidden)
	}
	t := table.Table{Sign: 2, Columns: []table.Column{{Steps: []table.Step{{Rank: 1, To: len("GOMAXPROCS")}}}, {Right: true}, {Right: true}, {}}}
	inUnit := number.Count
	if s.Unit == trial.ThroughputRuns {
		inUnit = number.Seconds
	}
	t.Rows = []table.Row{{Cells: table.Cells(head, rateHead(s.Unit), "p99", "trials")}}
	for _, one := range shown {
		rate := middle(one.Rates, inUnit)
		if one.Unmet() {
			rate = "below " + rate
		}
		row := table.Row{Cells: table.Cells(name(one), rate, middle(one.P99s, number.Seconds), countOf(one))}
		if one.Measures(now.Task) {
			row.Sign = "▸"
		}
		t.Rows = append(t.Rows, row)
	}
	if !slices.ContainsFunc(shown, func(one trial.SoFar) bool { return len(one.P99s) > 0 }) {
		t.Columns = slices.Delete(t.Columns, 2, 3)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, 2, 3)
		}
	}
	w := &terminal.Writer{Width: width - 1}
	t.Write(w)
	return strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
}

func countOf(s trial.SoFar) string {
	text := strconv.Itoa(s.Valid)
	if s.Failed > 0 {
		text += fmt.Sprintf(", %d invalid", s.Failed)
	}
	return text
}

func rateHead(unit string) string {
	switch unit {
	case "":
		return ""
	case trial.ThroughputRuns:
		return "per run"
	case trial.ThroughputRequests:
		return "req/s"
	case trial.ThroughputOperations:
		return "op/s"
	}
	return phrase.Clip(phrase.Clean(unit), 16) // a metric is its own unit
}

// middle is the median of some numbers in words; empty: there are none.
func middle(list []float64, words func(float64) string) string {
	if len(list) == 0 {
		return ""
	}
	return words(stat.Middle(list))
}
