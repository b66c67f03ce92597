// Package contest compares the settings of a journal. A Contest is the trials of one
// group, whose settings can be compared with each other, under one set of rules. The
// planner asks it what to measure next, and the verdict what came out: there is one
// constructor, so that a sweep cannot stop measuring what its verdict still compares.
//
// A contest counts values of GOMAXPROCS. A trial without one is a trial of the value that
// most of them ran at; before any ran, of the value that the runtime will choose. It
// takes no part where that value cannot be read, or where it is proven to perform
// unlike the number by more than the margin. A setting that other programs left too few
// CPUs takes no part either. What a contest decides, package race decides from its
// trials.
//
// A gate compares two programs at one setting: it is a Duel, and in no Contest.
package contest
