package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Reason is one thing that speaks for a verdict or is open next to it: a code with
// numbers. Which of them a code has is next to the code.
type Reason struct {
	Code ReasonCode
	Of   *contest.Value
	Than *contest.Value // what Of is compared with
	List []*contest.Value
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
func (w *group) reasons(costs []Reason) []Reason {
	list := []Reason{{Code: ReasonFastest, Of: w.Best, List: w.lucky()}}
	list = append(list, w.throughputReasons()...)
	list = append(list, w.latencyReasons()...)
	list = append(list, costs...)
	return append(list, w.common()...)
}

// common are those that compare no values.
func (w *group) common() (list []Reason) {
	if j := w.Latency; j.Quantile != 0.99 && (j.Quantile > 0 || j.Reason != "") {
		list = append(list, Reason{Code: ReasonUnjudged})
	}
	if n := w.Latency.Late; n > 0 {
		list = append(list, Reason{Code: ReasonLateLoad, N: n})
	}
	if w.ByLatency && w.Rules().MaxByLatency > 0 {
		list = append(list, Reason{Code: ReasonShared})
	}
	if n := w.others.Bursts; n > 0 {
		list = append(list, Reason{Code: ReasonBursts, N: n})
	}
	if n := w.others.Slow; n > 0 {
		list = append(list, Reason{Code: ReasonSlow, N: n})
	}
	if len(w.Starved) > 0 {
		list = append(list, Reason{Code: ReasonWithheld, List: w.Starved})
	}
	if u := w.Apart; u != nil && u.Procs == 0 {
		list = append(list, Reason{Code: ReasonUnsetUnread, Of: u})
	} else if u != nil {
		list = append(list, Reason{Code: ReasonUnsetDiffers, Of: u, Than: w.twin(), Change: orZero(u.Throughput.Mean)/orZero(w.twin().Throughput.Mean) - 1, N: min(u.N, w.twin().N)})
	}
	if w.spread.Throughput != nil {
		list = append(list, Reason{Code: ReasonSpread})
	}
	return append(list, Reason{Code: ReasonHolds})
}

// lucky are the values whose level is above the best one's, by too few trials to
// count.
func (w *group) lucky() []*contest.Value {
	return slices.DeleteFunc(slices.Clone(w.Values), func(s *contest.Value) bool { return !s.Throughput.Above(w.Best.Throughput) })
}

// byStanding sorts comparisons with one value: worse, as good, open.
type byStanding struct{ worse, good, open []Reason }

func (b byStanding) all() []Reason { return append(append(b.worse, b.good...), b.open...) }

func (w *group) throughputReasons() []Reason {
	var list byStanding
	var aside []Reason
	for _, s := range w.Values {
		if s == w.Best {
			continue
		}
		c := w.Throughput(s, w.Best)
		r := Reason{Metric: MetricThroughput, Of: s, Than: w.Best, Change: expm1(c.Mid), N: c.N}
		switch {
		case c.N == 0:
			r.Code, r.Change = ReasonSpeedOpen, 0
			list.open = append(list.open, r)
		case c.Worse:
			r.Code, r.Bound = ReasonSlower, expm1(c.Most)
			list.worse = append(list.worse, r)
		case c.AsGood:
			r.Code, r.Bound = ReasonAsFast, expm1(min(c.Lower, 0))
			list.good = append(list.good, r)
		case s.Out:
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
func (w *group) latencyReasons() []Reason {
	if !w.ByLatency {
		if w.latencyMode == journal.ModeClosed {
			return []Reason{{Code: ReasonP99NotJudged}}
		}
		return nil
	}
	var list byStanding
	for _, s := range w.Values {
		if s.Saturated {
			list.worse = append(list.worse, Reason{Code: ReasonSaturated, Of: s})
		}
	}
	low := w.Lowest
	if low == nil || !slices.ContainsFunc(w.Values, w.besideLow) {
		return list.all()
	}
	for _, s := range w.Values {
		if s == low || s.Saturated || !s.HasLatency() || !w.InTail(s) || w.Beyond(s) {
			continue
		}
		c := w.P99(s, low)
		r := Reason{Metric: MetricP99, Of: s, Than: low, N: c.N}
		if c.N > 0 {
			r.Change = expm1(c.Mid)
		}
		switch {
		case c.Worse:
			r.Code, r.Bound = ReasonLater, expm1(c.Least)
			list.worse = append(list.worse, r)
		case c.AsGood:
			r.Code, r.Bound = ReasonAsPrompt, expm1(max(c.Upper, 0))
			list.good = append(list.good, r)
		default:
			r.Code = ReasonP99Open
			list.open = append(list.open, r)
		}
	}
	return append([]Reason{{Code: ReasonLowestP99, Of: low, List: w.luckyLow()}}, list.all()...)
}

// luckyLow are the values whose latency is below the lowest, by too few trials to
// count.
func (w *group) luckyLow() []*contest.Value {
	return slices.DeleteFunc(slices.Clone(w.Values), func(s *contest.Value) bool { return !w.Lowest.P99.Above(s.P99) || !w.besideLow(s) })
}

// besideLow are those that the lowest latency is the lowest of.
func (w *group) besideLow(s *contest.Value) bool {
	return s != w.Lowest && s.HasLatency() && !s.Saturated && !w.Out(s) && !w.Beyond(s)
}

// twin is the numbered value of the unplaced unset setting's value.
func (w *group) twin() *contest.Value {
	for _, s := range w.Values {
		if s.Procs == w.Apart.Procs {
			return s
		}
	}
	return w.Apart
}
