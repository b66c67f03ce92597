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

// render is the reading as text.
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
		gauge("maxprocs_limit_cpus", "Tightest CPU limit of the process's cgroups, in CPUs.", r.Limit, "source", r.File)
	}
	gauge("maxprocs_limits_unknown", "CPU limits, or ways to them, that could not be read.", float64(len(r.Unknown)))

	counter := func(name, help string, value func(Group) float64) {
		for i, g := range r.Groups {
			if i == 0 {
				family(&b, name, "counter", help)
			}
			sample(&b, name, value(g), "cgroup", g.Dir)
		}
	}
	counter("maxprocs_cfs_periods_total", "Periods in which the group wanted to run.", func(g Group) float64 { return float64(g.Periods) })
	counter("maxprocs_cfs_throttled_periods_total", "Periods in which the group was held back.", func(g Group) float64 { return float64(g.ThrottledPeriods) })
	counter("maxprocs_cfs_throttled_seconds_total", "Time that the group was held back, summed over CPUs.", func(g Group) float64 { return g.Throttled.Seconds() })
	return b.Bytes()
}

func family(b *bytes.Buffer, name, kind, help string) {
	b.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// sample writes a line; the format escapes backslash, quote and newline in a
// label.
func sample(b *bytes.Buffer, name string, value float64, labels ...string) {
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteString("{" + labels[i] + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"}`)
	}
	b.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// Reading is what is known of this process at one time.
type Reading struct {
	Procs    int      // GOMAXPROCS
	Affinity int      // CPUs that the process may run on; 0: not known
	Limit    float64  // the tightest CPU limit of all groups, in CPUs; 0: none is known
	File     string   // where that is written
	Unknown  []string // what could not be read, so that Limit may not be the tightest
	Groups   []Group  // with a limit, from the process's own upwards
}

// Group is a cgroup with a CPU limit, and how that has held it back since the group
// was made. Every process in the group and below it counts.
type Group struct {
	Dir  string
	CPUs float64
	facts.Throttling
}

// Read looks at this process, in 0.2 to 0.4 ms.
func Read() Reading { return reading(runtime.GOMAXPROCS(0), facts.Read()) }

// reading leaves out the throttling that cannot be read: kernels without quotas
// count none.
func reading(procs int, f facts.Facts) Reading {
	r := Reading{Procs: procs, Affinity: f.AffinityCPUs(), Unknown: f.Unknown()}
	if l, ok := f.Tightest(); ok {
		r.Limit, r.File = l.CPUs, l.File
	}
	for _, l := range f.Limits {
		if l.State != facts.Known {
			continue // without a limit nothing is counted
		}
		if t, err := l.Throttling(); err == nil {
			r.Groups = append(r.Groups, Group{Dir: l.Dir, CPUs: l.CPUs, Throttling: t})
		}
	}
	return r
}
