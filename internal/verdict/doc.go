// Package verdict analyses a journal: medians with intervals, paired comparisons, a noise
// floor and a verdict. It reads nothing else and has no sentences: a verdict, its reasons,
// what would decide it and warnings are codes with numbers. What a page reports in several
// places is judged here once: the peak, the default, limits that throttled, the kind of
// work, and whether the program overrides GOMAXPROCS.
//
// # The model
//
// Settings of one quota, replica count and Go version form a group. Package contest compares
// its values, of a grid as of a race, and finds the peak, the pick, every difference with its
// bounds, and how far a trial strays. An unset setting that is proven to perform unlike the
// number that it chose makes the verdict undecided.
//
// One value is as good as another when with 95% confidence it is worse by no more
// than the margin: a claim that rests on many of these needs them all, so that each may
// have the whole error. It is worse when it is so by more than the margin with a
// confidence that is shared among all values and both metrics: of many, one may be
// picked out. Else it is open. Bounds that are shown are those that decide.
//
//  1. The pick is the smallest value that is as good in throughput as every other that
//     is not proven worse, and in latency as every other whose latency counts. Proven,
//     when each of these comparisons is; likely, when only the pooled model says so,
//     and trials do not stray beyond all measure (see contest.Contest.Wild).
//  2. It is keep_default when unset chose it. It is recommended when something is
//     proven worse, since without that a change would be advised that nothing shows
//     to matter. Then the default is kept where it is proven, or likely, as good as any
//     too; while that is open it is undecided, which says what is proven and what is
//     open. Only where all are proven equal both ways it is no_difference (unless the
//     load engine was the limit). A pick of more Ps than the default, which is not
//     proven worse, is likely at best.
//  3. A value that is worse in throughput, whose latency is proven better by a ratio
//     that exceeds its loss, makes it a trade_off.
//
// # Which latency
//
// Only the open loop's is judged: the highest quantile that most trials carry (see
// latency.go), without the trials whose load engine sent late. Counts of several trials
// are not pooled. Simulated with six trials of exponential latencies whose scale strays
// by 25% (60%), the p99 of all their requests together is 9% (46%) above the mean
// of their p99s, and strays by 11% (31%) where that strays by 10% (23%).
//
// Where the load runs on CPUs of the target, no value above them is preferred by
// latency and the default not called worse by it: the load takes the CPU of a thread
// that holds a P, so that p99 is worst exactly at as many Ps as CPUs, whatever the
// program. Under a quota that leaves the load CPUs to spare that is not so.
//
// A value's metrics in a sentence are its levels, as in tables; the settings of
// result.json keep their medians.
//
// # Limits
//
// Throughput is better when higher: a Runner turns other metrics round. A result holds
// for the CPUs and the quota that it names, and for the values that were measured.
//
// Simulated with package verdicttest (six blocks, trial CV 3%, p99 CV 25%, drift
// 8%, outliers in 2% of trials), of 500 sweeps over equal settings 2 claim a difference
// and 19 undecided; see TestEqualSettings and TestPicks. With up to 7% of a machine used by other
// programs, verdicts stay what they were (TestOthersOfEveryMachineWithholdNothing).
package verdict
