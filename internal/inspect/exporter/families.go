package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/procfit/procfit/internal/program/observe"
)

// family is one metric that is exported.
type family struct {
	Name   string
	Help   string
	Labels []string
	Type   string // gauge, counter, histogram

	desc  *prometheus.Desc
	value prometheus.ValueType
}

func newFamily(kind, name, help string, labels ...string) family {
	f := family{Name: "procfit_" + name, Help: help, Labels: labels, Type: kind, value: prometheus.GaugeValue}
	if kind == "counter" {
		f.value = prometheus.CounterValue
	}
	f.desc = prometheus.NewDesc(f.Name, help, labels, nil)
	return f
}

// process is a metric of each process.
func process(kind, name, help string, labels ...string) family {
	return newFamily(kind, "process_"+name, help, append([]string{"pid", "name"}, labels...)...)
}

// metric is a sample; labels that are no valid UTF-8 have become so before.
func (f family) metric(value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(f.desc, f.value, value, labels...)
}

var (
	info         = process("gauge", "info", "A Go process: its release, where its GOMAXPROCS comes from, how that is known, GOMAXPROCS itself, its cgroup, and in Kubernetes its container. Always 1.", "go_version", "set_by", "procs_source", "gomaxprocs", "cgroup", "namespace", "pod", "container")
	gomaxprocs   = process("gauge", "gomaxprocs", "GOMAXPROCS, the number of Ps.")
	recommended  = process("gauge", "gomaxprocs_recommended", "GOMAXPROCS that fits the CPUs of the process, by all limits and the affinity.")
	numCPU       = process("gauge", "num_cpu", "CPUs that its runtime counted when it started (runtime.NumCPU).")
	affinityCPUs = process("gauge", "affinity_cpus", "CPUs that the process may run on, limits aside.")
	limitCPUs    = process("gauge", "limit_cpus", "Tightest CPU limit of all groups of the process, and the group.", "cgroup")
	threads      = process("gauge", "threads", "Threads of the process.")
	cpuSeconds   = process("counter", "cpu_seconds_total", "CPU time of the process, user and system.")
	switches     = process("counter", "context_switches_total", "Context switches of all its threads: voluntary when a thread blocks, involuntary when it is put off the CPU.", "kind")
	waitSeconds  = process("counter", "run_queue_wait_seconds_total", "Time that its threads could run and waited for a CPU, summed over threads; includes being throttled.")
	periods      = process("counter", "cgroup_periods_total", "Periods in which a group with a limit, which the process is in, wanted to run.", "cgroup")
	throttled    = process("counter", "cgroup_throttled_periods_total", "Periods in which the quota of the group ran out.", "cgroup")
	throttledSec = process("counter", "cgroup_throttled_seconds_total", "Time that the group was held back, summed over CPUs.", "cgroup")
	schedLatency = process("histogram", "sched_latency_seconds", "How long goroutines that could run waited to, as the runtime samples it: one in about 8.")
	findings     = process("gauge", "findings", "A rule that fires on the process; procfit explain RULE tells of it. Always 1.", "rule", "severity")

	buildInfo    = newFamily("gauge", "exporter_build_info", "The version of the exporter. Always 1.", "version", "go_version")
	scanDuration = newFamily("gauge", "exporter_scan_duration_seconds", "How long the scan took that these metrics are of.")
	scans        = newFamily("counter", "exporter_scans_total", "Scans, by their result: ok or failed.", "result")
	processes    = newFamily("gauge", "exporter_processes", "Go processes that the scan saw.")
	others       = newFamily("gauge", "exporter_processes_other", "Processes that are no Go programs.")
	unreadable   = newFamily("gauge", "exporter_processes_unreadable", "Processes of which it is not known whether they are Go's, by the reason: permission, damaged, time (the scan had none left for them) or other.", "reason")
	inferred     = newFamily("gauge", "exporter_processes_memory_unreadable", "Go processes whose memory could not be read; their GOMAXPROCS is inferred or missing.")
	dropped      = newFamily("gauge", "exporter_processes_dropped", "Go processes left out since there are more than --max-processes.")
	filtered     = newFamily("gauge", "exporter_processes_filtered", "Go processes left out by --name.")
	counterInfo  = newFamily("gauge", "exporter_counters_info", "Where context switches and run-queue wait come from: taskstats, complete; or tasks, thread by thread, without what threads did just before their end. Always 1.", "source")
)

// gauges are the metrics whose value is a column's.
var gauges = []struct {
	column string
	family family
}{{"procs", gomaxprocs}, {"fit", recommended}, {"numcpu", numCPU}, {"limit", limitCPUs}, {"threads", threads}}

// families returns all that is exported, beside what the Prometheus client
// itself says of the exporter's process.
func families() []family {
	return []family{
		info, gomaxprocs, recommended, numCPU, affinityCPUs, limitCPUs, threads,
		cpuSeconds, switches, waitSeconds, periods, throttled, throttledSec, schedLatency, findings,
		buildInfo, scanDuration, scans, processes, others, unreadable, inferred, dropped, filtered, counterInfo,
	}
}

// forgetAfter is how long a process that is not seen keeps its counters, for the
// case that it comes back: one that could not be read for a moment.
const forgetAfter = 5 * time.Minute

// sums are the counters of one process as they are exported. They never fall.
type sums struct {
	CPU, Wait              time.Duration
	Voluntary, Involuntary int64

	Counted bool // by this scan: Wait and the switches are known
	seen    time.Time
}

// counters keeps the sums of all processes between scans.
type counters map[observe.Identity]*sums

// add counts what a scan saw of a process, once a scan.
func (c counters) add(p observe.Process, source observe.Source, at time.Time) sums {
	id := p.Identity()
	s := c[id]
	if s == nil {
		s = new(sums)
		c[id] = s
	}
	before := *s
	s.seen, s.Counted = at, p.Total.Counted
	s.CPU = max(s.CPU, p.Total.CPU)
	switch {
	case !p.Total.Counted:
	case source != observe.Taskstats && p.Recent != nil && before.Counted:
		s.Wait += p.Recent.RunQueueWait
		s.Voluntary += p.Recent.Voluntary
		s.Involuntary += p.Recent.Involuntary
	default:
		// The kernel's sum can be above the truth for an instant, while a thread
		// ends (kernel/taskstats.c counts it twice), and fall again.
		s.Wait = max(s.Wait, p.Total.RunQueueWait)
		s.Voluntary = max(s.Voluntary, p.Total.Voluntary)
		s.Involuntary = max(s.Involuntary, p.Total.Involuntary)
	}
	return *s
}

// forget drops the processes that have not been seen for long.
func (c counters) forget(now time.Time) {
	for id, s := range c {
		if now.Sub(s.seen) > forgetAfter {
			delete(c, id)
		}
	}
}
