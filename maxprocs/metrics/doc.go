// Package metrics shows GOMAXPROCS, the CPU limit behind it with the file that
// holds it, and the throttling that follows.
//
// # Without a client library
//
// [Handler] and [Write] speak Prometheus' text format:
//
//	http.Handle("/metrics/procs", metrics.Handler())
//
// The metrics, those of cgroups left out where there is none:
//
//   - process_gomaxprocs: GOMAXPROCS now
//   - maxprocs_affinity_cpus: the CPUs that the process may run on
//   - maxprocs_limit_cpus{source}: the tightest CPU limit of all groups, and the
//     file that holds it
//   - maxprocs_limits_unknown: how many limits could not be read, so that the one
//     shown may not be the tightest
//   - maxprocs_cfs_periods_total, maxprocs_cfs_throttled_periods_total and
//     maxprocs_cfs_throttled_seconds_total, each {cgroup}: of each group with a
//     limit that the process is in. Others in the same group count too.
//
// Only the first name begins with process_, which is the prefix of client_golang's
// own collector: it is the one that writings about GOMAXPROCS tell people to alert
// on, and that collector has none of this name.
//
// # With a client library
//
// client_golang (go_sched_gomaxprocs_threads, from v1.20 on) and OpenTelemetry's
// runtime instrumentation (go.processor.limit) export GOMAXPROCS by themselves, and
// it is left to them. What they have not is the limit, its file and the throttling:
// [Read] gives them as values, for a Collector or an observable instrument of a few
// lines. The examples of both are in test/client of the repository.
//
// # Limits
//
// Each scrape reads the files anew, in 0.2 to 0.4 ms. Throttled seconds are
// summed over CPUs by the kernel: four CPUs held back for 10 ms are 0.04 s.
package metrics
