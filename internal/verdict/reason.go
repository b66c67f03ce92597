package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

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
	ReasonSlow         ReasonCode = "slow_machine"       // the group's: N trials on a machine that was slower
	ReasonWithheld     ReasonCode = "withheld"           // List: other programs left them too few CPUs
	ReasonHolds        ReasonCode = "holds_for"          // the group's CPUs, quota and replicas
	ReasonMetricWorse  ReasonCode = "metric_worse"       // Of, Than, Metric, Change, Bound, N
	ReasonCarried      ReasonCode = "carried"            // Of, Carried
	ReasonCarrierP99   ReasonCode = "carrier_p99"        // Of, Than, Change, Bound, N: of p99
	ReasonCostlier     ReasonCode = "more_cpu"           // Of, Than, Change, Bound, N: of the CPU time per request at the common rate
)

// Why there is no verdict. The code is in result.json.
const (
	CauseOnlyUnset        ReasonCode = "only_unset"
	CausePilotsInvalid    ReasonCode = "pilots_invalid"
	CauseNotMeasured      ReasonCode = "not_measured"
	CauseNoneValid        ReasonCode = "none_valid"
	CauseNoThroughput     ReasonCode = "no_throughput"
	CauseMemory           ReasonCode = "memory"             // all values used more than --max-memory, or all but Of
	CauseOneValue         ReasonCode = "one_value"          // Of
	CauseUnsetDiffers     ReasonCode = "unset_differs"      // Of
	CauseLoadLimited      ReasonCode = "load_limited"       // all equal, at the load engine's limit
	CauseSaturated        ReasonCode = "saturated"          // Of has the throughput, and could not carry the rate
	CauseP99Open          ReasonCode = "open_p99"           // List: the two; Than: the default, where it is as fast as the best
	CauseThroughputOpen   ReasonCode = "open_throughput"    // List: the two; Than: the default, one of them
	CauseDefaultOpen      ReasonCode = "open_default"       // Of is as good as any (Proven), nothing is proven worse, and Than, the default, is open against List: Metric, Change, N
	CauseNoise            ReasonCode = "noise"              // Of: what it would be; the group's spread
	CauseNothingProven    ReasonCode = "nothing_told_apart" // nor proven equal
	CauseRateNotOffered   ReasonCode = "rate_not_offered"
	CauseRateFewBlocks    ReasonCode = "rate_few_blocks"
	CauseRateNotCarried   ReasonCode = "rate_not_carried"
	CauseOverridden       ReasonCode = "overridden"        // the program ran at another value than asked: the group's Override
	CauseWithheld         ReasonCode = "withheld"          // List: other programs left them too few CPUs
	CauseSlow             ReasonCode = "slow_machine"      // the group's: too many trials on a machine that was slower
	CauseUnseen           ReasonCode = "unseen"            // List: no valid trial was seen to run at them
	CauseUncounted        ReasonCode = "uncounted"         // List: nothing was counted of other programs
	CauseNoDefault        ReasonCode = "no_default"        // no trial of the default is valid
	CauseMixedOrigins     ReasonCode = "mixed_origins"     // trials that were measured in different places
	CauseRateContradicts  ReasonCode = "rate_contradicts"  // a smaller quota carries it
	CauseBenchmarksDiffer ReasonCode = "benchmarks_differ" // equal on average, see ReasonMetricWorse
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

// Step is what would decide an open question: a code with its numbers.
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
	StepVary            StepCode = "vary_collector"
	StepProfile         StepCode = "profile"
	StepGoOn            StepCode = "go_on" // Metric, List, Have, More, TrialSeconds
	StepMoreValues      StepCode = "more_values"
	StepFix             StepCode = "fix"
	StepResume          StepCode = "resume"
	StepReadOutput      StepCode = "read_output"
	StepMoreMemory      StepCode = "more_memory"
	StepFindDerived     StepCode = "find_derived" // what else the program derives from the variable
	StepLoadElsewhere   StepCode = "load_elsewhere"
	StepOfferRate       StepCode = "offer_rate"
	StepRepeat          StepCode = "repeat" // Blocks
	StepLessRate        StepCode = "less_rate"
	StepQuietMachine    StepCode = "quiet_machine"
	StepSteady          StepCode = "steady_machine"
	StepSee             StepCode = "see_value"     // make the value readable
	StepCount           StepCode = "count_others"  // measure where other programs can be counted
	StepLonger          StepCode = "longer_trials" // in which other programs can be counted
	StepStartAgain      StepCode = "start_again"
	StepBenchmarksApart StepCode = "benchmarks_apart"
)

// reasons are what the comparisons show, each with its metrics and its n: first
// what is proven, then what is open, then what requests cost, what was skipped, and the noise.
func (w *outcome) reasons(costs []Reason) []Reason {
	list := []Reason{{Code: ReasonFastest, Of: w.best.named(), List: namedAll(w.lucky())}}
	list = append(list, w.throughputReasons()...)
	list = append(list, w.latencyReasons()...)
	list = append(list, costs...)
	return append(list, w.common()...)
}

// common are those that compare no values.
func (w *outcome) common() (list []Reason) {
	if j := w.group.Latency; j.Quantile != 0.99 && (j.Quantile > 0 || j.Reason != "") {
		list = append(list, Reason{Code: ReasonUnjudged})
	}
	if n := w.group.Latency.Late; n > 0 {
		list = append(list, Reason{Code: ReasonLateLoad, N: n})
	}
	if w.latency && w.bound > 0 {
		list = append(list, Reason{Code: ReasonShared})
	}
	if n := w.group.Others.Bursts; n > 0 {
		list = append(list, Reason{Code: ReasonBursts, N: n})
	}
	if n := w.group.Others.Slow; n > 0 {
		list = append(list, Reason{Code: ReasonSlow, N: n})
	}
	if len(w.withheld) > 0 {
		list = append(list, Reason{Code: ReasonWithheld, List: namedAll(w.withheld)})
	}
	if u := w.unplaced; u != nil && u.procs == 0 {
		list = append(list, Reason{Code: ReasonUnsetUnread, Of: u.named()})
	} else if u != nil {
		list = append(list, Reason{Code: ReasonUnsetDiffers, Of: u.named(), Than: w.twin().named(), Change: u.rate/w.twin().rate - 1, N: min(u.level.Trials, w.twin().level.Trials)})
	}
	if w.group.Spread.Throughput != nil {
		list = append(list, Reason{Code: ReasonSpread})
	}
	return append(list, Reason{Code: ReasonHolds})
}

// lucky are the values whose level is above the best one's, by too few trials to
// count.
func (w *outcome) lucky() []*contender {
	return slices.DeleteFunc(slices.Clone(w.contenders), func(s *contender) bool { return !(s.rate > w.best.rate) })
}

// byStanding sorts comparisons with one value: worse, as good, open.
type byStanding struct{ worse, good, open []Reason }

func (b byStanding) all() []Reason { return append(append(b.worse, b.good...), b.open...) }

func (w *outcome) throughputReasons() []Reason {
	var list byStanding
	var aside []Reason
	for _, s := range w.contenders {
		if s == w.best {
			continue
		}
		c := w.throughput(s, w.best)
		r := Reason{Metric: MetricThroughput, Of: s.named(), Than: w.best.named(), Change: expm1(c.Mid), N: c.N}
		switch {
		case c.N == 0:
			r.Code, r.Change = ReasonSpeedOpen, 0
			list.open = append(list.open, r)
		case c.worse:
			r.Code, r.Bound = ReasonSlower, expm1(c.Most)
			list.worse = append(list.worse, r)
		case c.asGood:
			r.Code, r.Bound = ReasonAsFast, expm1(min(c.Lower, 0))
			list.good = append(list.good, r)
		case s.level.Out:
			r.Code = ReasonSetAside
			aside = append(aside, r)
		default:
			r.Code = ReasonSpeedOpen
			list.open = append(list.open, r)
		}
	}
	return append(append(list.worse, aside...), append(list.good, list.open...)...)
}

// latencyReasons compares what is as good in throughput with the lowest latency of all
// that carry the rate.
func (w *outcome) latencyReasons() []Reason {
	if !w.latency {
		if w.group.LatencyMode == string(journal.ModeClosed) {
			return []Reason{{Code: ReasonP99NotJudged}}
		}
		return nil
	}
	var list byStanding
	for _, s := range w.contenders {
		if s.saturated {
			list.worse = append(list.worse, Reason{Code: ReasonSaturated, Of: s.named()})
		}
	}
	low := w.lowest
	if low == nil || !slices.ContainsFunc(w.contenders, w.besideLow) {
		return list.all()
	}
	for _, s := range w.contenders {
		if s == low || s.saturated || !s.hasP99() || !w.inTail(s) || w.beyond(s) {
			continue
		}
		c := w.p99(s, low)
		r := Reason{Metric: MetricP99, Of: s.named(), Than: low.named(), N: c.N}
		if c.N > 0 {
			r.Change = expm1(c.Mid)
		}
		switch {
		case c.worse:
			r.Code, r.Bound = ReasonLater, expm1(c.Least)
			list.worse = append(list.worse, r)
		case c.asGood:
			r.Code, r.Bound = ReasonAsPrompt, expm1(max(c.Upper, 0))
			list.good = append(list.good, r)
		default:
			r.Code = ReasonP99Open
			list.open = append(list.open, r)
		}
	}
	return append([]Reason{{Code: ReasonLowestP99, Of: low.named(), List: namedAll(w.luckyLow())}}, list.all()...)
}

// luckyLow are the values whose latency is below the lowest, by too few trials to
// count.
func (w *outcome) luckyLow() []*contender {
	return slices.DeleteFunc(slices.Clone(w.contenders), func(s *contender) bool { return !(s.tail < w.lowest.tail) || !w.besideLow(s) })
}

// besideLow are those that the lowest latency is the lowest of.
func (w *outcome) besideLow(s *contender) bool {
	return s != w.lowest && s.hasP99() && !s.saturated && !w.out(s) && !w.beyond(s)
}

// twin is the numbered value of the unplaced unset setting's value.
func (w *outcome) twin() *contender {
	for _, s := range w.contenders {
		if s.procs == w.unplaced.procs {
			return s
		}
	}
	return w.unplaced
}

// opened is a comparison that the trials leave open.
type opened struct {
	a, b   *contender
	metric string
	trials int // that it would take, as the contest foresees; 0: not known
}

func pairOf(o opened) []*contender {
	if o.b.procs < o.a.procs {
		return []*contender{o.b, o.a}
	}
	return []*contender{o.a, o.b}
}

// open are the comparisons that the contest names, the one that decides first.
func (w *outcome) open() []opened {
	var list []opened
	for _, c := range w.Open {
		o := opened{a: w.of(c.A), b: w.of(c.B), metric: MetricThroughput, trials: c.Trials}
		if c.By == race.P99 {
			o.metric = MetricP99
		}
		if o.a != nil && o.b != nil {
			list = append(list, o)
		}
	}
	return list
}
