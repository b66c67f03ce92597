// Package aa measures one setting under two names, for real, again and again, and
// counts how often a sweep says that they differ: a claim that can only be false. The
// plan, the trials and the verdict are those of any sweep; only the Runner is told 2
// where the plan says 1. A second count, of the same names at their own values, shows
// that the sweep would have seen a difference.
//
// TestAgain sweeps real servers next to other work, and measures again what the values that
// the sweeps named lose on a quiet machine.
//
// It takes an hour, so it is run by hand, in the background of .ci/full, and continues
// where it was stopped.
package aa
