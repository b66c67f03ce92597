package verdict

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// results are the settings, and a group's rows: one for each value, and one for each setting
// that has none, the unset setting and the old command's in their places.
func (g *group) results() (settings, rows []Row) {
	at := map[*contest.Value]int{} // in rows
	var without []Row              // settings of no value
	for _, a := range g.Settings {
		v, setting := g.ValueOf(a), g.summarize(a, g.Measured(a), g.Copies(a))
		setting.TooFewCPUs = g.HadTooFewCPUs(a)
		if setting.Excluded = g.Excluded(a); v != nil {
			g.compared(v, a, &setting)
		}
		settings = append(settings, setting)
		if _, done := at[v]; v == nil {
			without = append(without, setting)
		} else if !done {
			at[v] = len(rows)
			rows = append(rows, g.row(v, setting))
		}
	}
	for _, setting := range without {
		if v := g.sameNumber(&setting); v != nil {
			rows[at[v]].takeInvalid(&setting)
		} else {
			rows = append(rows, setting)
		}
	}
	g.inOrder(rows)
	if g.Group.Compares == "" {
		speedups(settings)
		speedups(rows)
	}
	return settings, rows
}

// inOrder sorts rows by numbers, the default before its own, then the old command's; of a variable
// by the plan's order of its values.
func (g *group) inOrder(rows []Row) {
	axis := g.header.Plan.Axis(g.Group.Compares)
	sorting.Stable(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Variant, b.Variant), cmp.Compare(axis.Rank(a.Variable), axis.Rank(b.Variable)), cmp.Compare(a.procs(), b.procs()))
	})
}

// procs is the number of Ps; 0: it is not known.
func (a *Row) procs() int { return stat.OrZero(cmp.Or(a.Procs, a.ResolvedProcs)) }

// withSliced adds rows of the values that only slices of one start measured. Their throughput is an
// estimate, which no judgement takes: the default's, times what the slices show over it.
func (g *group) withSliced(rows []Row) []Row {
	row := func(n int) int { return slices.IndexFunc(rows, func(a Row) bool { return a.procs() == n }) }
	at := row(g.Default)
	if at < 0 || rows[at].TooFewCPUs || g.Sliced == nil || g.Sliced.Kept == nil { // slices that chose nothing estimate nothing
		return rows
	}
	own, list := rows[at], slices.Clone(rows)
	for i := range g.Sliced.Values {
		v := &g.Sliced.Values[i]
		if row(v.Procs) >= 0 || own.Throughput.Median == nil || v.Throughput.Median == nil {
			continue
		}
		times := func(x *float64) *float64 { return stat.Scaled(x, *v.Throughput.Median) }
		list = append(list, Row{
			Label: journal.LabelOf(&v.Procs), Procs: &v.Procs, Sliced: v,
			Throughput: stat.Interval{Median: times(own.Throughput.Median)}, Speedup: times(own.Speedup),
		})
	}
	g.inOrder(list)
	return list
}

// sameNumber is the value that a numbered setting without a valid trial is of, as its trials
// would have been; nil: nothing else ran with it.
func (g *group) sameNumber(a *Row) *contest.Value {
	if a.Procs == nil || a.Variant != "" || a.Trials > 0 || a.Variable != "" {
		return nil
	}
	return g.Of(*a.Procs)
}

func (a *Row) takeInvalid(other *Row) {
	a.Invalid += other.Invalid
	for _, r := range other.InvalidReasons {
		same := func(own ReasonCount) bool { return own.Reason == r.Reason && own.Code == r.Code }
		if i := slices.IndexFunc(a.InvalidReasons, same); i >= 0 {
			a.InvalidReasons[i].Count += r.Count
		} else {
			a.InvalidReasons = append(a.InvalidReasons, r)
		}
	}
	a.Points, a.PooledWith = append(a.Points, other.Points...), append(a.PooledWith, other.Label)
}

func (g *group) compared(v *contest.Value, a journal.Setting, result *Row) {
	result.Unmet = journal.Unmet(result.Missed, result.Trials)
	for _, other := range v.Settings {
		if other.Key() != a.Key() {
			result.PooledWith = append(result.PooledWith, other.Label)
		}
	}
	if g.Best == nil || !slices.Contains(g.Values, v) {
		return
	}
	if !v.Unmet {
		result.VersusPeak = g.interval(g.Best.Procs, v.Procs, race.Throughput).Inverse()
	}
	if v == g.Best {
		result.VersusPeak = stat.Interval{Median: new(1.0), Low: new(1.0), High: new(1.0), N: v.N}
	}
	if v.Throughput.Median != nil {
		result.NonInferior.Throughput = new(g.InTail(v))
	}
	if g.ByLatency && g.InTail(v) && len(g.Tail) > 1 && v.HasLatency() {
		result.NonInferior.P99 = new(g.PassesLatency(v))
	}
}

// row is a value as one setting, its metrics those of the level.
func (g *group) row(v *contest.Value, alone Row) Row {
	row := alone
	if len(v.Settings) > 1 {
		var measured, copies []*journal.Trial
		for _, a := range v.Settings {
			measured, copies = append(measured, g.Measured(a)...), append(copies, g.Copies(a)...)
		}
		sorting.Stable(measured, func(a, b *journal.Trial) int {
			return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Order, b.Order))
		})
		row = g.summarize(v.Settings[0], measured, copies)
		row.NonInferior, row.TooFewCPUs = alone.NonInferior, alone.TooFewCPUs
		for _, a := range v.Settings[1:] {
			row.PooledWith = append(row.PooledWith, a.Label)
		}
	}
	row.Later = g.Lowest != nil && v != g.Lowest && !v.Saturated && !g.Beyond(v) && g.InTail(v) && g.P99(v, g.Lowest).Worse
	row.Excluded, row.Saturated, row.Unmet = v.Excluded, v.Saturated, v.Unmet
	// A single value next to an old program, which is in no contest, has the same kind of
	// level as the old one.
	paired := len(g.Current()) == 1 && len(g.Settings) > 1
	if v.Throughput.Median != nil && !paired {
		row.Throughput = v.Throughput
	}
	if v.P99.Median != nil {
		row.Judged = v.P99
		g.quantiles(&row, v)
	}
	if v.VersusPeak.Median != nil {
		row.VersusPeak = v.VersusPeak
	}
	if g.anyLatency() {
		row.P50, row.P99, row.Judged = alone.P50, alone.P99, alone.P99
	}
	return row
}

// part is a number of what may not be known; nil where it is not, or is not finite.
func part[T any](of *T, number func(T) float64) *float64 {
	if of == nil {
		return nil
	}
	return stat.Known(number(*of))
}

// speedups sets each current setting's median throughput against that of the
// smallest numbered one.
func speedups(list []Row) {
	compared := func(a Row) bool { return a.Variant == "" && !a.Unmet && a.Throughput.Median != nil }
	base := slices.IndexFunc(list, func(a Row) bool { return compared(a) && a.Procs != nil && *a.Throughput.Median > 0 }) // they are sorted by procs
	for i := range list {
		if a := &list[i]; base >= 0 && compared(*a) {
			a.Speedup = stat.Known(*a.Throughput.Median / *list[base].Throughput.Median)
		}
	}
}
