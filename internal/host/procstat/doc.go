// Package procstat reads the kernel's counters of processes and of the machine.
//
// A Span counts what a set of processes did between two moments, over all their
// threads: CPU time, context switches, the time that threads were runnable and
// waited for a CPU. CPU time comes from /proc/PID/stat, which counts exited
// threads too. The rest comes from taskstats (netlink), exited threads included,
// where that is allowed (CAP_NET_ADMIN, with some kernels in the initial network
// namespace only); elsewhere from /proc/PID/task/TID, where what a thread did
// between the last look at it and its exit is lost. /proc/PID/status and schedstat
// themselves are not used: they count the main thread alone.
//
// ParseStat is procfit's one reader of /proc/PID/stat: github.com/prometheus/procfs
// takes three times as long (23 µs and 30 allocations against 8 and 6, v0.23.0),
// which a scan of thousands of processes once a second would feel.
//
// Limits: CPU time has a resolution of 10 ms a process. Run-queue wait includes
// the time that a CFS quota kept threads off the CPU, so read it beside the
// cgroup's throttled time. A process that begins and ends between two looks is
// not seen. Needs Linux.
package procstat
