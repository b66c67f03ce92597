package page

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func rowsFrom(settings []verdict.Row) (rows []*verdict.Row) {
	for i := range settings {
		rows = append(rows, &settings[i])
	}
	return rows
}

func firstOf(rows []*verdict.Row, holds func(*verdict.Row) bool) *verdict.Row {
	if i := slices.IndexFunc(rows, holds); i >= 0 {
		return rows[i]
	}
	return nil
}

// setting is that of a label, by itself.
func (g *group) setting(label string) *verdict.Row {
	return firstOf(rowsFrom(g.Settings), func(a *verdict.Row) bool { return label != "" && a.Label == label })
}

// row is the one that holds the setting of that label.
func (g *group) row(label string) *verdict.Row {
	return firstOf(g.rows, func(a *verdict.Row) bool {
		return label != "" && (a.Label == label || slices.Contains(a.PooledWith, label))
	})
}

// unset is the setting of the program's own default.
func (g *group) unset() *verdict.Row {
	return firstOf(rowsFrom(g.Settings), func(a *verdict.Row) bool { return a.Procs == nil && a.Variant == "" })
}

func (g *group) chosen() *verdict.Row { return g.row(g.Recommendation.Setting) }

// ps is the number of Ps that a setting ran with, as far as it is known.
func ps(a *verdict.Row) (int, bool) {
	switch {
	case a == nil:
		return 0, false
	case a.Procs != nil:
		return *a.Procs, true
	case a.ResolvedProcs != nil:
		return *a.ResolvedProcs, true
	}
	return 0, false
}

// settingName is how a setting is written: "2 (default)", "4", "4, old".
func settingName(a *verdict.Row) string {
	label, sub := settingLabel(a)
	return document.Category{Label: label, Sub: sub}.Name()
}

// settingLabel is a setting's name, and what goes under or after it.
func settingLabel(a *verdict.Row) (label, sub string) {
	if a.Variable != "" {
		return phrase.Clip(a.Variable, nameRoom), ""
	}
	label = journal.LabelOf(a.Procs)
	switch {
	case a.Procs == nil && a.ResolvedProcs != nil:
		label, sub = strconv.Itoa(*a.ResolvedProcs), journal.Default
	case len(a.PooledWith) > 0: // both ran with this number, and are shown as one
		sub = journal.Default
	case isSliced(a):
		sub = "slices"
	}
	variant := phrase.If(a.Variant == journal.VariantAgainst, "old", phrase.Clip(a.Variant, nameRoom))
	return phrase.Join(", ", label, variant), sub
}

// What a row came to, in a word.
const (
	notCompared = "not compared"
	asFast      = "as fast"
)

var leftOutFor = map[contest.Excluded]document.Cell{
	contest.ExcludedInvalid:    {Value: "invalid", Detail: "no trial was valid"},
	contest.ExcludedTooFewCPUs: {Value: notCompared, Detail: "other programs left it too few CPUs"},
	contest.ExcludedUnread:     {Value: notCompared, Detail: "the value that it uses is unknown"},
	contest.ExcludedDiffers:    {Value: notCompared, Detail: "it performs differently from the value that it uses, set explicitly"},
	contest.ExcludedNoFigure:   {Value: "no throughput", Detail: "no valid trial has a throughput"},
	contest.ExcludedSlower:     {Value: "slower", Detail: "too slow to be the best, so its latency is not compared"},
	contest.ExcludedSaturated:  {Value: "fell behind", Detail: "could not keep up with the request rate, so its latency is not compared"},
	contest.ExcludedUnmet:      {Value: "missed --slo", Detail: "in half of its trials or more, no rate that was tried met it"},
	contest.ExcludedLatency:    {Value: "no latency", Detail: "none of its trials has a latency that can be judged"},
	contest.ExcludedMemory:     {Value: notCompared, Detail: "it used more memory than "},
	contest.ExcludedUnweighed:  {Value: notCompared, Detail: "its memory could not be read, so it may exceed "},
}

func (g *group) leftOut(a *verdict.Row) document.Cell {
	cell, known := leftOutFor[*a.Excluded]
	switch {
	case !known:
		return document.Cell{Value: phrase.Clip(string(*a.Excluded), nameRoom)}
	case *a.Excluded == contest.ExcludedMemory, *a.Excluded == contest.ExcludedUnweighed:
		cell.Detail += mostMemory(g.r)
	case *a.Excluded == contest.ExcludedInvalid && a.Invalid == 0:
		return document.Cell{Value: "not measured", Detail: "none of its trials has run"}
	case *a.Excluded == contest.ExcludedSlower && g.LatencyMode == "":
		cell.Detail = "too slow to be the best"
	case *a.Excluded == contest.ExcludedInvalid && onlySlow(a):
		return document.Cell{Value: notCompared, Detail: "the machine was slower during its trials"}
	}
	return cell
}

// onlySlow reports whether all invalid trials of a row are so because the machine was slow.
func onlySlow(a *verdict.Row) bool {
	return len(a.InvalidReasons) > 0 && !slices.ContainsFunc(a.InvalidReasons, func(r verdict.ReasonCount) bool { return r.Code != journal.InvalidSlow })
}

// rowsOf are the settings that were compared; without an analysis, all of them.
func rowsOf(g *verdict.Group) []*verdict.Row {
	if len(g.Rows) == 0 {
		return rowsFrom(g.Settings)
	}
	return rowsFrom(g.Rows)
}

func (g *group) rowOfUnset() *verdict.Row {
	if g.Compares != "" {
		return g.row(g.start())
	}
	if a := g.unset(); a != nil {
		return g.row(a.Label)
	}
	return nil
}

func (g *group) settingText(label string) string {
	if a := g.setting(label); a != nil {
		return settingName(a)
	}
	return phrase.Clip(label, nameRoom)
}

// other reports whether another quantile than p99 is judged.
func (g *group) other() bool { return g.Latency.Quantile > 0 && g.Latency.Quantile != 0.99 }

// axis is what the settings differ in; empty: values of GOMAXPROCS.
func (g *group) axis() string {
	return phrase.If(g.gateAlone, "version", g.Compares)
}

// uncompared is why the numbers of a setting are not its own, in a word; empty: they are.
func (g *group) uncompared(a *verdict.Row) string {
	switch {
	case isOut(a, contest.ExcludedTooFewCPUs):
		return g.leftOut(a).Value
	case a.Unmet:
		return leftOutFor[contest.ExcludedUnmet].Value
	}
	return ""
}

// currentRows are the rows of the program itself, without those of a gate's old command.
func currentRows(rows []*verdict.Row) []*verdict.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(a *verdict.Row) bool { return a.Variant != "" })
}

func (g *group) start() string {
	axis := g.r.Plan.Axis(g.Compares)
	return axis.Name + "=" + axis.Start
}

func mostMemory(r *verdict.Result) string {
	return "--max-memory " + number.Short(number.Bytes(float64(r.Plan.MaxMemoryBytes)))
}

func (g *group) named(code contest.Excluded) (list []string) {
	for _, a := range g.rows {
		if isOut(a, code) {
			list = append(list, a.Label)
		}
	}
	return list
}

// tooLarge are the values that used too much memory, with how much.
func (g *group) tooLarge() (list []string) {
	for _, a := range g.rows {
		if isOut(a, contest.ExcludedMemory) {
			list = append(list, fmt.Sprintf("%s (%s)", a.Label, memorySize(a.Evidence.PeakRSSBytes)))
		}
	}
	return list
}

// overMemory is a sentence on them, as the page shows values that may be better than the answer; empty: there
// are none, or the answer is about them.
func (g *group) overMemory() string {
	list := g.tooLarge()
	if _, is := g.Recommendation.Claim.(verdict.CauseMemory); is || len(list) == 0 {
		return ""
	}
	return " " + phrase.If(g.Compares == "", "GOMAXPROCS ", "") + phrase.And(list) + " used more memory than " + mostMemory(g.r) + "."
}

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

// isOut reports whether a row was excluded for one of these.
func isOut(a *verdict.Row, why ...contest.Excluded) bool {
	return a.Excluded != nil && slices.Contains(why, *a.Excluded)
}

func (w words) leftOut(why ...contest.Excluded) bool {
	return slices.ContainsFunc(rowsFrom(w.Rows), func(a *verdict.Row) bool { return isOut(a, why...) })
}
