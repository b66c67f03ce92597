package lab

import (
	"fmt"
	"go/version"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/journal"
)

// Of names one figure of one arm of a stage. The zero value is the throughput of
// the unset arm, without a quota, of the only stage.
type Of struct {
	Stage  string
	Figure Figure
	Procs  int     // 0: unset; AtCPUs
	Quota  float64 // 0: none
	// Go is the version as it was asked for: "1.4"; "1.4.3" is one of it. Empty is
	// today's: procfit's own where no versions were asked for, else the newest that
	// has a valid trial, unless that is older than procfit's own.
	Go string
}

// AtCPUs, as Of.Procs, is the numbered arm of the CPUs that a replica may use,
// rounded up.
const AtCPUs = -1

// Figure is what to take of a trial: one of those below, or the name of a metric
// that the program printed: "Chain ns/op".
type Figure string

const (
	Throughput Figure = ""     // a second; of benchmark lines operations, their geometric mean
	Cost       Figure = "cost" // 1 ÷ throughput

	// Latencies, of the open loop where there was one, else of the closed loop.
	P50        Figure = "p50"
	P99        Figure = "p99"
	P999       Figure = "p999"
	Mean       Figure = "mean"
	Max        Figure = "max"
	ClosedP50  Figure = "closed p50" // of the closed loop, as wrk's
	ClosedP99  Figure = "closed p99"
	ClosedMean Figure = "closed mean"
	ClosedMax  Figure = "closed max"

	// What the kernel counted, over all replicas.
	CPUs     Figure = "cpus"     // CPU seconds a second
	Switches Figure = "switches" // context switches a second
	Wait     Figure = "wait"     // seconds waited for a CPU a second, throttling included
	Throttle Figure = "throttle" // share of the quota's periods that were throttled
	Threads  Figure = "threads"  // most OS threads

	Procs Figure = "procs" // GOMAXPROCS as read from the program's memory
)

// value is nil where the trial does not have it.
func (f Figure) value(t *journal.Trial) *float64 {
	switch f {
	case Throughput:
		return t.ThroughputPerSecond
	case Cost:
		if t.ThroughputPerSecond == nil {
			return nil
		}
		return new(1 / *t.ThroughputPerSecond)
	case P50, P99, P999, Mean, Max:
		l := t.LatencySeconds
		if l == nil {
			l = closed(t)
		}
		return f.latency(l)
	case ClosedP50, ClosedP99, ClosedMean, ClosedMax:
		return Figure(strings.TrimPrefix(string(f), "closed ")).latency(closed(t))
	case CPUs, Switches, Wait, Throttle, Threads, Procs:
		return f.counted(t)
	}
	if m, ok := t.Metrics[string(f)]; ok {
		return &m.Value
	}
	return nil
}

func closed(t *journal.Trial) *journal.Latency {
	for i := range t.Phases {
		if t.Phases[i].Mode == journal.ModeClosed {
			return t.Phases[i].LatencySeconds
		}
	}
	return nil
}

func (f Figure) latency(l *journal.Latency) *float64 {
	if l == nil {
		return nil
	}
	switch f {
	case P50:
		return l.P50
	case P99:
		return l.P99
	case P999:
		return l.P999
	case Mean:
		return l.Mean
	}
	return l.Max
}

func (f Figure) counted(t *journal.Trial) *float64 {
	rate := func(x float64) *float64 {
		if t.MeasuredSeconds <= 0 {
			return nil
		}
		return new(x / t.MeasuredSeconds)
	}
	switch {
	case f == CPUs && t.CPUSeconds != nil:
		return rate(t.CPUSeconds.User + t.CPUSeconds.System)
	case f == Switches && t.ContextSwitches != nil:
		return rate(float64(t.ContextSwitches.Voluntary + t.ContextSwitches.Involuntary))
	case f == Wait && t.RunQueueWaitSeconds != nil:
		return rate(*t.RunQueueWaitSeconds)
	case f == Throttle && t.Cgroup != nil && t.Cgroup.Periods > 0:
		return new(float64(t.Cgroup.ThrottledPeriods) / float64(t.Cgroup.Periods))
	case f == Threads && t.ThreadsMax != nil:
		return new(float64(*t.ThreadsMax))
	case f == Procs && len(t.ObservedProcs) > 0 && t.ObservedProcs[0] != nil:
		return new(float64(*t.ObservedProcs[0]))
	}
	return nil
}

// trials are those of the arm, both copies of an A/A pair, invalid ones too; or
// why there are none.
func (o Of) trials(r Results) ([]*journal.Trial, string) {
	m, ok := r[o.Stage]
	switch {
	case !ok:
		return nil, "its sweep “" + o.Stage + "” is not among those that were run"
	case m.Result == nil:
		return nil, m.Why
	}
	wanted, procs := o.version(m), o.procs(m)
	var list []*journal.Trial
	for i := range m.Trials {
		t := &m.Trials[i]
		if t.Role == journal.RolePilot || !equalQuota(t.Arm.QuotaCPUs, o.Quota) || t.Arm.GoVersion != wanted || wanted == "" && o.Go != "" {
			continue
		}
		if t.Arm.Procs == nil && procs == 0 || t.Arm.Procs != nil && *t.Arm.Procs == procs {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return nil, o.arm(m) + " was not run"
	}
	return list, ""
}

// numbered are the values of GOMAXPROCS that ran beside the arm.
func (o Of) numbered(m Measured) (list []int) {
	wanted := o.version(m)
	for i := range m.Trials {
		a := m.Trials[i].Arm
		if a.Procs != nil && equalQuota(a.QuotaCPUs, o.Quota) && a.GoVersion == wanted && !slices.Contains(list, *a.Procs) {
			list = append(list, *a.Procs)
		}
	}
	return list
}

// version is Go as the stage's arms name it; empty: none of them fits.
func (o Of) version(m Measured) string {
	var all, valid []string
	for i := range m.Trials {
		v := m.Trials[i].Arm.GoVersion
		all = append(all, v)
		if m.Trials[i].Valid {
			valid = append(valid, v)
		}
	}
	if o.Go == "" && len(valid) > 0 {
		all = valid
	}
	if o.Go != "" {
		all = slices.DeleteFunc(all, func(v string) bool { return v != o.Go && !strings.HasPrefix(v, o.Go+".") })
	}
	if len(all) == 0 || o.Go == "" && slices.Contains(all, "") {
		return ""
	}
	newest := slices.MaxFunc(all, func(a, b string) int { return version.Compare("go"+a, "go"+b) })
	if o.Go == "" && version.Compare("go"+newest, version.Lang(m.Result.Tool.GoVersion)) < 0 {
		return ""
	}
	return newest
}

func (o Of) procs(m Measured) int {
	if o.Procs != AtCPUs {
		return o.Procs
	}
	cpus := m.Result.Host.EffectiveCPUs
	if o.Quota > 0 {
		cpus = math.Min(cpus, o.Quota)
	}
	return max(1, int(math.Ceil(cpus)))
}

// arm is its name in words.
func (o Of) arm(m Measured) string {
	name := "GOMAXPROCS unset"
	if p := o.procs(m); p > 0 {
		name = "GOMAXPROCS=" + strconv.Itoa(p)
	}
	if o.Quota > 0 {
		name += fmt.Sprintf(" under a quota of %g", o.Quota)
	}
	if o.Go != "" {
		name += " with Go " + o.Go
	} else if o.version(m) == "" && !slices.ContainsFunc(m.Trials, func(t journal.Trial) bool { return t.Arm.GoVersion == "" }) {
		name += " with today's Go"
	}
	if o.Stage != "" {
		name += " in " + o.Stage
	}
	return name
}

func equalQuota(arm *float64, quota float64) bool {
	return arm == nil && quota == 0 || arm != nil && *arm == quota
}

// byBlock are the figure's values of the valid trials, by block; or why there are
// none.
func (o Of) byBlock(r Results) (map[int][]float64, string) {
	trials, why := o.trials(r)
	if why != "" {
		return nil, why
	}
	values := map[int][]float64{}
	for _, t := range trials {
		switch x := o.Figure.value(t); {
		case !t.Valid:
			why = o.arm(r[o.Stage]) + " has no valid trial: " + firstLine(t.InvalidReason)
		case x != nil:
			values[t.Block] = append(values[t.Block], *x)
		}
	}
	if len(values) > 0 {
		return values, ""
	}
	if why == "" {
		why = fmt.Sprintf("%s has no figure %q", o.arm(r[o.Stage]), o.Figure)
	}
	return nil, why
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
