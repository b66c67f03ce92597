package journal

import "time"

// InvalidCode says why a trial proves nothing. It is in the journal, and stable.
type InvalidCode string

const (
	InvalidNoProgram    InvalidCode = "no_program"    // there is none to run: it could not be had, compiled or started
	InvalidNeverReady   InvalidCode = "never_ready"   // the URL did not answer in time
	InvalidCrashed      InvalidCode = "crashed"       // the target ended while it was measured
	InvalidExit         InvalidCode = "exit_status"   // a batch program ended with an error
	InvalidKilled       InvalidCode = "killed"        // SIGKILL ended the target, as the kernel does where memory runs out
	InvalidPrepare      InvalidCode = "prepare"       // what was to run before it failed
	InvalidBeside       InvalidCode = "beside"        // the neighbour of --beside ended while the target was measured
	InvalidTimeout      InvalidCode = "timeout"       // a batch program outlasted --timeout run
	InvalidLost         InvalidCode = "lost"          // how the target ended is not known
	InvalidProcs        InvalidCode = "procs"         // the target ran at another GOMAXPROCS than asked
	InvalidNotSet       InvalidCode = "not_set"       // its GOMAXPROCS could not be set while it ran
	InvalidProcsChanged InvalidCode = "procs_changed" // it changed in the middle of the trial
	InvalidOutside      InvalidCode = "outside_quota" // a process of the target, or of the neighbour, was not in the group of its quota
	InvalidLimitChanged InvalidCode = "limit_changed" // somebody changed the CPU limit of the target, or of a cgroup around it, in the middle of the trial
	InvalidNoAnswer     InvalidCode = "no_answer"     // no request was answered, or none of one replica
	InvalidStolen       InvalidCode = "stolen"        // a hypervisor took half of the CPU time, or enough of it for a target to answer nothing
	InvalidStopped      InvalidCode = "stopped"       // procfit itself did not run for a part of it: a signal stopped it, or the machine was suspended
	InvalidCrowded      InvalidCode = "crowded"       // other programs took a quarter of the CPU time or more, and hardly any in most trials; found by reading a whole journal, and never written into one
	InvalidSlow         InvalidCode = "slow"          // the machine was slower than in most blocks, or its speed changed; found by reading a whole journal, too
	InvalidErrors       InvalidCode = "errors"        // too many requests failed or were never answered
	InvalidLoad         InvalidCode = "load"          // the load could not be offered, or its command failed
	InvalidLoadOutput   InvalidCode = "load_output"   // the load command's output could not be read
	InvalidMetric       InvalidCode = "metric"        // the value of --metric is missing, or cannot be compared
	InvalidNoBenchmark  InvalidCode = "no_benchmark"  // no Go benchmark line was printed, or other ones than in earlier trials
	InvalidUnit         InvalidCode = "unit"          // its throughput is in another unit than its group's
	InvalidNoPod        InvalidCode = "no_pod"        // no pod came to run: it was refused, found no room, or its image could not be had
	InvalidPodChanged   InvalidCode = "pod_changed"   // a pod was restarted, or its image, node, class or resources have changed
	InvalidEvicted      InvalidCode = "evicted"       // the cluster took a pod away
	InvalidLeft         InvalidCode = "left"          // of a live experiment: the value was left before its time
	InvalidLoaded       InvalidCode = "loaded"        // of a live experiment: requests piled up with the start value too
	InvalidNodeLost     InvalidCode = "node_lost"     // a node that the trial ran on was not ready in the middle of it
)

// NoTarget reports that a trial had no target to measure: the target could not be started,
// ended by itself, was never ready or outlasted its time, or what runs before it or next
// to it failed.
func (c InvalidCode) NoTarget() bool {
	switch c {
	case InvalidNoProgram, InvalidNoPod, InvalidNeverReady, InvalidCrashed, InvalidExit, InvalidKilled, InvalidTimeout, InvalidPrepare, InvalidBeside:
		return true
	}
	return false
}

// Passing reports that what made a trial invalid is neither the target's fault nor that of
// its setting, and may be over: somebody took the machine away, stopped procfit or changed
// a limit.
func (c InvalidCode) Passing() bool {
	return c == InvalidStolen || c == InvalidStopped || c == InvalidLimitChanged
}

// UnjudgedCode says why a phase's p99 is shown and not judged.
type UnjudgedCode string

const (
	UnjudgedFewRequests UnjudgedCode = "few_requests" // too few for a p99 that can be repeated
	UnjudgedFewPeriods  UnjudgedCode = "few_periods"  // too few periods of the quota, whose throttling makes the tail
	UnjudgedClock       UnjudgedCode = "clock"        // its generator counts from the actual send, which waits for a free connection
)

// WarningCode says what weakens a valid trial.
type WarningCode string

const (
	WarnLoadLimited    WarningCode = "load_limited"    // Value: the busiest engine thread's CPU time ÷ wall time
	WarnLoadTook       WarningCode = "load_took"       // Value: CPUs that the load took of a machine without any to spare
	WarnSaturated      WarningCode = "saturated"       // Value: the share of the offered rate that was answered
	WarnSentLate       WarningCode = "sent_late"       // Value: seconds, the p99 of how late the engine itself sent
	WarnProcsUnproven  WarningCode = "procs_unproven"  // Detail: why the live GOMAXPROCS could not be read
	WarnNoGo           WarningCode = "no_go"           // no Go program is among the target's processes
	WarnProcsChanged   WarningCode = "procs_changed"   // From, To: of the unset setting
	WarnKilled         WarningCode = "killed"          // Value: seconds of grace after which SIGKILL followed SIGTERM
	WarnCounters       WarningCode = "counters"        // Detail: why the kernel's counters could not be read
	WarnQuery          WarningCode = "query"           // Detail: why the value of a canary's query could not be read
	WarnFailedRequests WarningCode = "failed_requests" // Phase, Count, Detail: of one kind of error
	WarnUnanswered     WarningCode = "unanswered"      // Phase, Count: requests that still waited at the end
	WarnLatencyClock   WarningCode = "latency_clock"   // Detail: the generator, whose latency counts from the actual send
	WarnRedirects      WarningCode = "redirects"       // Phase, Count: answers 3xx, which do little of the work
	WarnNoResult       WarningCode = "no_result"       // Count, Detail: Go benchmarks that started and whose results cannot be found in the output
)

// Warning is a code with its numbers; which of them a code has is next to it.
type Warning struct {
	Code   WarningCode `json:"code"`
	Phase  Mode        `json:"phase,omitempty"`
	Count  int64       `json:"count,omitempty"`
	Value  *float64    `json:"value,omitempty"`
	From   *int        `json:"from,omitempty"`
	To     *int        `json:"to,omitempty"`
	Detail string      `json:"detail,omitempty"` // not our words
}

// What a phase must hold for its p99 to be judged. In a machine made to repeat itself,
// one setting gave a p99 of 1.3 to 9 ms in phases of 1.5 s and of 1.3 to 1.4 ms where
// it had these: the tail of fewer requests, or of fewer throttled periods, is luck.
const (
	LeastRequests = 100 * requestsBeyond
	LeastPeriods  = 100 * periodsBeyond
	// QuotaPeriod is the kernel's default CFS period, which the quotas have.
	QuotaPeriod = 100 * time.Millisecond
)

// CarriedRatio is the share of the offered rate that counts as carried: below it a trial is saturated.
const CarriedRatio = 0.99

// A loop needs LeastCollections garbage collections if one takes more than LongCollection
// of its time: with fewer, its figures depend on how many it happens to have.
const (
	LeastCollections = 5
	LongCollection   = 0.01
)

// What must lie above a quantile for it to be judged: requests, and under a CPU limit
// periods, since a throttled period delays all requests in it together.
const (
	requestsBeyond = 50
	periodsBeyond  = 1
)

// Carry reports whether there are requests enough for a quantile to be judged; periods are those of
// the quota, and nil where there is none.
func Carry(quantile float64, requests int64, periods *int64) bool {
	beyond := func(n int64, least float64) bool { return float64(n)*(1-quantile) >= least-1e-6 } // 1-0.99 is rounded
	return beyond(requests, requestsBeyond) && (periods == nil || beyond(*periods, periodsBeyond))
}

// CarriedQuantiles are the usual ones that are carried, the highest first.
func CarriedQuantiles(requests int64, periods *int64) (list []float64) {
	for _, q := range []float64{0.99, 0.95, 0.9, 0.75, 0.5} {
		if Carry(q, requests, periods) {
			list = append(list, q)
		}
	}
	return list
}
