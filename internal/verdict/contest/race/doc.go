// Package race decides which value of GOMAXPROCS to measure next, and what the trials
// so far prove. It is pure: the same rules and trials give the same block and the same
// assessment, so that a run that was interrupted goes on as if it had not been. It has
// no sentences.
//
// # The model
//
// The logarithms of throughput and of p99 are fitted apart (fit): a trial is its value's
// level, plus the machine's state in its block, plus noise. Blocks are a walk, whose step
// is not known: fits at seven steps are averaged by their likelihood. Where blocks ran on
// several nodes each node has a walk of its own, and its level is free. So a block of three
// is compared with its neighbours in time as far as the machine is steady, and within
// itself alone where it is not. A trial far from its place counts only as far as Huber's
// bound; each value has a spread of its own, drawn to that of all. Bounds are Student's
// t with all residuals' degrees of freedom: no copies are run for the noise. A saturated
// trial has no p99; a failed one counts for nothing.
//
// # Proven, likely
//
// A value is out when its throughput is proven worse than the highest, by more than the
// margin, at 99.5%, or is below 45% of it. The others are rivals. A value is proven
// when it is no worse than each rival, in throughput and in p99, by a one-sided bound of
// 95% each: all must hold, so that they need no correction for their number
// (intersection-union; Berger, 1982). It is likely when, by models in which rivals are
// pooled (of throughput in rivals, of p99 in curve), it is wrong by throughput with 3%
// and by p99 with 10% at most. The smallest proven value is named, or a likely one that
// has fewer than four fifths of its Ps.
//
// Of a difference a level says Slower or Later only by a bound that counts all values.
//
// # The next block
//
// First come all of a few values, else the powers of two. Then each value's proof is
// priced in trials (outlook), and the front is where that, and the Ps, cost least. Below
// it a value is measured that may still be good (edge), beside the peak one that may be
// higher (beside). A block has the front, such a value, and the rivals that lack most of
// what the proof asks. It ends when the front is proven twice in a row, when nothing
// can be proven with the trials left and something is likely, or with the trials. A
// race until likely uses the pooled chances in place of prices. The default runs as unset
// and as its number in turn; where these are proven apart nothing is named.
//
// # What it does not cover
//
// Only values that were measured are proven against. Between them stand that throughput
// grows at most in proportion, and the look beside the peak: a peak narrower than that is
// missed, and so is a p99 that is good at a few values between two bad ones. A proof is
// looked at after each block, which adds to its error at the very margin.
// docs/VERDICT.md has what simulations show, and package racetest makes them.
package race
