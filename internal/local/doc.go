// Package local is the sweep.Runner of this machine: it starts the target as an
// arm says, inside its cgroup and affinity, offers the load, and comes back with
// a trial that says at which GOMAXPROCS the target really ran, what the kernel
// counted, and who was the bottleneck.
//
// A server's trial is warm-up, closed loop, open loop. The kernel's counters span
// the closed loop alone: there the target has all the work that it can take, so
// that CPU use, switches and throttling compare across arms, and in the open loop
// they would not. A batch program's trial is one run of it, counted from exec to
// exit.
package local
