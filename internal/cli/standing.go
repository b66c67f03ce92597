package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// standing is what the trials of a sweep have shown so far, a setting each. Pilots
// only find the rate, and do not count.
type standing struct {
	settings []soFar
	trials   int
}

// soFar is one of them. A setting that is measured twice has both trials here.
type soFar struct {
	setting       journal.Setting
	rates, p99s   []float64 // of the valid trials; of runs, the seconds that one takes
	valid, failed int
	last          int // its latest trial, counted from 1; 0: none yet
}

// of is the place of a setting, which is made where there is none: by
// groups, then by the value.
func (s *standing) of(a journal.Setting) *soFar {
	i := slices.IndexFunc(s.settings, func(have soFar) bool { return have.setting.Key() == a.Key() })
	if i < 0 {
		s.settings = append(s.settings, soFar{setting: a})
		sorting.Stable(s.settings, func(a, b soFar) int { return compareSettings(a.setting, b.setting) })
		i = slices.IndexFunc(s.settings, func(have soFar) bool { return have.setting.Key() == a.Key() })
	}
	return &s.settings[i]
}

func (s *standing) add(t *journal.Trial) {
	if t.Role == journal.RolePilot {
		return
	}
	s.trials++
	one := s.of(t.Setting)
	one.last = s.trials
	if !t.Valid {
		one.failed++
		return
	}
	one.valid++
	switch rate := t.ThroughputPerSecond; {
	case rate == nil:
	case t.ThroughputUnit != trial.ThroughputRuns:
		one.rates = append(one.rates, *rate)
	case *rate > 0:
		one.rates = append(one.rates, float64(max(1, t.Setting.Replicas)) / *rate)
	}
	if t.LatencySeconds != nil && t.LatencySeconds.P99 != nil {
		one.p99s = append(one.p99s, *t.LatencySeconds.P99)
	}
}

// compareSettings orders by group, the unlimited first, then by the value, unset first.
func compareSettings(a, b journal.Setting) int {
	quota := func(k journal.SettingKey) float64 {
		if !k.Group.Limited {
			return math.Inf(1)
		}
		return k.Group.QuotaCPUs
	}
	x, y := a.Key(), b.Key()
	return cmp.Or(cmp.Compare(x.Group.GoVersion, y.Group.GoVersion), cmp.Compare(quota(y), quota(x)),
		cmp.Compare(x.Group.Replicas, y.Group.Replicas), cmp.Compare(x.Group.Compares, y.Group.Compares), cmp.Compare(x.Group.Variables, y.Group.Variables), cmp.Compare(x.Procs, y.Procs), cmp.Compare(x.Variant, y.Variant))
}

// lines are the settings as a table with a bound on its lines and on its
// columns; now is the one that is measured just now. Where there is no room for
// all, those measured last are shown.
func (s *standing) lines(now *journal.SettingKey, unit string, most, width int) []string {
	shown, hidden := s.latest(most-1, now) // below the heading
	if len(shown) == 0 {
		return nil
	}
	head := "GOMAXPROCS"
	if hidden > 0 {
		head += fmt.Sprintf(" (%d of %d)", len(shown), len(shown)+hidden)
	}
	t := table.Table{Sign: 2, Columns: []table.Column{{Steps: []table.Step{{Rank: 1, To: len("GOMAXPROCS")}}}, {Right: true}, {Right: true}, {}}}
	t.Rows = []table.Row{{Cells: table.Cells(head, rateHead(unit), "p99", "trials")}}
	for _, one := range shown {
		row := table.Row{Cells: table.Cells(settingName(one.setting), rateFigure(unit, one.rates), latencyFigure(one.p99s), one.count())}
		if now != nil && one.setting.Key() == *now {
			row.Sign = "▸"
		}
		t.Rows = append(t.Rows, row)
	}
	if !slices.ContainsFunc(shown, func(one soFar) bool { return len(one.p99s) > 0 }) {
		t.Columns = slices.Delete(t.Columns, 2, 3)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, 2, 3)
		}
	}
	w := &terminal.Writer{Width: width - 1}
	t.Write(w)
	return strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
}

// latest are the n settings at most that have the latest trials, in order.
func (s *standing) latest(most int, now *journal.SettingKey) (shown []soFar, hidden int) {
	if len(s.settings) <= most || most <= 0 {
		if most <= 0 {
			return nil, len(s.settings)
		}
		return s.settings, 0
	}
	rank := func(one soFar) int {
		if now != nil && one.setting.Key() == *now {
			return s.trials + 1
		}
		return one.last
	}
	byAge := sorting.Sorted(s.settings, func(a, b soFar) int { return cmp.Compare(rank(b), rank(a)) })
	least := rank(byAge[most-1])
	for _, one := range s.settings {
		if rank(one) >= least && len(shown) < most {
			shown = append(shown, one)
		}
	}
	return shown, len(s.settings) - len(shown)
}

// count is how many trials there are of a setting.
func (s soFar) count() string {
	text := strconv.Itoa(s.valid)
	if s.failed > 0 {
		text += fmt.Sprintf(", %d invalid", s.failed)
	}
	return text
}

// settingName is the value, and what distinguishes its group.
func settingName(a journal.Setting) string {
	return a.Label + group(a.Group())
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

func rateFigure(unit string, rates []float64) string {
	switch {
	case len(rates) == 0:
		return ""
	case unit == trial.ThroughputRuns:
		return number.Seconds(middle(rates))
	}
	return number.Count(middle(rates))
}

func latencyFigure(p99s []float64) string {
	if len(p99s) == 0 {
		return ""
	}
	return number.Seconds(middle(p99s))
}

// middle is the median.
func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
