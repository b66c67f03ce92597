// Package trial carries out one trial, wherever its target runs, and judges it.
//
// [Run] is the life of a trial: prepare, start, warm up, look, load or run, look, judge,
// stop. A [Place], this machine or a cluster, has the verbs that differ. A server's trial
// is a closed loop for throughput, then an open loop at the rate that all settings get,
// or the search for the highest rate within an objective; a batch program's is its runs.
//
// What the place saw is judged as a code with its reason and as coded warnings. A trial
// is invalid when the target ran at another GOMAXPROCS than asked, when too many requests
// failed or were never answered, when a replica stopped answering, or when a figure is
// missing that comparisons need. What could not be proven, such as the GOMAXPROCS of a
// program that cannot be read, is neither a match nor a fault: the trial stays valid and
// carries a warning.
package trial
