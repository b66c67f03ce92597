package verdict

// Value is a number of Ps as reasons speak of it: the settings that ran with it, under
// the name of one.
type Value struct {
	Setting string // the label of the setting that names it
	Procs   int    // 0: the unset setting, whose value could not be read
	Unset   bool   // no numbered setting ran with it, only the unset one
	Default bool   // what the unset setting chose
	// Throughput and P99 are the medians that a table has of the setting that names it;
	// nil where no block has a value to compare.
	Throughput, P99 *float64
}

// Reason is one thing that speaks for a verdict or is open next to it: a code with
// numbers. Which of them a code has is next to the code.
type Reason struct {
	Code ReasonCode
	Of   *Value
	Than *Value // what Of is compared with
	List []Value
	// Metric is throughput, p99 or the name of a metric that the program printed.
	Metric string
	// Change is that of Of against Than in the metric: -0.4 is 40% less. Bound is the
	// end of its 95% interval that the claim rests on.
	Change, Bound float64
	P99Change     *float64 // the same in p99, where one of throughput is next to it
	N             int      // pairs of trials
	// Proven, of a claim, is that it holds for every smaller value; that p99 was judged
	// too where nothing differs.
	Proven  bool
	Carried *Carried // of [ReasonCarried]
}

// ReasonCode says what a [Reason] is about.
type ReasonCode string

// What the comparisons show.
const (
	ReasonFastest      ReasonCode = "highest_throughput" // Of
	ReasonSlower       ReasonCode = "worse_throughput"   // Of, Than, Change, Bound, N
	ReasonAsFast       ReasonCode = "as_good_throughput" // Of, Than, Change, Bound, N
	ReasonSpeedOpen    ReasonCode = "open_throughput"    // Of, Than, Change, N; N 0: no block has both
	ReasonSetAside     ReasonCode = "set_aside"          // Of, Than, Change, N: too slow to be the best, and measured no further
	ReasonLowestP99    ReasonCode = "lowest_p99"         // Of
	ReasonSaturated    ReasonCode = "saturated"          // Of could not carry the common rate
	ReasonLater        ReasonCode = "worse_p99"          // Of, Than, Change, Bound, N
	ReasonAsPrompt     ReasonCode = "as_good_p99"        // Of, Than, Change, N
	ReasonP99Open      ReasonCode = "open_p99"           // Of, Than, Change, N
	ReasonP99NotJudged ReasonCode = "p99_not_judged"     // in closed loop it only restates throughput
	ReasonUnsetUnread  ReasonCode = "unset_unread"       // the unset setting's value is not known, so it is compared with none
	ReasonUnsetDiffers ReasonCode = "unset_differs"      // Of is unset, Than the setting of its value; Change, N
	ReasonSpread       ReasonCode = "spread"             // the group's: how far a trial strays
	ReasonShared       ReasonCode = "load_on_cpus"       // the load ran on the target's CPUs: what latency does not tell
	ReasonUnjudged     ReasonCode = "latency_short"      // the group's: p99 is shown and not judged
	ReasonLateLoad     ReasonCode = "late_load"          // N trials whose generator was late
	ReasonBursts       ReasonCode = "bursts"             // the group's: N trials next to busy programs
	ReasonWithheld     ReasonCode = "withheld"           // List: other programs left them too few CPUs
	ReasonHolds        ReasonCode = "holds_for"          // the group's CPUs, quota and replicas
	ReasonMetricWorse  ReasonCode = "metric_worse"       // Of, Than, Metric, Change, Bound, N
	ReasonCarried      ReasonCode = "carried"            // Of, Carried
	ReasonCarrierP99   ReasonCode = "carrier_p99"        // Of, Than, Change, Bound, N: of p99
)

// Why nothing can be told. The code is in result.json.
const (
	CauseOnlyUnset        ReasonCode = "only_unset"
	CausePilotsInvalid    ReasonCode = "pilots_invalid"
	CauseNotMeasured      ReasonCode = "not_measured"
	CauseNoneValid        ReasonCode = "none_valid"
	CauseNoThroughput     ReasonCode = "no_throughput"
	CauseOneValue         ReasonCode = "one_value"          // Of
	CauseUnsetDiffers     ReasonCode = "unset_differs"      // Of
	CauseLoadLimited      ReasonCode = "load_limited"       // all alike, at the load engine's limit
	CauseSaturated        ReasonCode = "saturated"          // Of has the throughput, and could not carry the rate
	CauseP99Open          ReasonCode = "open_p99"           // List: the two; Than: the default, where it is as fast as the best
	CauseThroughputOpen   ReasonCode = "open_throughput"    // List: the two; Than: the default, one of them
	CauseDefaultOpen      ReasonCode = "open_default"       // Of is as good as any (Proven), nothing is proven worse, and Than, the default, is open against List: Metric, Change, N
	CauseNoise            ReasonCode = "noise"              // Of: what it would be; the group's spread
	CauseNothingTold      ReasonCode = "nothing_told_apart" // nor shown to be alike
	CauseRateNotOffered   ReasonCode = "rate_not_offered"
	CauseRateFewBlocks    ReasonCode = "rate_few_blocks"
	CauseRateNotCarried   ReasonCode = "rate_not_carried"
	CauseOverridden       ReasonCode = "overridden"        // the program ran at another value than asked: the group's Override
	CauseWithheld         ReasonCode = "withheld"          // List: other programs left them too few CPUs
	CauseMixedOrigins     ReasonCode = "mixed_origins"     // measured trials and a model's
	CauseRateContradicts  ReasonCode = "rate_contradicts"  // a smaller quota carries it
	CauseBenchmarksDiffer ReasonCode = "benchmarks_differ" // alike on average, see ReasonMetricWorse
)

// ClaimAsGood is of keep_default where the default is as good as any and nothing is shown
// to be worse: Of, and Than, another value where that is proven as good too.
const ClaimAsGood ReasonCode = "as_good_as_any"

// Carried is what a value did with the rate that all are offered.
type Carried struct {
	Share    float64  // of the rate, achieved in open loop: the median
	ShareLow *float64 // its lower bound, which decides; nil below three blocks
	Closed   *float64 // throughput in closed loop ÷ the rate; nil where there was none
	Low      bool     // Closed is its lower bound, which decides, else the median
	Trials   int
	Blocks   int  // that they are of
	Carries  bool // proven
	Refuses  bool // proven not to carry it
}

// Step is what would settle what cannot be told: a code with its numbers.
type Step struct {
	Code         StepCode
	Metric       string
	Spread       float64 // between trials of a block, as a ratio
	Blocks, Have int     // that it would take, and that there are
	// Of go_on: the comparison that decides, and about how many more trials it takes, of
	// so many seconds each. Have are the trials so far.
	List         []Value
	More         int
	TrialSeconds float64
}

// StepCode says what a [Step] asks for.
type StepCode string

const (
	StepQuieter         StepCode = "quieter" // Metric, Spread: no number of blocks would do
	StepGoOn            StepCode = "go_on"   // Metric, List, Have, More, TrialSeconds
	StepMoreValues      StepCode = "more_values"
	StepMend            StepCode = "mend"
	StepResume          StepCode = "resume"
	StepReadOutput      StepCode = "read_output"
	StepFindDerived     StepCode = "find_derived" // what else the program derives from the variable
	StepLoadElsewhere   StepCode = "load_elsewhere"
	StepOfferRate       StepCode = "offer_rate"
	StepRepeat          StepCode = "repeat" // Blocks
	StepLessRate        StepCode = "less_rate"
	StepQuietMachine    StepCode = "quiet_machine"
	StepAnew            StepCode = "begin_anew"
	StepBenchmarksApart StepCode = "benchmarks_apart"
)
