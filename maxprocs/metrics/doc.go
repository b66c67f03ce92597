// Package metrics exports GOMAXPROCS, the CPU limit behind it with the file that has it,
// and the throttling that follows.
//
// # Without a client library
//
// [Handler] and [Write] use the text format of Prometheus:
//
//	http.Handle("/metrics/procs", metrics.Handler())
//
// These are the metrics. Those about cgroups are missing if there is no cgroup:
//
//   - process_gomaxprocs: GOMAXPROCS now
//   - maxprocs_affinity_cpus: the CPUs that the process may run on
//   - maxprocs_limit_cpus{source}: the tightest CPU limit of all cgroups, and its file
//   - maxprocs_limits_unknown: how many limits could not be read, so that a tighter one
//     may exist
//   - maxprocs_cfs_periods_total, maxprocs_cfs_throttled_periods_total and
//     maxprocs_cfs_throttled_seconds_total, each {cgroup}: for each cgroup of the
//     process that has a limit. Other processes in the same cgroup count too.
//
// Only the first name starts with process_, the prefix of client_golang's own collector.
// Articles about GOMAXPROCS recommend an alert on this name, and that collector does not
// have it.
//
// # With a client library
//
// client_golang (go_sched_gomaxprocs_threads, from v1.20 on) and OpenTelemetry's runtime
// instrumentation (go.processor.limit) already export GOMAXPROCS. What they do not have
// is the limit, its file and the throttling: [Read] returns these as values, for a
// Collector or an observable instrument of a few lines. See the examples in test/client
// of the repository.
//
// # Limits
//
// Each scrape reads the files again, in 0.2 to 0.4 ms. The kernel sums throttled seconds
// over CPUs: four CPUs throttled for 10 ms are 0.04 s.
package metrics
