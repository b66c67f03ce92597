// Package stat reads a journal and says what it shows: medians with intervals,
// paired comparisons, a noise floor and a verdict. It reads nothing else, and has no
// sentences: a verdict, its reasons, what would settle it and warnings are codes with
// figures. What a page says twice is judged here once: the peak, the default, limits
// that throttled, the kind of work, whether the program overrides what it is given.
//
// # The model
//
// Arms of one quota, replica count and Go version form a group. Within it,
// trials of one block ran close in time, so that what a machine does slowly
// cancels in the difference of their logarithms; a block counts where both sides
// are valid. [Interval] is of an arm by itself; comparisons use only the
// differences (locate says how, and why so).
//
// Arms that ran at one number of Ps are copies of one setting: the unset arm and
// the numbered arm of the value that its default chose, and both trials of the
// A/A arm. Copies are averaged block by block and stand as one in the order of
// procs. Two cases have no place in that order: an unset arm whose value could
// not be read, which takes no part, and one that is proven to perform unlike the
// numbered arm of its value, which makes the verdict cannot_tell.
//
// One setting is as good as another when with 95 % confidence it is worse by no
// more than the margin; it is worse when with 95 % confidence it is so by more
// than the margin, and the estimate exceeds the noise floor. Else it is open. The
// floor thus bounds what is called worse, in each metric by its own, and not what
// is called as good: that rests on the paired interval alone, which is narrower
// than the floor where copies are averaged or the A/A pairs held an outlier.
//
//  1. T is the setting of the highest median throughput, and those below and
//     then above that are as good as it in throughput, up to the first failure.
//  2. A setting of T passes when it is not saturated and as good in p99 as every
//     other of T. Only open-loop latency is judged; without it all pass.
//  3. The smallest that passes is the candidate x. It is keep_default when unset
//     chose it. It is recommended when something is proven worse than it, and
//     the default is either proven worse or has more Ps and is matched by x.
//     Without that a change would be advised that nothing shows to matter.
//
// Before that: all settings proven as good as the best in both directions and
// metrics is not_your_knob, unless the load engine was the limit. A setting
// outside T whose p99 is proven better than that of x, by a ratio proven to
// exceed its loss of throughput, makes it a trade_off. And cannot_tell comes of:
// nothing passing; the noise floor above the margin while it is open whether some
// setting is to be preferred to x; nothing at all being proven.
//
// A noise floor above the margin thus does not silence what stands far above it:
// that one P is half as fast as two is worth saying on a noisy machine.
//
// With --rate none of this is asked. A setting carries the rate when its trials,
// of three blocks at least, achieved 99 % of it in open loop, and its closed loop
// (the low end of the interval) came to it too.
//
// Metrics that the program printed are compared at the setting that the verdict
// names: with the default, and with the best for each. One proven worse there, all
// looked at together at 95 %, qualifies the verdict and warns. Benchmarks that are
// alike on their average only, and apart by themselves, are cannot_tell.
//
// The arms of a gate's old command are listed in their group, after the others,
// and have no part in its verdict. A gate passes when each check had three pairs
// and none is worse, and the new program's trials are not invalid where the old
// one's are valid. Unless a check is worse, what falls short of that cannot be
// judged.
//
// A setting's figures in a sentence are the medians of the arm that names it, as
// in tables; what is said of two settings' difference is of all their copies.
//
// # What ran beside
//
// CPU that neither the target nor its load used is that of other programs. Below a
// tenth of the target's CPUs it is what runs on every machine. From there on an arm is
// withheld where its Ps within the quota (the CPUs at most), the load on these CPUs and
// the others together want more than the CPUs by a tenth, and 85 % of them were in use:
// then it had what the others left. It is not compared, and the kind of its work is not
// known; the others are judged without it, unless it is the default, against which a
// change is advised. The load withholds nothing by itself: that it shares the CPUs is
// said apart. Simulated with up to 7 % of a machine used by others, verdicts stay what
// they were (TestOthersOfEveryMachineWithholdNothing).
//
// Limits around the target are counted like the arm's own quota. The one advice on
// throttling follows the trials where they prove something: a lower value that is as
// good, or that lower ones are worse. Only else it follows the numbers: with more Ps
// than the limit has CPUs, fewer Ps; without, a wider limit. Journals of the first
// version know of no limits around; where the host had one, nothing is claimed.
//
// Trials of a group must agree in their unit, and in where they come from: a model's
// are never compared with measured ones.
//
// # Limits
//
// Throughput is better when higher: a Runner turns other figures round. Six
// blocks tell differences of about 5 % at a trial CV of 3 %, in p99 of 20 % at a
// CV of 11 %; the reasons say what remains open and how many blocks would do. A
// result holds for the CPUs and the quota that it names.
//
// Simulated with package stattest (six blocks, trial CV 3 %, p99 CV 25 %, drift
// 8 %, outliers in 2 % of trials), sweeps over equal arms claim a difference in
// fewer than 1 of 100; see TestEqualArms and TestPicks.
package stat
