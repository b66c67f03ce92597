// Package memlimit makes GOMEMLIMIT fit the memory limits of the program's
// cgroups: [Set] once, [Start] also when they change, as the import of package auto
// does.
//
// # Model
//
// The limit is the tightest of all groups from the program's own up to the root,
// as package facts reads them: memory.max and memory.high on cgroup v2,
// memory.limit_in_bytes and the least limit of all groups above on v1. [Decide]
// takes a share of it, nine tenths unless an option says otherwise, and tells
// every reason; it touches nothing. A valid GOMEMLIMIT in the environment is left
// in force.
//
// GOMEMLIMIT is a soft limit of the memory that the Go runtime manages. What it
// does not know of needs the rest: memory of C libraries, mapped files, thread
// stacks of the system, the kernel's buffers for the group, other processes in it.
//
// # Limits
//
//   - A limit that cannot be read or understood is reported as an error. What
//     else is known may then lower GOMEMLIMIT, and never raises it.
//   - Without any limit nothing is changed: the machine's memory is shared with
//     others, and none of it is the program's own.
//   - A live heap beyond the limit makes the runtime collect without end; it bounds
//     that to half of the CPU time. The kernel still kills beyond its own limit.
//   - Set follows no later change of the limit; Start does. A look takes 0.2 to
//     0.4 ms, every ten seconds.
//   - Outside Linux there are no limits to be found, and nothing is changed.
package memlimit
