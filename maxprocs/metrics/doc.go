// Package metrics shows GOMAXPROCS, the CPU limit behind it and the throttling
// that follows, in Prometheus' text format and without its client library.
//
//	http.Handle("/metrics/procs", metrics.Handler())
//
// The metrics, those of cgroups left out where there is none:
//
//   - process_gomaxprocs: GOMAXPROCS now
//   - process_cpu_affinity_cpus: the CPUs that the process may run on
//   - process_cpu_limit_cpus{source}: the tightest CPU limit of all groups, and
//     the file that holds it
//   - process_cpu_limits_unknown: how many limits could not be read, so that the
//     one shown may not be the tightest
//   - process_cpu_periods_total, process_cpu_throttled_periods_total and
//     process_cpu_throttled_seconds_total, each {cgroup}: of each group with a
//     limit that the process is in. Others in the same group count too.
//
// # Limits
//
// Each scrape reads the files anew, in 0.2 to 0.4 ms. Throttled seconds are
// summed over CPUs by the kernel: four CPUs held back for 10 ms are 0.04 s.
package metrics
