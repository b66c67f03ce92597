// Package facts finds out how many CPUs a Go program may use and which GOMAXPROCS follows
// from that, with every reason.
//
// # Model
//
// Observing and deciding are separate. [Read], [ReadPID] and [ReadFS] read [Facts]: the CPUs in the affinity mask, the online CPUs, every CPU limit
// from the program's own cgroup to the root of its hierarchy, and the
// environment, each as a [Fact] with its file and the raw text. [Decide] turns Facts into
// a [Decision] by a [Policy] and changes nothing: [Go] does what the runtime of a given
// version does, [Automaxprocs] and [JVM] do what these do, and [Fit] is the policy of
// package maxprocs.
//
// Known, no limit, absent, unreadable and malformed are five different states. A limit
// that could not be read is not the same as no limit: [Facts.Unknown] lists what is
// missing, and a Decision repeats it.
//
// # Cgroups
//
// The cpu controller is in one hierarchy: the v1 hierarchy that names it in
// /proc/PID/cgroup, or else the v2 hierarchy. The package finds the mount of that
// hierarchy in mountinfo and reads the limit of each cgroup between the process and the
// root of the mount: cpu.max on v2, cpu.cfs_quota_us and cpu.cfs_period_us on v1. The
// kernel enforces all of them, so the tightest one decides.
//
// # Memory
//
// [ReadMemory], [ReadMemoryFS] and a Reader read [Memory] in the same way: the limits of
// the memory controller, for package memlimit.
//
// # Limits
//
//   - Parent cgroups outside a container's cgroup namespace or bind mount cannot be
//     seen from inside it; see Cgroup.RootSeen.
//   - Another process is read through the reader's mounts and cgroup namespace; its
//     own mounts may show less.
//   - The affinity is the current one. The runtime read its own when the program
//     started.
//   - CPU shares and weights are not limits and are not read.
//   - Outside Linux, the affinity is runtime.NumCPU and there are no cgroups.
package facts
