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
	of := map[journal.SettingKey]*contest.Value{}
	for _, v := range g.All() {
		for _, a := range v.Settings {
			of[a.Key()] = v
		}
	}
	done := map[*contest.Value]bool{}
	for _, a := range g.Settings {
		v, setting := of[a.Key()], g.setting(a)
		if setting.Excluded = g.Excluded(a); v != nil {
			g.compared(v, a, &setting)
		}
		settings = append(settings, setting)
		if v == nil {
			rows = append(rows, setting)
		} else if !done[v] {
			done[v] = true
			rows = append(rows, g.row(v, setting))
		}
	}
	sorting.Stable(rows, func(a, b Row) int { // by numbers, the default before its own, then the old command's
		return cmp.Or(cmp.Compare(a.Variant, b.Variant), cmp.Compare(orZero(cmp.Or(a.Procs, a.ResolvedProcs)), orZero(cmp.Or(b.Procs, b.ResolvedProcs))))
	})
	speedups(settings)
	speedups(rows)
	return settings, rows
}

// setting is one by itself.
func (g *group) setting(a journal.Setting) Row {
	result := g.summarize(a, g.Measured(a), g.Copies(a))
	result.TooFewCPUs = g.HadTooFewCPUs(a)
	return result
}

// compared gives a setting what was found of its value.
func (g *group) compared(v *contest.Value, a journal.Setting, result *Row) {
	for _, other := range v.Settings {
		if other.Key() != a.Key() {
			result.PooledWith = append(result.PooledWith, other.Label)
		}
	}
	if g.Best == nil || !slices.Contains(g.Values, v) {
		return
	}
	if result.VersusPeak = g.interval(g.Best.Procs, v.Procs, race.Throughput).Inverse(); v == g.Best {
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
	row.Excluded, row.Saturated = v.Excluded, v.Saturated
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

func orZero[T int | float64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

// Row is what was measured of one setting, or of a value: then with the levels that are
// compared in place of its medians, and with Judged and Later.
type Row struct {
	Label string
	Procs *int // null: unset
	// Variable is the value of the variable that the group compares; absent: it compares
	// GOMAXPROCS.
	Variable string
	// ResolvedProcs is the value that the target really ran at; null where it
	// could not be read. For the unset setting it is what the default chose.
	ResolvedProcs  *int
	ResolvedSource string // symbol, decoded
	Variant        string
	Trials         int // valid, role measure
	Invalid        int
	InvalidReasons []ReasonCount
	Throughput     stat.Interval
	P50            stat.Interval
	P99            stat.Interval
	Judged         stat.Interval // the latency that comparisons are of
	Later          bool          // its latency is proven worse than the lowest
	Metrics        map[string]MetricInterval
	ByRequest      []RequestLatency // of a mix
	Speedup        *float64         // median throughput ÷ that of the smallest numbered setting
	NonInferior    NonInferior
	// VersusPeak is the paired throughput ratio to the peak setting, with its two-sided
	// 95% interval (from three blocks on); 1 is the same, 0.8 is 20% less. Settings
	// that ran at one value share it, since their trials are pooled.
	VersusPeak stat.Interval
	Saturated  bool // in most of its trials
	// Unanswered are requests that still waited when a phase ended, Redirects answers
	// 3xx, which do little of the work; Requests are all that were answered. Of the
	// valid trials.
	Requests   int64
	Unanswered int64
	Redirects  int64
	// TooFewCPUs is that other programs left too few CPUs for the setting to be compared.
	TooFewCPUs bool
	// Excluded is why the setting has no part in what is judged, or not in all of it.
	Excluded   *contest.Excluded
	PooledWith []string // labels of the settings that ran at its value
	Evidence   Evidence // of the closed loop, or of a batch program's runs
	// OpenEvidence is the same of the open loop; null where it was not counted.
	OpenEvidence *Evidence
	Points       []Point // every trial, invalid ones too
}

// part is a number of what may not be known; nil where it is not, or is not finite.
func part[T any](of *T, number func(T) float64) *float64 {
	if of == nil {
		return nil
	}
	return stat.Known(number(*of))
}

// MetricInterval is an Interval of a metric that the program printed.
type MetricInterval struct {
	stat.Interval
	Unit   string
	Better string
}

// NonInferior reports whether a setting was shown to be no worse than the best by more
// than the margin; null where that was not tested: after the first failure, and for p99
// outside of the tail set or where no latency is judged.
type NonInferior struct {
	Throughput *bool
	P99        *bool
}

// Evidence is the medians over a setting's valid trials; null where nothing was counted.
type Evidence struct {
	CPUs                  *float64 // CPU seconds per second, all replicas
	UserCPUs              *float64 // of CPUs, in the program
	SystemCPUs            *float64 // of CPUs, in the kernel
	CPUUtilisation        *float64 // CPUs ÷ (min(Ps, effective CPUs) × replicas), the machine's CPUs at most
	VoluntaryPerSecond    *float64
	InvoluntaryPerSecond  *float64
	RunQueueWaitRatio     *float64 // seconds waited a second; includes throttling
	FaultHeldPs           *float64 // Ps that page faults which read from a disk held, on average, all replicas
	MajorFaultsPerSecond  *float64 // such page faults
	ThreadsMax            *float64
	ThrottledPeriodsRatio *float64
	BurstPeriodsRatio     *float64 // periods above the quota, from its burst
	ThrottledRatio        *float64 // throttled seconds per second a replica
	StealRatio            *float64 // of all the machine's CPU time
	OtherCPUs             *float64 // used by neither the target nor the load, on the CPUs that the target may use
	BesideCPUs            *float64 // used by the neighbour of --beside
	MachineBusy           *float64 // of all the machine's CPU time, not idle
	CPUSecondsEach        *float64
	LoadCPUs              *float64 // CPU seconds per second of the load engine
	SendLagP99            *float64
	Dropped               int64    // over all trials
	RSSBytes              *float64 // resident memory at the end, all replicas
	PeakRSSBytes          *float64 // the most since their start
	GCCyclesPerSecond     *float64 // of one replica
	GCPauseSeconds        *float64 // of a cycle
	GCHeapBytes           *float64 // in use when the last cycle ended, all replicas
	GCBusyRatio           *float64 // of the time in which Ps did anything, by the runtime's count
	gcCycles              *float64 // of one replica
}

// Point is one trial, for plots.
type Point struct {
	Block         int
	Role          string
	Valid         bool
	InvalidReason string
	InvalidCode   journal.InvalidCode
	Throughput    *float64
	P50           *float64
	P99           *float64
	ClosedP99     *float64 // of the closed loop, as wrk counts
	Late          bool     // its generator sent late
	Judged        *float64 // the latency that comparisons take; null: the trial is out of them
	// Metrics are the metrics that the program printed; their units and directions
	// are the setting's.
	Metrics map[string]float64
}

// ReasonCount is an invalid reason, as the journal has it, and how many trials gave
// it.
type ReasonCount struct {
	Reason string
	Code   journal.InvalidCode // of a journal that has them
	Count  int
}
