package verdict

import (
	"cmp"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
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
	Plan          journal.Plan
	Complete      bool // every planned trial is in the journal
	TrialsPlanned int
	TrialsRun     int
	TrialsInvalid int
	PilotsRun     int // pilots are not among the trials
	PilotsInvalid int
	TrialSeconds  float64 // of a trial, pilots too: the mean; 0: unknown
	Groups        []Group
	// Best are the settings that --vary came to, and Compared the groups that compared a
	// variable's values, in the order in which they were measured; absent: none was varied.
	Best           []Best
	Compared       []Group
	Gate           *Gate
	Canary         *Canary   // of a canary, which has no groups
	Live           *Live     // of a live experiment, which has none either
	Cheapest       *Cheapest // where a rate within an objective was asked for
	Profiled       *Profile  // of --profile; null: there is none
	Warnings       []Warning
	Recommendation *Recommendation // when there is one group, of a canary, and of a live experiment
}

// Value is the GOMAXPROCS to run with by the verdict of a sweep: the one to set, or the one
// that the default chose; nil: the verdict names none, there are several groups, or another question
// was asked, which setting is the cheapest.
func (r *Result) Value() *int {
	rec := r.Recommendation
	switch {
	case rec == nil || r.Cheapest != nil || !rec.Verdict.Decides():
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

// Group is the settings that may be compared with each other: same quota, replicas and
// Go version.
type Group struct {
	// Setting is what all settings have. Of --vary, Compares is the variable whose values are
	// compared, each at the GOMAXPROCS of Procs; absent: values of GOMAXPROCS are.
	journal.Setting
	// Origin is where the trials came from, as of a Result.
	Origin journal.Origin
	// EffectiveCPUs is what one replica may use: the smallest of its quota, a limit
	// around it, and the machine's CPUs (or the server cpuset).
	EffectiveCPUs float64
	// LimitAround is the tightest limit around the target that no setting set, as of a
	// server that was running already; nil: there is none, or none is known.
	LimitAround *journal.OuterLimit
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
	// Rows are the values as settings, the settings that have none, and the values that only
	// slices of one start measured, as a table has them.
	Rows []Row
	// Benchmarks are those of go test, each by itself; nil where fewer than two ran.
	Benchmarks *Benchmarks
	Spread     Spread
	Race       *Raced          // of a race: what it took
	Sliced     *contest.Sliced // what slices of one start show; nil: there were none
	// Part is the share of the machine's CPUs that the target had, where the load took
	// the others; nil where it had all, or was held by a limit.
	Part       *Part
	NoiseFloor NoiseFloor
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
	CPUs int
	Of   int
}

// NoiseFloor is the larger absolute end of the A/A interval of each metric, as a
// ratio: 0.03 is 3%. It decides nothing. Null with fewer than three A/A pairs.
type NoiseFloor struct {
	Setting    string // the setting that ran twice
	Pairs      int
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
type Confidence = race.Goal

const (
	Proven = race.Proven // each comparison that it rests on is, with 95%
	Likely = race.Likely // probable by the model of all trials, and not proven
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
	Unreached   bool            // no request came to any pod in any slice, or fewer than one per second and pod with next to no CPU time
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
	// of both, no_difference of one that is within the margins in all, and undecided of none
	// of these; empty: the control.
	Verdict Verdict
	// Void is why nothing is proven by it, or by the control, so that it is undecided and none of
	// its metrics is judged; nil: it is compared.
	Void    Remark
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

func (g *Group) key() journal.GroupKey { return g.Setting.Group() }

// Raced is what a race took in a group.
type Raced struct {
	Trials     int   // invalid ones too
	Measured   []int // values, ascending
	Candidates int   // values that it could choose from
	// Stop is why it ended: goal, limit or time, futile (one value is likely, and none can
	// be proven with the trials left), objective (none can be named because of values that
	// missed it) or nothing (no value can be measured); empty where it did not.
	Stop string
}

// Versus is what the value that a verdict names changes against the default's, as
// ratios to it with the interval that holds in 95% of such choices.
type Versus struct {
	Procs        int
	DefaultProcs int
	Throughput   stat.Interval
	Latency      stat.Interval // of the judged quantile; without a median where it was not compared
}

// Default compares the value that unset chose with the CPUs.
type Default struct {
	Standing DefaultStanding
	Procs    *int // null: not known
	NumCPU   int  // CPUs that the target may run on; 0: not known
	// LimitCPUs is the tightest bound on one replica: NumCPU, our quota, or a limit
	// around it.
	LimitCPUs float64
	// Predicted is that unset was not measured, and every release since Go 1.5 uses Procs there,
	// whether it sees the limit or not.
	Predicted bool
}

// DefaultStanding says why the default is what it is.
type DefaultStanding string

const (
	DefaultUnknown     DefaultStanding = "unknown"        // the value or the CPUs
	DefaultAll         DefaultStanding = "all_cpus"       // no limit, and as many Ps as CPUs
	DefaultFloor       DefaultStanding = "floor"          // as many Ps as CPUs: the runtime's least is 2
	DefaultUnseenLimit DefaultStanding = "limit_not_seen" // as many Ps as CPUs, although under a limit
	DefaultLimit       DefaultStanding = "limit"          // the limit rounded up, as since Go 1.25
	DefaultUnexplained DefaultStanding = "unexplained"
)

// Override is what the program did to the value that it was given.
type Override struct {
	Known bool // every setting's live value was read
	// Asked and Ran are of a setting that ran at another value than asked; 0: none did.
	Asked int
	Ran   int
	// Changed is that the value changed in the middle of a trial.
	Changed bool
}

// Beyond sets the best value above the CPUs against the best within them, by their
// levels; nil where there is none on either side.
type Beyond struct {
	Setting string
	Ratio   float64
}

// Allocates is that a flat curve is of a program whose garbage collector takes much of
// its time.
type Allocates struct {
	Setting         string  // the verdict's, or the peak
	CyclesPerSecond float64 // of one replica
	Share           float64 // of the time in which its Ps did anything, by its runtime's count
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
	// Sliced is of a value without trials of its own, whose throughput is estimated; nil: it is none.
	Sliced         *contest.SliceValue
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
	// Missed is in how many of the trials no rate met the objective. Where that is half of them or
	// more the setting carries less than its Throughput: then it is Unmet.
	Missed int
	Unmet  bool
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
	Dropped               int64    // over all trials
	RSSBytes              *float64 // resident memory at the end, all replicas
	PeakRSSBytes          *float64 // the most since their start: the median of the trials, or with --max-memory the most of any trial of its value; of a setting in any phase of a trial
	GCCyclesPerSecond     *float64 // of one replica
	GCBusyRatio           *float64 // of the time in which Ps did anything, by the runtime's count
	gcCycles              *float64 // of one replica
}

// Point is one trial, with its latencies.
type Point struct {
	*journal.Trial
	P50       *float64
	P99       *float64
	ClosedP99 *float64 // of the closed loop, as wrk counts
	Judged    *float64 // the latency that comparisons take; null: the trial is out of them
}

// ReasonCount is an invalid reason, as the journal has it, and how many trials gave
// it.
type ReasonCount struct {
	Reason string
	Code   journal.InvalidCode // of a journal that has them
	Count  int
}

// RequestLatency is one request of a mix at one setting, in the loop whose latency is
// displayed: medians over the setting's valid trials, and sums.
type RequestLatency struct {
	Name     string
	Requests int64
	Errors   int64
	P50      stat.Interval
	P99      stat.Interval
}

// Throttling is what CPU limits did to the target, those of the settings and those
// around them, and what is to be done about it.
type Throttling struct {
	// State is of the default and of the value that the verdict names; where there is
	// neither, of the peak.
	State ThrottlingState
	// Share is of the periods of the limit that throttled it most, LimitCPUs wide.
	Share     *float64
	LimitCPUs *float64
	// Own is that this is the setting's quota; else it is that of Group, around the
	// target, which others may share.
	Own   bool
	Group string
	// OuterKnown is that limits around the target are counted, or that there are none.
	OuterKnown bool
	Settings   []ThrottledSetting // those about which something is known
	Advice     ThrottlingAdvice
	Procs      *int // of the advice
	AdviceOwn  bool // the advice is about the setting's own quota
}

// ThrottledSetting is a setting with the limit that throttled it most.
type ThrottledSetting struct {
	Label     string
	Judged    bool // State is of it
	Share     float64
	LimitCPUs float64
	Own       bool
	Group     string
	// Beyond is that it ran with more Ps than the limit rounded up, which is what the
	// runtime chooses itself since Go 1.25.
	Beyond bool
	ps     int // 0: not known
}

// ThrottlingState reports whether the target was throttled.
type ThrottlingState string

const (
	ThrottledUnknown ThrottlingState = "unknown"
	ThrottledNo      ThrottlingState = "no"
	ThrottledHardly  ThrottlingState = "hardly" // in fewer than one of a hundred periods
	ThrottledYes     ThrottlingState = "yes"
)

// ThrottlingAdvice is what to do about it. What was measured beats what the numbers of
// Ps and of CPUs alone would advise.
type ThrottlingAdvice string

const (
	AdviceMeasured ThrottlingAdvice = "set_measured" // Procs are shown to be as good or better
	AdviceAvoid    ThrottlingAdvice = "avoid"        // only other values than the verdict's, Procs, are throttled
	AdviceLower    ThrottlingAdvice = "lower_procs"  // to Procs, before the limit is raised
	AdviceRaise    ThrottlingAdvice = "raise_limit"  // there are no more Ps than the limit has CPUs
	AdviceProven   ThrottlingAdvice = "raise_proven" // fewer Ps are proven worse
)

// OtherPrograms is the CPU that neither the target nor its load used, on the CPUs
// that the target may use.
type OtherPrograms struct {
	CPUs *float64 // the median over the trials; null where it was not counted
	Of   int
	// MostCPUs is the median over the trials of MostSetting, which had the most of it,
	// where that is more than runs on every machine; null elsewhere.
	MostCPUs    *float64
	MostSetting string
	// AtMost is the share of the CPU time that they may have taken of a trial, the median, if
	// it was counted in none; null: it was, or nothing was counted.
	AtMost *float64
	// Matter is that they are more than runs on every machine.
	Matter bool
	// TooFewCPUs are the labels of the settings that had too few CPUs next to them.
	TooFewCPUs []string
	// Bursts is how many of all Trials had much of them, at most the share BurstMost of the
	// CPU time, where most have hardly any; LeftOut of these are not used.
	Bursts    int
	BurstMost float64
	Trials    int
	LeftOut   int
	// Slow is how many of all Trials are not used since the machine itself was slower then,
	// or its speed changed.
	Slow int
}

// Benchmarks are the Go benchmarks of a group, each by itself: their geometric mean is
// the throughput, and settings of one mean may differ in each.
type Benchmarks struct {
	Procs []int       // of the values, a time of each benchmark each
	Base  int         // index of the value that others are compared with: the default, else the smallest
	List  []Benchmark // by name
	Mean  []BenchmarkTime
}

// Benchmark is one of them.
type Benchmark struct {
	Name  string
	Times []BenchmarkTime // by value
	// Wants is the number of Ps at which it is proven better, beyond the margin, than at
	// the one that the verdict names; null where there is none.
	Wants *int
}

// BenchmarkTime is the time of an operation at one value.
type BenchmarkTime struct {
	Setting string // label of the value's row
	Seconds stat.Interval
	// VersusBase is as a ratio, with bounds of which all in the table hold with 95%.
	VersusBase stat.Interval
	Differs    bool // the bounds exclude that it is the same
}

// Gate is the answer of procfit compare.
type Gate struct {
	Kind   string // against, baseline
	Pass   bool   // every check is judged and none is worse; of two programs, each is within its margin
	Checks []GateCheck
	// Unjudged says why the gate is neither passed nor failed; empty when it is.
	Unjudged []Unjudged
}

const (
	GateKindAgainst  = "against"
	GateKindBaseline = "baseline"

	MetricThroughput = "throughput"
	MetricP99        = "p99"
)

// GateCheck is one setting on one metric: new ÷ old with its interval.
type GateCheck struct {
	Setting journal.Setting // its label alone where there is one group
	Metric  string          // throughput, p99, or a Go benchmark that is proven slower
	Ratio   stat.Interval
	Margin  float64
	Judged  bool // there are pairs enough to prove something
	Worse   bool // worse than the margin, with confidence
	Proven  bool // not worse than the margin, with confidence
	Outcome Outcome
	// Bounds are those that decide: the one on the side of the loss reports whether it is
	// within the margin, the other, which shares its error with all checks, whether it
	// is worse. Of what is better both share it.
	Bounds   stat.Interval
	Quantile float64 // that is judged, of latency; 0: none is in both
	// Itself is the new program against its own copy in each block, where the two are proven to differ by
	// more than the margin: then nothing is judged. Null: they are not.
	Itself *float64
	// RatePerSecond is that of the requests whose latency it is. Behind is the program that
	// did not carry it in most trials, where the other one did: it is the worse one, but
	// Ratio and Bounds depend on how long a trial's queue grew.
	RatePerSecond *float64
	Behind        string // old, new; empty: neither, or both
	failed        bool   // one of the programs has no valid trial
	late          bool   // the load engine sent late in some trial
	lag           bool   // how late the load generator sent is not known
	limited       bool   // the load generator was at its limit in most trials of one of the programs
	missed        bool   // in some trial no rate met the objective
	most          bool   // by these trials the ratio is this at most, so that they may only prove a loss
	least         bool   // by these trials the ratio is this at least, so that they prove no loss
}

// NoQuantile reports whether the trials are too short for any quantile of the latency.
func (c *GateCheck) NoQuantile() bool { return c.Metric == MetricP99 && c.Quantile == 0 && !c.failed }

// LagUnknown reports whether how late the load generator sent is not known, which proves no latency as good.
func (c *GateCheck) LagUnknown() bool { return c.lag }

// LoadLimited reports whether the load generator was at its limit, so that less is known than the ratio.
func (c *GateCheck) LoadLimited() bool { return c.limited }

// Outcome is what a check came to.
type Outcome string

const (
	OutcomeNotJudged Outcome = "not_judged"
	OutcomeWorse     Outcome = "worse"
	OutcomeWithin    Outcome = "within_margin"
	OutcomeUndecided Outcome = "undecided"
	OutcomeBetter    Outcome = "better" // by more than the margin
)

const (
	BehindOld = "old"
	BehindNew = "new"
)

// Unjudged is why a gate cannot be judged.
type Unjudged struct {
	Code UnjudgedCode
	// Checks, of those that have any, are those with as many Pairs.
	Checks []GateCheck
	Pairs  int
	// Of spoiled: Bad of Of trials of the new program at Setting are invalid, mostly for
	// that Reason, and OldBad of OldOf of the old one.
	Setting                journal.Setting
	Bad, Of, OldBad, OldOf int
	Reason                 string
}

// UnjudgedCode says which.
type UnjudgedCode string

const (
	UnjudgedSpoiled    UnjudgedCode = "spoiled"
	UnjudgedTooFew     UnjudgedCode = "too_few"
	UnjudgedTooFewCPUs UnjudgedCode = "too_few_cpus" // Setting: other programs left it too few CPUs
	UnjudgedNoSetting  UnjudgedCode = "no_setting"   // of the old command was measured
	UnjudgedLate       UnjudgedCode = "late"         // Checks, of latency, with as many Pairs: the load engine sent late
	UnjudgedLag        UnjudgedCode = "lag_unknown"  // Checks, of latency, with as many Pairs: how late the load generator sent is not known
	UnjudgedMissed     UnjudgedCode = "objective"    // Checks, with as many Pairs: in these or in other trials no rate met the objective
	UnjudgedLimited    UnjudgedCode = "load_limited" // Checks, of throughput, with as many Pairs: it is that of the load generator
	UnjudgedNoQuantile UnjudgedCode = "no_quantile"  // Checks, of latency: no quantile may be judged in both
	UnjudgedItself     UnjudgedCode = "itself"       // Checks, with as many Pairs: the new program differs from its own copy
	UnjudgedRedirects  UnjudgedCode = "redirects"    // Setting, Reason: the program, old or new, that answers with redirects, as the other one does not
	UnjudgedUndecided  UnjudgedCode = "undecided"    // Checks, with as many Pairs: neither proven worse nor within the margin
)

// Cheapest answers which setting carries a rate within an objective with the fewest
// CPUs. A setting carries it when the lower bound of its capacity does, and does not
// when the upper bound falls short; between the two it is open. The bounds hold for
// all settings together (Bonferroni), as the cheapest is chosen among them.
type Cheapest struct {
	Objective     slo.Objective
	RatePerSecond float64
	Settings      []Priced // by their CPUs in all, then by Ps; none: no trial was valid
	// Answer is the cheapest that carries the rate, Today the unset setting under the
	// first limit and number of replicas, which are to be those of today; null: none.
	Answer *Priced
	Today  *Priced
	Open   int // settings that may be cheaper than the answer and are still undecided
}

// Priced is one setting with what it carries and costs.
type Priced struct {
	journal.Setting
	CPUs      float64 // of one replica: its quota, else the CPUs that it may use
	TotalCPUs float64 // of all replicas
	Trials    int
	Invalid   int
	// Met is in how many of them some rate met the objective. Where none did the
	// capacity is below the lowest rate tried.
	Met      int
	Capacity stat.Interval // the geometric mean and its bounds; null below three trials
	Carries  Carries
	// Unseen is that it would carry the rate, and no valid trial was seen to run at its value:
	// then carries is undecided, and with --any-program likely.
	Unseen bool
}

// Carries says what is known of a setting and the rate.
type Carries string

const (
	CarriesIt     Carries = "yes"
	CarriesLikely Carries = "likely"
	CarriesNot    Carries = "no"
	CarriesMaybe  Carries = "undecided"
)

// Best is the setting that GOMAXPROCS and the variables of --vary come to, under one CPU
// limit, with one number of replicas and one Go version.
type Best struct {
	journal.Setting
	// Start is where the variables started.
	Start []journal.Variable
	// Confidence is that of the least sure comparison; empty: one named nothing, or the
	// search did not come to its end.
	Confidence Confidence
	Complete   bool
	// Interact are the variables whose best value changed with the others' values, and Apart
	// those whose best value was the same when others had changed.
	Interact []string
	Apart    []string
}

// Profile is where the CPU time and the memory of two settings go, by function: of the
// default, and of the setting that the verdict names where that is another one.
type Profile struct {
	Settings    []journal.Profiled // the default first
	CPU         *ProfileTable      // null: no setting has one
	Allocations *ProfileTable
}

// ProfileTable is a profile of each setting, next to each other.
type ProfileTable struct {
	Taken     []*journal.Profile // by setting; null: it has none, or one without a sample
	Functions []ProfileRow       // those that differ most, or of one setting the largest
}

// ProfileRow is the share that a function takes itself in each setting.
type ProfileRow struct {
	Name   string
	Shares []*float64 // of all, by setting; null: not among the functions that are known by name, or the setting has no profile
}

// Live is what a live experiment came to, each of its values against the start value's
// slice of the same block. Package live makes it.
type Live struct {
	journal.Live
	End    *journal.End // null: its procfit was killed, or is still at work
	Blocks int          // that were started
	// Seconds are those of the slices that count, and Least and Most the requests per second
	// in them: what is proven holds for these.
	Seconds  float64
	Least    float64
	Most     float64
	Carried  bool          // what a value left behind made the burn-in longer
	Settings []LiveSetting // the start value first
}

// LiveSetting is one value over all slices.
type LiveSetting struct {
	CanarySetting
	// Came is better, cheaper (CPU time is proven less, another metric is open), worse, mixed,
	// same, open or left; empty: the start value.
	Came    string
	Unequal bool // its requests per second differ from the start value's: nothing is judged
	Failing bool // more of its requests fail than of the start value's, as is proven
	Left    int  // how often it was left for harm
	// LeftAfter is how long it ran the last time, and InSystem how many requests were waiting
	// or being served then. Beyond is the metric seen from outside that it was left for; nil:
	// requests piled up.
	LeftAfter float64
	InSystem  float64
	Beyond    *journal.Beyond
}

// OriginMixed is the origin of trials that were not all measured in the same place. They
// are never compared.
const OriginMixed journal.Origin = "mixed"

// remedy is what makes settings comparable that had too few CPUs.
func (o OtherPrograms) remedy() StepCode {
	if o.CPUs == nil {
		return StepLonger
	}
	return StepQuietMachine
}

// Settled reports whether a race has proven its answer in each group, and which setting is the
// cheapest where that was asked for, whether or not it came to its end: nothing that it lacks is
// needed.
func (r *Result) Settled() bool {
	if c := r.Cheapest; c != nil && (c.Answer == nil || c.Answer.Carries != CarriesIt || c.Open > 0) {
		return false
	}
	open := func(g Group) bool { return g.Recommendation.Confidence != Proven }
	return r.Plan.Racing() && !r.Plan.GateAgainst && len(r.Groups) > 0 && len(r.Best) == 0 && !slices.ContainsFunc(r.Groups, open)
}
