package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// ValueResult is one number of Ps, with the trials of all settings that ran with it:
// what comparisons and sentences are of.
type ValueResult struct {
	Procs    *int     // null: not known
	Settings []string // labels, the one that names it first
	Trials   int
	// Throughput and Latency (of the judged quantile) are its level over the run, what
	// the machine did to all values of a block taken out, with the 95% interval.
	Throughput Level
	Latency    Level
	// VersusPeak is against the group's peak: the bounds that decide whether it is
	// worse, or as good.
	VersusPeak Bounds
	Excluded   *ExcludedCode
}

// Level is an estimate with its 95% interval; null where there is none.
type Level struct {
	Mean *float64
	Low  *float64
	High *float64
	N    int // trials
}

// Bounds is a ratio with the bounds that a claim on it rests on: nothing is called
// worse or as good but by them.
type Bounds struct {
	Ratio *float64
	Low   *float64
	High  *float64
	N     int // trials of the value that has fewer
}

// ExcludedCode says why a setting has no part in what is judged, or not in all of it.
type ExcludedCode string

const (
	ExcludedInvalid   ExcludedCode = "invalid"      // it has no valid trial
	ExcludedWithheld  ExcludedCode = "withheld"     // other programs left it too few CPUs
	ExcludedUnread    ExcludedCode = "unread"       // unset, and which value it chose is not known
	ExcludedDiffers   ExcludedCode = "differs"      // unset, and unlike the numbered setting of its value
	ExcludedNoFigure  ExcludedCode = "no_figure"    // no valid trial has a throughput
	ExcludedSlower    ExcludedCode = "slower"       // too slow to be the best, proven or measured no further: its latency is not compared
	ExcludedSaturated ExcludedCode = "saturated"    // proven not to carry the common rate: its latency is a backlog's
	ExcludedLatency   ExcludedCode = "no_latency"   // no trial's latency may be judged
	ExcludedMemory    ExcludedCode = "memory"       // it used more memory than --max-memory
	ExcludedShared    ExcludedCode = "load_on_cpus" // more Ps than CPUs while the load is on them: not preferred by latency
)

// place makes the group's rows: one for each value, and one for each setting that has
// none, the unset setting and the old command's in their places.
func (g *group) place(r *Group, w *outcome, machine float64) {
	of := map[journal.SettingKey]*contender{}
	all := slices.Concat(w.contenders, w.withheld)
	if w.unplaced != nil {
		all = append(all, w.unplaced)
	}
	for _, s := range all {
		for _, a := range s.settings {
			of[a.key] = s
		}
	}
	done := map[*contender]bool{}
	for i, a := range g.settings {
		s, setting := of[a.key], &r.Settings[i]
		setting.Excluded = w.excluded(s, a)
		if s == nil {
			r.Rows = append(r.Rows, *setting)
			continue
		}
		for _, other := range s.settings {
			if other != a {
				setting.PooledWith = append(setting.PooledWith, other.Label)
			}
		}
		if done[s] {
			continue
		}
		done[s] = true
		r.Values = append(r.Values, w.result(s))
		r.Rows = append(r.Rows, g.row(s, setting, w, machine, r))
	}
	sorting.Stable(r.Rows, func(a, b SettingResult) int { return compareRows(&a, &b) })
	sorting.Stable(r.Values, func(a, b ValueResult) int { return cmp.Compare(orZero(a.Procs), orZero(b.Procs)) })
}

// row is a value as one setting, its metrics those of the level.
func (g *group) row(s *contender, alone *SettingResult, w *outcome, machine float64, r *Group) SettingResult {
	row := *alone
	if len(s.settings) > 1 {
		pooled := *s.settings[0]
		pooled.measure, pooled.aa = nil, nil
		for _, a := range s.settings {
			pooled.measure, pooled.aa = append(pooled.measure, a.measure...), append(pooled.aa, a.aa...)
		}
		byBlock := func(a, b *journal.Trial) int {
			return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Order, b.Order))
		}
		sorting.Stable(pooled.measure, byBlock)
		row = g.summarize(&pooled, machine, r.EffectiveCPUs, journal.Mode(r.LatencyMode))
		row.NonInferior, row.Withheld = alone.NonInferior, alone.Withheld
		row.PooledWith = nil
		for _, a := range s.settings[1:] {
			row.PooledWith = append(row.PooledWith, a.Label)
		}
	}
	row.Later = w.lowest != nil && s != w.lowest && !s.saturated && !w.beyond(s) && w.inTail(s) && w.p99(s, w.lowest).worse
	row.Excluded = w.excluded(s, s.settings[0])
	row.Judged, row.Saturated = Interval{}, s.saturated
	// A single value next to an old program, which is in no contest, has the same kind of
	// level as the old one.
	paired := len(g.current()) == 1 && len(g.settings) > 1
	if level := s.levelOf(MetricThroughput); level.Mean != nil && !paired {
		row.Throughput = level.interval()
	}
	if level := s.levelOf(MetricP99); level.Mean != nil {
		row.Judged = level.interval()
		g.quantiles(&row, s)
	}
	if b := w.versus(s); b.Ratio != nil {
		row.VersusPeak = Interval{Median: b.Ratio, Low: b.Low, High: b.High, N: b.N}
	}
	return row
}

func (l Level) interval() Interval { return Interval{Median: l.Mean, Low: l.Low, High: l.High, N: l.N} }

func (w *outcome) result(s *contender) ValueResult {
	r := ValueResult{
		Settings: []string{}, Trials: s.trials(), Throughput: s.levelOf(MetricThroughput), Latency: s.levelOf(MetricP99),
		VersusPeak: w.versus(s), Excluded: w.excluded(s, s.settings[0]),
	}
	if s.procs > 0 {
		r.Procs = new(s.procs)
	}
	for _, a := range s.settings {
		r.Settings = append(r.Settings, a.Label)
	}
	return r
}

// trials are the valid ones, both copies of an A/A pair.
func (s *contender) trials() int {
	return valid(trialsOf(s.settings))
}

// compareRows has unset alone first, then the numbers, then the old command's.
func compareRows(a, b *SettingResult) int {
	return cmp.Or(cmp.Compare(a.Variant, b.Variant), cmp.Compare(orZero(a.Procs), orZero(b.Procs)))
}

func orZero[T int | float64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

// excluded is why a setting has no part in the verdict, or not in all of it; nil where it
// has, and for the old command's, which have a gate of their own.
func (w *outcome) excluded(s *contender, a *setting) *ExcludedCode {
	switch {
	case a.Variant != "":
		return nil
	case valid(trialsOf([]*setting{a})) == 0:
		return new(ExcludedInvalid)
	case w.contest.TooLarge[a.key]:
		return new(ExcludedMemory)
	case s == nil || math.IsNaN(s.rate):
		return new(ExcludedNoFigure)
	case slices.Contains(w.withheld, s):
		return new(ExcludedWithheld)
	case s == w.unplaced && s.procs == 0:
		return new(ExcludedUnread)
	case s == w.unplaced:
		return new(ExcludedDiffers)
	case s.saturated:
		return new(ExcludedSaturated)
	case w.out(s):
		return new(ExcludedSlower)
	case w.latency && !s.hasP99():
		return new(ExcludedLatency)
	case w.beyond(s):
		return new(ExcludedShared)
	}
	return nil
}

// SettingResult is what was measured of one setting.
type SettingResult struct {
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
	Throughput     Interval
	P50            Interval
	P99            Interval
	Metrics        map[string]MetricInterval
	ByRequest      []RequestLatency // of a mix
	Speedup        *float64         // median throughput ÷ that of the smallest numbered setting
	NonInferior    NonInferior
	// VersusPeak is the paired throughput ratio to the peak setting, with its two-sided
	// 95% interval (from three blocks on); 1 is the same, 0.8 is 20% less. Settings
	// that ran at one value share it, since their trials are pooled.
	VersusPeak Interval
	Saturated  bool // in most of its trials
	// Unanswered are requests that still waited when a phase ended, Redirects answers
	// 3xx, which do little of the work; Requests are all that were answered. Of the
	// valid trials.
	Requests   int64
	Unanswered int64
	Redirects  int64
	// Withheld is that other programs left too few CPUs for the setting to be compared.
	Withheld bool
	// Excluded is why the setting has no part in what is judged, or not in all of it.
	Excluded   *ExcludedCode
	PooledWith []string // labels of the settings that ran at its value
	Later      bool     // of a row: its latency is proven worse than the lowest
	// Judged is the latency that comparisons are of: of a row, its level.
	Judged   Interval
	Evidence Evidence // of the closed loop, or of a batch program's runs
	// OpenEvidence is the same of the open loop; null where it was not counted.
	OpenEvidence *Evidence
	Points       []Point // every trial, invalid ones too
}

// Interval is a median with its distribution-free 95% interval. Low and High
// are null below six values (order statistics of fewer cannot reach 95%).
type Interval struct {
	Median *float64
	Low    *float64
	High   *float64
	N      int
}

// Scaled is the interval of BY times the values.
func (i Interval) Scaled(by float64) Interval {
	return Interval{Median: Scaled(i.Median, by), Low: Scaled(i.Low, by), High: Scaled(i.High, by), N: i.N}
}

// Inverse is the interval of 1 divided by the values.
func (i Interval) Inverse() Interval {
	return Interval{Median: inverse(i.Median), Low: inverse(i.High), High: inverse(i.Low), N: i.N}
}

func inverse(x *float64) *float64 { return part(x, func(x float64) float64 { return 1 / x }) }

// Scaled is BY times a number; nil of none, and where it is not finite.
func Scaled(x *float64, by float64) *float64 {
	return part(x, func(x float64) float64 { return x * by })
}

// part is a number of what may not be known; nil where it is not, or is not finite.
func part[T any](of *T, number func(T) float64) *float64 {
	if of == nil {
		return nil
	}
	return known(number(*of))
}

// MetricInterval is an Interval of a metric that the program printed.
type MetricInterval struct {
	Interval
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
