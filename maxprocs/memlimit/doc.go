// Package memlimit sets GOMEMLIMIT to match the memory limits of the program's cgroups:
// [Set] once, and [Start] also when they change, as importing package auto does.
//
// # Model
//
// The limit is the tightest of all cgroups from the program's own to the root, as package
// facts reads them: memory.max and memory.high on cgroup v2, memory.limit_in_bytes and
// the lowest limit of all parent cgroups on v1. [Decide] takes a share of it, 90% by
// default, and gives every reason; it changes nothing itself. A valid GOMEMLIMIT in the
// environment is kept.
//
// GOMEMLIMIT is a soft limit on the memory that the Go runtime manages. The remaining 10%
// are for what the runtime does not know: memory of C libraries, mapped files, thread
// stacks of the system, kernel buffers of the cgroup, and other processes in it.
//
// # Limits
//
//   - A limit that cannot be read or is not valid is reported as an error. The known
//     limits may then lower GOMEMLIMIT, but never raise it.
//   - Without any limit nothing changes, because the program shares the memory of the
//     machine with others.
//   - If the live heap exceeds the limit, the runtime collects continuously, but uses at
//     most half of the CPU time for this. The kernel still kills the program above its
//     own limit.
//   - Set does not follow later changes of the limit; Start does. A check takes 0.2 to
//     0.4 ms, every ten seconds.
//   - Outside Linux there are no limits, and nothing changes.
package memlimit
