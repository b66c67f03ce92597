package verdict

import (
	"cmp"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// ResultSchema is the version of result.json.
const ResultSchema = "procfit.result/v1"

// Result is what the statistics say of a journal. It holds all that a report
// shows, so that no renderer computes. It has no sentences: what it reports is a
// code with metrics, and package page has the words.
type Result struct {
	Schema        string
	Name          string
	Settings      *Settings // to measure again; nil: only the command line has them
	Folder        string    // that the journal is in, for readers that continue; empty: unknown
	Started       time.Time
	Spec          spec.Spec      // what was asked for
	Origin        journal.Origin // local, kube, live, or mixed; empty without trials
	Host          journal.Host   // that of the target
	LoadHost      *journal.Host
	Tool          journal.Tool
	Target        journal.Target
	Load          journal.Load
	Engines       []Engine // that offered the load, of procfit's own
	SharedCPUs    bool     // the load ran on CPUs of the target
	Plan          journal.Plan
	Complete      bool // every planned trial is in the journal
	TrialsPlanned int
	TrialsRun     int
	TrialsInvalid int
	PilotsRun     int // pilots are not among the trials
	PilotsInvalid int
	Groups        []Group
	// Best are the settings that --vary came to, and Compared the groups that compared a
	// variable's values, in the order in which they were measured; absent: none was varied.
	Best           []Best
	Compared       []Group
	Gate           *Gate
	Canary         *Canary   // of a canary, which has no groups
	Live           *Live     // of a live experiment, which has none either
	Cheapest       *Cheapest // where a rate within an objective was asked for
	Profiles       []Profile // of --profile: one for each group
	Warnings       []Warning
	Recommendation *Recommendation // when there is one group, of a canary, and of a live experiment
}

// Value is the GOMAXPROCS to run with by the verdict of a sweep: the one to set, or the one
// that the default chose; nil: the verdict names none, or there are several groups.
func (r *Result) Value() *int {
	rec := r.Recommendation
	switch {
	case rec == nil || !rec.Verdict.Decides():
		return nil
	case rec.Procs != nil:
		return rec.Procs
	}
	for _, g := range r.Groups {
		for i := range g.Settings {
			if s := &g.Settings[i]; s.Label == rec.Setting {
				return cmp.Or(s.Procs, s.ResolvedProcs)
			}
		}
	}
	return nil
}

// Limit is a CPU limit that was there before.
type Limit struct {
	CPUs  float64
	Group string // the cgroup that has it
}

// Group is the settings that may be compared with each other: same quota, replicas,
// Go version, and time at which the value is set.
type Group struct {
	QuotaCPUs *float64
	Replicas  int
	GoVersion string
	SetLive   bool // the value was set in the running program
	// Variables are those of --vary that all settings have. Compares is the one whose values
	// are compared, each at the GOMAXPROCS of Procs; absent: values of GOMAXPROCS are.
	Variables []journal.Variable
	Compares  string
	Procs     *int
	// Origin is where the trials came from, as of a Result.
	Origin journal.Origin
	// EffectiveCPUs is what one replica may use: the smallest of its quota, a limit
	// around it, and the machine's CPUs (or the server cpuset).
	EffectiveCPUs float64
	// LimitAround is the tightest limit around the target that no setting set, as of a
	// server that was running already; nil: there is none, or none is known.
	LimitAround *Limit
	// ThroughputUnit names what is counted a second: requests, runs or a metric.
	ThroughputUnit string
	// LatencyMode is the loop whose latency the settings carry: open (judged), closed
	// (shown, not judged), or empty when no latency was measured.
	LatencyMode string
	// RatePerSecond is the open loop's common rate; null without one.
	RatePerSecond *float64
	// Latency is which quantile of the open loop's latency comparisons are of.
	Latency  contest.Latency
	Settings []Row // unset first, then by procs
	// Values are the numbers of Ps that were compared, settings that ran with one pooled.
	Values []*contest.Value
	// Rows are the values as settings, and the settings that have none, as a table has
	// them.
	Rows []Row
	// Benchmarks are those of go test, each by itself; nil where fewer than two ran.
	Benchmarks *Benchmarks
	Spread     Spread
	Race       *Raced // of a race: what it took
	// Part is the share of the machine's CPUs that the target had, where the load took
	// the others; nil where it had all, or was held by a limit.
	Part       *Part
	NoiseFloor NoiseFloor
	Detectable Detectable
	Peak       string // label of the setting of the highest median throughput
	Flatness   Flatness
	Workload   Workload
	Default    Default
	Override   Override
	// ProcsLogged reports whether the program names GOMAXPROCS in the beginning of its
	// output; null where no trial looked.
	ProcsLogged    *bool
	Beyond         *Beyond // null: nothing was measured on both sides
	Throttling     Throttling
	Others         OtherPrograms
	Allocates      *Allocates // a program with a flat curve that allocates much; null: it does not, or that is not known
	Recommendation Recommendation
}

// Spread is how far a trial strays from its value's level, as a ratio: from what all
// trials leave unexplained, each value's own spread and the machine's moves apart.
type Spread struct {
	Throughput *float64
	P99        *float64 // of the judged quantile
	DF         int
}

// Part is how many of a machine's CPUs a target ran on.
type Part struct {
	CPUs    int
	Of      int
	LoadHas int
}

// NoiseFloor is the larger absolute end of the A/A interval of each metric, as a
// ratio: 0.03 is 3%. It decides nothing. Null with fewer than three A/A pairs.
type NoiseFloor struct {
	Setting    string // the setting that ran twice
	Pairs      int
	Throughput *float64
	P99        *float64
}

// Detectable is the smallest difference that this many blocks can show, from the
// spread of the paired log-ratios. Null below three pairs, and beyond ten times:
// neither says anything.
type Detectable struct {
	Throughput *float64
	P99        *float64
}

// Flatness says how much the choice matters: how many settings are within the margin
// of the peak, and the ratio of the worst numbered setting at or above the smallest
// such setting to the peak.
type Flatness struct {
	WithinMargin []string // labels, by median
	// WorstAbove is the lowest median throughput among settings with more Ps than the
	// peak, as a ratio to it; null when there is none.
	WorstAbove *float64
}

// Workload is the kind of work, from the CPU use of the unset setting (or the setting
// nearest to the effective CPUs): cpu-bound at 90% and more, io-bound at 50%
// and less, mixed between; unknown where CPU time could not be read.
type Workload struct {
	// TooFewCPUs is that other programs left that setting too few CPUs: what it used of
	// them is then no metric of its own. The kind is unknown.
	TooFewCPUs bool

	Kind           string
	CPUUtilisation *float64
	Setting        string
}

// Verdict is what the settings of a group come to.
type Verdict string

const (
	Recommended  Verdict = "recommended"   // set this value
	KeepDefault  Verdict = "keep_default"  // change nothing
	TradeOff     Verdict = "trade_off"     // throughput and p99 want different values
	Undecided    Verdict = "undecided"     // with what would decide it
	NoDifference Verdict = "no_difference" // all values are proven equal
	SustainsRate Verdict = "sustains_rate" // the smallest setting that carries --rate
	Measured     Verdict = "measured"      // of a server that ran already: nothing was compared
)

// Decides reports whether a verdict names a value to run with.
func (v Verdict) Decides() bool { return v == Recommended || v == KeepDefault || v == SustainsRate }

// Confidence is how sure a verdict is.
type Confidence string

const (
	Proven Confidence = "proven" // each comparison that it rests on is, with 95%
	Likely Confidence = "likely" // probable by the model of all trials, and not proven
)

// Recommendation is a verdict with its reasons.
type Recommendation struct {
	Verdict Verdict
	// Confidence is of recommended, keep_default, no_difference (always proven) and trade_off; what is
	// likely says how it would be proven, in Next.
	Confidence Confidence
	Procs      *int // null: leave GOMAXPROCS unset, or no value can be named
	Setting    string
	// BestThroughput and BestP99 are the optima of a trade-off, as setting labels.
	BestThroughput string
	BestP99        string
	// Claim is what the verdict rests on, and of undecided its cause; nil: nothing was analysed.
	Claim   Remark
	Reasons []Remark
	// Versus is what the value changes against the default; null where none is named, or
	// the default is not known.
	Versus *Versus
	Next   []Step // of undecided and of what is likely: what would decide it
}

// values are those that the claim names, and compares with; nil: none.
func (rec *Recommendation) values() (of, than *contest.Value) {
	if c, names := rec.Claim.(interface {
		Values() (of, than *contest.Value)
	}); names {
		return c.Values()
	}
	return nil, nil
}

// Of is the value that the claim is about; an empty one where it is about none.
func (rec *Recommendation) Of() *contest.Value {
	if of, _ := rec.values(); of != nil {
		return of
	}
	return &contest.Value{}
}

// Settings are what was measured as a procfit.yaml, and the words of procfit that read it.
type Settings struct {
	Name string // of the file
	Text []byte
	Rest spec.Spec // what no such file has
}

// Canary is what a canary came to, each of its settings against the control of the same
// slice. Package canary makes it.
type Canary struct {
	journal.Canary
	End     *journal.End // null: its procfit was killed, or is still at work
	Slices  int
	Planned int
	// PerRequest reports that CPU time and waiting are of a request, by the query named
	// requests; else they are of a pod, and include what the traffic's spread does.
	PerRequest  bool
	Unreached   bool            // no request came to any pod in any slice
	Comparisons int             // that the intervals of judged metrics hold for together
	Settings    []CanarySetting // the control first
}

// CanarySetting is one setting over all slices.
type CanarySetting struct {
	journal.Setting
	Slices   int
	Idle     int   // in which no request came to its pods
	Observed []int // every value that its pods were seen to run with
	Same     bool  // it ran with what the control did: it is the same program
	// Verdict is recommended of a setting that is better in at least one judged metric, and
	// no worse by its margin in every other, keep_default of one that is worse, trade_off
	// of both, not_your_knob of one that is within the margins in all, and undecided of none
	// of these; empty: the control.
	Verdict Verdict
	Figures []CanaryFigure
}

// CanaryFigure is a metric of a setting: one of package paired's or canary's, or a query's.
type CanaryFigure struct {
	Name    string
	Value   stat.Interval // its median over the slices
	Control stat.Interval // the control's in the same slices
	// Ratio is to the control's of the same slice. The interval of a judged metric holds
	// for all comparisons together; the others' is by itself.
	Ratio   stat.Interval
	Outcome Outcome // empty: the control
	// Points are the setting's and the control's, slice by slice; null: not known.
	Points [][2]*float64
}

// In are the names of the metrics that came to an outcome.
func (a CanarySetting) In(o Outcome) (list []string) {
	for _, f := range a.Figures {
		if f.Outcome == o {
			list = append(list, f.Name)
		}
	}
	return list
}

// Of is a metric of the setting; nil: it was not measured.
func (a CanarySetting) Of(name string) *CanaryFigure {
	i := slices.IndexFunc(a.Figures, func(f CanaryFigure) bool { return f.Name == name && f.Value.Median != nil })
	if i < 0 {
		return nil
	}
	return &a.Figures[i]
}
