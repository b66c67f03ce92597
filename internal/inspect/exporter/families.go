package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
)

type family struct {
	Name   string
	Help   string
	Labels []string
	Type   string // gauge, counter, histogram

	desc  *prometheus.Desc
	value prometheus.ValueType
}

// families are all metrics, except those that the Prometheus client adds about the
// exporter itself. They are not changed after the start.
var families []family

// newFamily makes one of families.
func newFamily(kind, name, help string, labels ...string) family {
	f := family{Name: "procfit_" + name, Help: help, Labels: labels, Type: kind, value: prometheus.GaugeValue}
	if kind == "counter" {
		f.value = prometheus.CounterValue
	}
	f.desc = prometheus.NewDesc(f.Name, help, labels, nil)
	families = append(families, f)
	return f
}

func process(kind, name, help string, labels ...string) family {
	return newFamily(kind, "process_"+name, help, append([]string{"pid", "name"}, labels...)...)
}

// metric is a sample. Its labels must be valid UTF-8.
func (f family) metric(value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(f.desc, f.value, value, labels...)
}

var (
	info         = process("gauge", "info", "A Go process: its Go version, what set GOMAXPROCS, how procfit found the value, the value itself, its cgroup and, in Kubernetes, its container. Always 1.", "go_version", "set_by", "procs_source", "gomaxprocs", "cgroup", "namespace", "pod", "container")
	gomaxprocs   = process("gauge", "gomaxprocs", "GOMAXPROCS that the process uses.")
	recommended  = process("gauge", "gomaxprocs_recommended", "GOMAXPROCS that the process should use: from all its CPU limits and its affinity, or the expected value while that holds. A good value that the process uses is kept. Missing if a limit could not be read, unless the process uses more than the others allow.")
	expectedPs   = process("gauge", "gomaxprocs_expected", "GOMAXPROCS that a measurement decided and that is kept with the program. Missing if none is kept.")
	numCPU       = process("gauge", "num_cpu", "CPUs that the runtime of the process counted at its start (runtime.NumCPU).")
	affinityCPUs = process("gauge", "affinity_cpus", "CPUs that the process may run on, without its CPU limits.")
	limitCPUs    = process("gauge", "limit_cpus", "Tightest CPU limit of the cgroup of the process and its parent cgroups, in CPUs, and the cgroup that has it.", "cgroup")
	threads      = process("gauge", "threads", "Threads of the process.")
	cpuSeconds   = process("counter", "cpu_seconds_total", "CPU time of the process, user and system.")
	switches     = process("counter", "context_switches_total", "Context switches of all threads of the process: voluntary if a thread blocks, involuntary if the kernel takes the CPU away.", "kind")
	waitSeconds  = process("counter", "run_queue_wait_seconds_total", "Time that runnable threads of the process waited for a CPU, summed over threads, including the time spent throttled.")
	faultHeld    = process("gauge", "fault_held_ps", "Ps of the process that waited for the disk in page faults, on average since the previous scan, or over the first minute after it.")
	majorFaults  = process("counter", "major_faults_total", "Page faults of the process that read from a disk.")
	periods      = process("counter", "cgroup_periods_total", "Periods in which a cgroup of the process that has a CPU limit wanted to run.", "cgroup")
	throttled    = process("counter", "cgroup_throttled_periods_total", "Periods in which the cgroup was throttled.", "cgroup")
	throttledSec = process("counter", "cgroup_throttled_seconds_total", "Time that the cgroup was throttled, summed over CPUs.", "cgroup")
	limitBurst   = process("gauge", "limit_burst_cpus", "CPU time that the tightest CPU limit saves up from periods that do not use it (cpu.max.burst), in CPUs of one period. 0: none.", "cgroup")
	bursts       = process("counter", "cgroup_bursts_total", "Periods in which the cgroup used more than its quota, from its burst.", "cgroup")
	burstSec     = process("counter", "cgroup_burst_seconds_total", "CPU time above the quota that the cgroup used from its burst.", "cgroup")
	schedLatency = process("histogram", "sched_latency_seconds", "How long runnable goroutines waited to run. The runtime samples about one in 8.")
	findings     = process("gauge", "findings", "A rule that matches the process; procfit explain RULE describes it. Always 1.", "rule", "severity")

	buildInfo    = newFamily("gauge", "exporter_build_info", "The version of the exporter. Always 1.", "version", "go_version")
	scanDuration = newFamily("gauge", "exporter_scan_duration_seconds", "Duration of the scan that these metrics come from.")
	scans        = newFamily("counter", "exporter_scans_total", "Scans by result: ok or failed.", "result")
	processes    = newFamily("gauge", "exporter_processes", "Go processes that the scan found.")
	others       = newFamily("gauge", "exporter_processes_other", "Processes that are not Go programs.")
	unreadable   = newFamily("gauge", "exporter_processes_unreadable", "Processes that could not be read, Go programs or not, by reason: permission, damaged, time (the scan ran out of time, or a file system does not answer) or other.", "reason")
	inferred     = newFamily("gauge", "exporter_processes_memory_unreadable", "Go processes whose memory could not be read; their GOMAXPROCS is inferred or missing.")
	dropped      = newFamily("gauge", "exporter_processes_dropped", "Go processes that are not exported because there are more than --max-processes.")
	filtered     = newFamily("gauge", "exporter_processes_filtered", "Go processes that are not exported because of --name.")
	counterInfo  = newFamily("gauge", "exporter_counters_info", "Source of context switches and run-queue wait: taskstats (complete) or tasks (each thread, without what threads did just before they ended). Always 1.", "source")
)

// gauges are the metrics that have the value of a column.
var gauges = []struct {
	column string
	family family
}{{"procs", gomaxprocs}, {inspect.Recommended, recommended}, {inspect.Expected, expectedPs}, {"numcpu", numCPU}, {"limit", limitCPUs}, {"threads", threads}, {"fault_held_ps", faultHeld}}

// forgetAfter is how long the counters of a process are kept while it is not seen, in case
// it could not be read for a moment.
const forgetAfter = 5 * time.Minute

// sums are the exported counters of one process. They never fall.
type sums struct {
	CPU, Wait              time.Duration
	Voluntary, Involuntary int64
	MajorFaults            int64

	Counted bool // by this scan: Wait and the switches are known
	seen    time.Time
}

type counters map[observe.Identity]*sums

// add adds what a scan saw of a process. Call it once per scan.
func (c counters) add(p observe.Process, source observe.Source, at time.Time) sums {
	id := p.Identity()
	s := c[id]
	if s == nil {
		s = new(sums)
		c[id] = s
	}
	before := *s
	s.seen, s.Counted = at, p.Total.Counted
	s.CPU, s.MajorFaults = max(s.CPU, p.Total.CPU), max(s.MajorFaults, p.Total.MajorFaults)
	switch {
	case !p.Total.Counted:
	case source != observe.Taskstats && p.Recent != nil && p.Recent.Span != p.Total.Span && before.Counted:
		// If the previous scan did not see the process, Recent is its whole life, which
		// must not be added again.
		s.Wait += p.Recent.RunQueueWait
		s.Voluntary += p.Recent.Voluntary
		s.Involuntary += p.Recent.Involuntary
	default:
		// The kernel's sum can be too high for a moment, while a thread ends
		// (kernel/taskstats.c counts it twice), and fall again.
		s.Wait = max(s.Wait, p.Total.RunQueueWait)
		s.Voluntary = max(s.Voluntary, p.Total.Voluntary)
		s.Involuntary = max(s.Involuntary, p.Total.Involuntary)
	}
	return *s
}

func (c counters) forget(now time.Time) {
	for id, s := range c {
		if now.Sub(s.seen) > forgetAfter {
			delete(c, id)
		}
	}
}
