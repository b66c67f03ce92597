package verdict

import "github.com/procfit/procfit/internal/verdict/contest"

// Remark is one thing that a result says: a struct of its own for each, with the numbers that its
// words need. It is made where it is found; package page has a row of words for each.
type Remark interface{ Code() Code }

// Code is what result.json calls a remark; it is stable. A remark that is not there by its code
// has none.
type Code string

// Warning is a remark that weakens the result.
type Warning struct {
	Group *int // index into groups; nil: it is of the whole run
	Remark
}

// AtSetting is part of a remark about one setting, which result.json names.
type AtSetting struct{ Setting string }

// OfSetting is its label.
func (a AtSetting) OfSetting() string { return a.Setting }

// SettingFigure is a setting with a number that a remark has of it.
type SettingFigure struct {
	Label string
	Value float64
}

type (
	// About is one value.
	About struct{ Of *contest.Value }
	// Pair is a value with the one that it is compared with.
	Pair struct{ Of, Than *contest.Value }
	// Difference is a comparison by N pairs of trials: a change of -0.4 is 40% less.
	Difference struct {
		Pair
		Change float64
		N      int
	}
	// Bounded is a difference with the end of its 95% interval that a claim rests on.
	Bounded struct {
		Difference
		Bound float64
	}
)

func (a About) Values() (of, than *contest.Value) { return a.Of, nil }
func (a Pair) Values() (of, than *contest.Value)  { return a.Of, a.Than }

// Reasons are what speaks for a verdict, or is open next to it.
type (
	// ReasonFastest and ReasonLowestP99 lead; the lucky are better by too few trials to count.
	ReasonFastest struct {
		About
		Lucky []*contest.Value
	}
	ReasonLowestP99 struct {
		About
		Lucky []*contest.Value
	}
	// These are of throughput, against the fastest.
	ReasonSlower    struct{ Bounded }
	ReasonAsFast    struct{ Bounded }
	ReasonSpeedOpen struct{ Difference } // N is 0 where no block has both
	ReasonSetAside  struct{ Difference } // too slow to be the best, and measured no further
	// These are of the judged latency, against the lowest.
	ReasonLater     struct{ Bounded }
	ReasonAsPrompt  struct{ Bounded }
	ReasonP99Open   struct{ Difference }
	ReasonSaturated struct{ About } // it could not carry the common rate
	ReasonUnmet     struct{ About } // it met the objective in half of its trials at most
	// ReasonP99NotJudged: in closed loop it only restates throughput.
	ReasonP99NotJudged struct{}
	// ReasonUnsetUnread: the default's value is not known, so it is compared with none.
	ReasonUnsetUnread struct{}
	// ReasonUnsetDiffers is the default against the setting of its value.
	ReasonUnsetDiffers struct{ Difference }
	ReasonSpread       struct{}             // how far a trial strays, which the group has
	ReasonShared       struct{}             // the load ran on the target's CPUs: what latency does not tell
	ReasonUnjudged     struct{}             // p99 is shown and not judged, as the group has it
	ReasonLateLoad     struct{ Trials int } // whose generator was late
	ReasonBursts       struct{}             // trials next to busy programs, as the group has them
	ReasonSlow         struct{ Trials int } // on a machine that was slower
	ReasonTooFewCPUs   struct{ List []*contest.Value }
	// ReasonSliced is which values were measured in slices of one start only, and ReasonAllStarts
	// why all were measured in starts of their own.
	ReasonSliced    struct{ Slower, Covered []int }
	ReasonAllStarts struct{ contest.SlicedEnd }
	// ReasonStartsDiffer is the same where slices and starts differ, by their throughput over the
	// default's.
	ReasonStartsDiffer struct {
		contest.SlicedApart
		Sized []string // modules that size something once
	}
	ReasonHolds struct{} // the group's CPUs, quota and replicas
	// ReasonMetricWorse is of a metric that the program printed.
	ReasonMetricWorse struct {
		Metric string
		Bounded
	}
	ReasonCarried struct {
		About
		Carried
	}
	ReasonCarrierP99 struct{ Bounded } // of p99, against a larger value that carries the rate too
	ReasonCostlier   struct{ Bounded } // of the CPU time per request at the common rate
)

func (ReasonFastest) Code() Code      { return "highest_throughput" }
func (ReasonLowestP99) Code() Code    { return "lowest_p99" }
func (ReasonSlower) Code() Code       { return "worse_throughput" }
func (ReasonAsFast) Code() Code       { return "as_good_throughput" }
func (ReasonSpeedOpen) Code() Code    { return "undecided_throughput" }
func (ReasonSetAside) Code() Code     { return "set_aside" }
func (ReasonLater) Code() Code        { return "worse_p99" }
func (ReasonAsPrompt) Code() Code     { return "as_good_p99" }
func (ReasonP99Open) Code() Code      { return "undecided_p99" }
func (ReasonSaturated) Code() Code    { return "saturated" }
func (ReasonUnmet) Code() Code        { return "objective" }
func (ReasonP99NotJudged) Code() Code { return "p99_not_judged" }
func (ReasonUnsetUnread) Code() Code  { return "unset_unread" }
func (ReasonUnsetDiffers) Code() Code { return "default_differs" }
func (ReasonSpread) Code() Code       { return "spread" }
func (ReasonShared) Code() Code       { return "load_on_cpus" }
func (ReasonUnjudged) Code() Code     { return "latency_short" }
func (ReasonLateLoad) Code() Code     { return "late_load" }
func (ReasonBursts) Code() Code       { return "bursts" }
func (ReasonSlow) Code() Code         { return "slow_machine" }
func (ReasonTooFewCPUs) Code() Code   { return "too_few_cpus" }
func (ReasonSliced) Code() Code       { return "sliced" }
func (ReasonAllStarts) Code() Code    { return "all_starts" }
func (ReasonStartsDiffer) Code() Code { return "starts_differ" }
func (ReasonHolds) Code() Code        { return "holds_for" }
func (ReasonMetricWorse) Code() Code  { return "metric_worse" }
func (ReasonCarried) Code() Code      { return "carried" }
func (ReasonCarrierP99) Code() Code   { return "carrier_p99" }
func (ReasonCostlier) Code() Code     { return "more_cpu" }

// Claims are what a verdict rests on.
type (
	ClaimKeep struct{ About } // the default
	// ClaimAsGood names the default too: nothing is shown to be worse. Than is another value that
	// is proven as good; nil: none is.
	ClaimAsGood struct{ Pair }
	ClaimSet    struct{ About } // another value than the default
	ClaimAlike  struct{}
	// ClaimTrade has the value for throughput and, Than, that for latency, with its changes.
	ClaimTrade struct {
		Pair
		Change, P99Change float64
	}
	ClaimCarries  struct{ About }
	ClaimAsItRuns struct{ About }
)

func (ClaimAsGood) Code() Code   { return "as_good_as_any" }
func (ClaimKeep) Code() Code     { return "" }
func (ClaimSet) Code() Code      { return "" }
func (ClaimAlike) Code() Code    { return "" }
func (ClaimTrade) Code() Code    { return "" }
func (ClaimCarries) Code() Code  { return "" }
func (ClaimAsItRuns) Code() Code { return "" }

// Causes are why there is no verdict. Their codes are in result.json.
type (
	CauseOnlyUnset     struct{}
	CausePilotsInvalid struct{}
	CauseNotMeasured   struct{}
	CauseNoneValid     struct{}
	CauseNoThroughput  struct{}
	CauseUnweighed     struct{}        // the memory of some was not read, and --max-memory leaves one other value or none
	CauseMemory        struct{ About } // the one value that did not use more than --max-memory; nil: all did
	CauseUnmet         struct{}        // each value that could be compared met the objective in half of its trials at most
	CauseOneValue      struct {
		About
		Failed bool // others were tried
	}
	CauseUnsetDiffers   struct{ About }
	CauseLoadLimited    struct{}        // all are equal, or the value to set and the default, at the limit of the load generator
	CauseSaturated      struct{ About } // it has the throughput, and could not carry the rate
	CauseP99Open        struct{ Rivals }
	CauseThroughputOpen struct{ Rivals }
	// CauseDefaultOpen: Of is as good as any, nothing is proven worse, and Than, the default, is
	// open against Rival.
	CauseDefaultOpen struct {
		Difference
		Rival  *contest.Value
		Metric string
		Proven bool
	}
	CauseNoise            struct{} // the group's spread
	CauseNothingProven    struct{} // nor proven equal
	CauseRateNotOffered   struct{}
	CauseRateFewBlocks    struct{}
	CauseRateNotCarried   struct{ Proven bool }
	CauseOverridden       struct{}                        // the program ran at another value than asked: the group's Override
	CauseTooFewCPUs       struct{ List []*contest.Value } // other programs left them too few CPUs
	CauseSlow             struct{}                        // too many trials on a machine that was slower, as the group has it
	CauseUnseen           struct{ List []*contest.Value } // no valid trial was seen to run at them
	CauseUncounted        struct{ List []*contest.Value } // nothing was counted of other programs
	CauseLagUnknown       struct{}                        // the load generator reports no lag of its own, which its latency may be
	CauseTunnel           struct{}                        // the load came through the API server
	CauseNoDefault        struct{}                        // no trial of the default is valid
	CauseMixedOrigins     struct{}                        // trials that were measured in different places
	CauseRateContradicts  struct{}                        // a smaller quota carries it
	CauseBenchmarksDiffer struct{}                        // equal on average, see ReasonMetricWorse
)

// Rivals are two values of which one is better.
type Rivals struct {
	List    []*contest.Value
	Default *contest.Value // where it is as good as is known; nil: it is not
}

func (CauseOnlyUnset) Code() Code        { return "only_default" }
func (CausePilotsInvalid) Code() Code    { return "rate_trials_invalid" }
func (CauseNotMeasured) Code() Code      { return "not_measured" }
func (CauseNoneValid) Code() Code        { return "none_valid" }
func (CauseNoThroughput) Code() Code     { return "no_throughput" }
func (CauseUnweighed) Code() Code        { return "no_memory" }
func (CauseMemory) Code() Code           { return "memory" }
func (CauseUnmet) Code() Code            { return "objective" }
func (CauseOneValue) Code() Code         { return "one_value" }
func (CauseUnsetDiffers) Code() Code     { return "default_differs" }
func (CauseLoadLimited) Code() Code      { return "load_limited" }
func (CauseSaturated) Code() Code        { return "saturated" }
func (CauseP99Open) Code() Code          { return "undecided_p99" }
func (CauseThroughputOpen) Code() Code   { return "undecided_throughput" }
func (CauseDefaultOpen) Code() Code      { return "undecided_default" }
func (CauseNoise) Code() Code            { return "noise" }
func (CauseNothingProven) Code() Code    { return "nothing_proven" }
func (CauseRateNotOffered) Code() Code   { return "rate_not_offered" }
func (CauseRateFewBlocks) Code() Code    { return "rate_few_blocks" }
func (CauseRateNotCarried) Code() Code   { return "rate_not_carried" }
func (CauseOverridden) Code() Code       { return "overridden" }
func (CauseTooFewCPUs) Code() Code       { return "too_few_cpus" }
func (CauseSlow) Code() Code             { return "slow_machine" }
func (CauseUnseen) Code() Code           { return "unseen" }
func (CauseUncounted) Code() Code        { return "uncounted" }
func (CauseLagUnknown) Code() Code       { return "lag_unknown" }
func (CauseTunnel) Code() Code           { return "load_tunnel" }
func (CauseNoDefault) Code() Code        { return "no_default" }
func (CauseMixedOrigins) Code() Code     { return "mixed_origins" }
func (CauseRateContradicts) Code() Code  { return "rate_contradicts" }
func (CauseBenchmarksDiffer) Code() Code { return "benchmarks_differ" }

// Carried is what a value did with the rate that all are offered.
type Carried struct {
	Share    float64  // of the rate, achieved in open loop: the median
	ShareLow *float64 // its lower bound, which decides; nil below three blocks
	Closed   *float64 // throughput in closed loop ÷ the rate; nil where there was none
	Low      bool     // Closed is its lower bound, which decides, else the median
	Trials   int
	Blocks   int  // that they are of
	Carries  bool // proven
}

// Step is what would decide an open question: a code with its numbers.
type Step struct {
	Code         StepCode
	Metric       string
	Spread       float64 // between trials of a block, as a ratio
	Blocks, Have int     // that it would take, and that there are
	// Of go_on: the comparison that decides, and about how many more trials it takes, of
	// so many seconds each. Have are the trials so far.
	List         []*contest.Value
	More         int
	TrialSeconds float64
}

// StepCode says what a [Step] asks for.
type StepCode string

const (
	StepQuieter         StepCode = "quieter" // Metric, Spread: no number of blocks would do
	StepVary            StepCode = "vary_collector"
	StepProfile         StepCode = "profile"
	StepGoOn            StepCode = "go_on" // Metric, List, Have, More, TrialSeconds
	StepMoreValues      StepCode = "more_values"
	StepHigherValues    StepCode = "higher_values" // Have: the highest that was measured
	StepFix             StepCode = "fix"
	StepResume          StepCode = "resume"
	StepReadOutput      StepCode = "read_output"
	StepMoreMemory      StepCode = "more_memory"
	StepWeigh           StepCode = "read_memory"
	StepFindDerived     StepCode = "find_derived" // what else the program derives from the variable
	StepLoadElsewhere   StepCode = "load_elsewhere"
	StepOfferRate       StepCode = "offer_rate"
	StepRepeat          StepCode = "repeat" // Blocks
	StepLessRate        StepCode = "less_rate"
	StepObjective       StepCode = "longer_slo"
	StepQuietMachine    StepCode = "quiet_machine"
	StepSteady          StepCode = "steady_machine"
	StepSee             StepCode = "see_value"     // make the value readable
	StepCount           StepCode = "count_others"  // measure where other programs can be counted
	StepOwnLoad         StepCode = "own_load"      // whose lag is measured
	StepLonger          StepCode = "longer_trials" // in which other programs can be counted
	StepStartAgain      StepCode = "start_again"
	StepBenchmarksApart StepCode = "benchmarks_apart"
)
