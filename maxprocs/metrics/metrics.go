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
//   - maxprocs_cfs_bursts_total and maxprocs_cfs_burst_seconds_total, each {cgroup}: what
//     a burst of the limit (cpu.max.burst) allowed above it
//
// Only the first name starts with process_, the prefix of client_golang's own collector.
// Articles about GOMAXPROCS recommend an alert on this name, and that collector does not
// have it.
//
// # With a client library
//
// client_golang (go_sched_gomaxprocs_threads, from v1.20 on) and OpenTelemetry's runtime
// instrumentation (go.processor.limit) already export GOMAXPROCS. What they do not have
// is the affinity, the limit, its file and the throttling: [Read] returns these as values,
// for a Collector or an observable instrument of a few lines. See the examples in test/client
// of the repository.
//
// # Limits
//
// Each scrape reads the files again, in 0.2 to 0.4 ms. The kernel sums throttled seconds
// over CPUs: four CPUs throttled for 10 ms are 0.04 s.
package metrics

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

// Handler answers each request with the metrics of this process.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		Write(w)
	})
}

// Write writes the metrics of this process.
func Write(w io.Writer) error {
	_, err := w.Write(render(Read()))
	return err
}

func render(r Reading) []byte {
	var b bytes.Buffer
	gauge := func(name, help string, value float64, labels ...string) {
		family(&b, name, "gauge", help)
		sample(&b, name, value, labels...)
	}
	gauge("process_gomaxprocs", "GOMAXPROCS of the Go runtime.", float64(r.Procs))
	if r.Affinity > 0 {
		gauge("maxprocs_affinity_cpus", "CPUs that the process may run on.", float64(r.Affinity))
	}
	if r.Limit > 0 {
		gauge("maxprocs_limit_cpus", "Tightest CPU limit of the cgroup of the process and its parent cgroups, in CPUs.", r.Limit, "source", r.File)
	}
	gauge("maxprocs_limits_unknown", "CPU limits that could not be read or found.", float64(len(r.Unknown)))

	counter := func(name, help string, value func(Group) float64) {
		for i, g := range r.Groups {
			if i == 0 {
				family(&b, name, "counter", help)
			}
			sample(&b, name, value(g), "cgroup", g.Dir)
		}
	}
	counter("maxprocs_cfs_periods_total", "Periods in which the cgroup wanted to run.", func(g Group) float64 { return float64(g.Periods) })
	counter("maxprocs_cfs_throttled_periods_total", "Periods in which the cgroup was throttled.", func(g Group) float64 { return float64(g.ThrottledPeriods) })
	counter("maxprocs_cfs_throttled_seconds_total", "Time that the cgroup was throttled, summed over CPUs.", func(g Group) float64 { return g.Throttled.Seconds() })
	counter("maxprocs_cfs_bursts_total", "Periods in which the cgroup used more than its limit, by a burst.", func(g Group) float64 { return float64(g.Bursts) })
	counter("maxprocs_cfs_burst_seconds_total", "CPU time that the cgroup used above its limit, by a burst.", func(g Group) float64 { return g.Burst.Seconds() })
	return b.Bytes()
}

func family(b *bytes.Buffer, name, kind, help string) {
	b.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// sample writes a line. The format escapes backslash, quote and newline in a label.
func sample(b *bytes.Buffer, name string, value float64, labels ...string) {
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteString("{" + labels[i] + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"}`)
	}
	b.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// Reading is what is known about this process at one time.
type Reading struct {
	Procs    int      // GOMAXPROCS
	Affinity int      // CPUs that the process may run on; 0: not known
	Limit    float64  // the tightest CPU limit of all cgroups, in CPUs; 0: none is known
	File     string   // the file of that limit
	Unknown  []string // what could not be read, so that a tighter limit may exist
	Groups   []Group  // the cgroups with a limit, from the process's own upwards
}

// Group is a cgroup with a CPU limit, and its throttling since it was created. Every
// process in the cgroup and below it counts.
type Group struct {
	Dir  string
	CPUs float64
	facts.Throttling
}

// Read reads the values of this process, in 0.2 to 0.4 ms.
func Read() Reading { return reading(runtime.GOMAXPROCS(0), facts.Read()) }

// reading omits the throttling that cannot be read: some kernels do not count it.
func reading(procs int, f facts.Facts) Reading {
	r := Reading{Procs: procs, Affinity: f.AffinityCPUs(), Unknown: f.Unknown()}
	if l, ok := f.Tightest(); ok {
		r.Limit, r.File = l.CPUs, l.File
	}
	for _, l := range f.Limits {
		if l.State != facts.Known {
			continue // the kernel counts only with a limit
		}
		if t, err := l.Throttling(); err == nil {
			r.Groups = append(r.Groups, Group{Dir: l.Dir, CPUs: l.CPUs, Throttling: t})
		}
	}
	return r
}
