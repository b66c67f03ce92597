// Package canary compares settings of GOMAXPROCS under the traffic that a Service gets
// anyway: a few pods of ours stand in it beside the user's, each with one setting, and
// one of them, the control, as the user's are, but as fresh as the rest.
//
// [Divide] says how many pods that may be, and whether all settings stand there at once
// or some after others, each time beside a control. A [Run] has a [Place] make them,
// counts by slices of time, and ends at the first harm. The journal is that of any sweep: a
// slice is a block, with a trial of each setting. [Analyze] makes a [Result] of that: it
// compares every setting with the control of the same slice, so that what the traffic does
// falls on both in the same way.
//
// Connections that clients keep do not move to new pods. While no request has come to any
// of them, by their requests or their CPU time, the canary says so after [ToldAfter] slices, and
// ends the run after half of a round: there is nothing to compare.
//
// A query that is above the control's ends it by a test that may be looked at after every
// slice: simulated, equal pods end one canary in 100 at most.
//
// What it does not cover: traffic that is spread unevenly, as over connections that
// clients keep for hours (the requests of each setting tell it), and what a pod's place
// does; the pods of a run therefore share a node. A run that ended is not resumed: its pods
// and its traffic were of another hour.
package canary
