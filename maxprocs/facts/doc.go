// Package facts says how many CPUs a Go program may use, and which GOMAXPROCS
// follows from that, with every reason.
//
// # Model
//
// Observing and deciding are separate. [Read], [ReadPID] and [ReadFS] gather
// [Facts]: the CPUs in the affinity mask, the online CPUs, every CPU limit
// from the program's own cgroup to the root of its hierarchy, and the
// environment, each a [Fact] with the file it was read in and the raw text.
// [Decide] turns Facts into a [Decision] by a [Policy] and touches nothing:
// [Go] does what the runtime of a given version does, [Automaxprocs] and [JVM]
// what those do, [Fit] is what package maxprocs applies.
//
// Known, no limit, absent, unreadable and malformed are five different states.
// A limit that could not be read is never taken for none: [Facts.Unknown]
// lists what is missing, and a Decision repeats it.
//
// # Cgroups
//
// The cpu controller lives in one hierarchy: the v1 hierarchy that names it in
// /proc/PID/cgroup, else the v2 hierarchy. That hierarchy's mount is looked up
// in mountinfo, and the limit of each group between the process and the
// mount's root is read: cpu.max on v2, cpu.cfs_quota_us and cpu.cfs_period_us
// on v1. The kernel enforces them all, so the tightest counts.
//
// # Memory
//
// [ReadMemory], [ReadMemoryFS] and a Reader gather [Memory] in the same way: the
// limits of the memory controller's groups, for package memlimit.
//
// # Limits
//
//   - Groups above a container's cgroup namespace or bind mount cannot be
//     seen from inside it. Cgroup.RootSeen tells.
//   - Another process is seen through the reader's mounts and cgroup
//     namespace; from inside, its mounts may show less.
//   - The affinity is the present one of the process's main thread. The
//     runtime took its number when the program started.
//   - CPU shares and weights are no limits and are not read.
//   - Outside Linux, the affinity is runtime.NumCPU and there are no cgroups.
package facts
