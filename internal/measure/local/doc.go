// Package local is the plan.Runner of this machine: it starts the target as an
// setting says, inside its cgroup and affinity, offers the load, and gathers what
// package trial judges: at which GOMAXPROCS the target really ran, what the kernel
// counted, and who was the bottleneck.
//
// A server's trial is warm-up, closed loop, open loop. The kernel's counters are
// kept for each loop; those of the closed loop stand for the trial, since there the
// target has all the work that it can take, so that CPU use, switches and throttling
// compare across settings. They are read before the measured time begins, while the
// same load settles for a moment, so that the reading is in no latency.
//
// A batch program's trial is its runs, one after the other until their time is used,
// each counted from exec to exit.
package local
