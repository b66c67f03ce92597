package exporter

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/procfit/procfit/internal/host/container"
	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/sorting"
)

// mostGroups is how many cgroups of a process are exported, the nearest ones. More than a
// container and its pod are rare.
const mostGroups = 4

const unknown = "unknown"

// view is one scan in exported form, without unknown values. It keeps nothing of the Snapshot,
// which is much larger.
type view []prometheus.Metric

func (v *view) add(f family, value float64, labels ...string) {
	*v = append(*v, f.metric(value, labels...))
}

// view is what a scan saw; it is called once for each scan.
func (e *Exporter) view(snap observe.Snapshot, containers map[string]container.Name) (v view) {
	type counted struct {
		process *observe.Process
		sums    sums
	}
	var all []counted
	notRead, left := 0, 0
	for i := range snap.Processes {
		p := &snap.Processes[i]
		// Processes that are not exported are counted too: they may come back.
		sum := e.counters.add(*p, snap.Counters, snap.At)
		if p.Live == nil {
			notRead++
		}
		if e.options.Name != nil && !e.options.Name.MatchString(p.Name) {
			left++
			continue
		}
		all = append(all, counted{p, sum})
	}
	e.counters.forget(snap.At)
	tooMany := max(0, len(all)-e.options.MaxProcesses)
	if tooMany > 0 {
		sorting.Stable(all, func(a, b counted) int {
			return cmp.Or(cmp.Compare(b.sums.CPU, a.sums.CPU), cmp.Compare(a.process.PID, b.process.PID))
		})
		all = all[:e.options.MaxProcesses]
	}
	for _, one := range all {
		v.process(one.process, one.sums, containers)
	}
	v.add(processes, float64(len(snap.Processes)))
	v.add(others, float64(snap.Others))
	v.add(inferred, float64(notRead))
	v.add(dropped, float64(tooMany))
	v.add(filtered, float64(left))
	v.add(counterInfo, 1, string(snap.Counters))
	reasons := map[string]int{}
	for _, u := range snap.Unreadable {
		reasons[reasonOf(u.Cause)]++
	}
	for _, reason := range []string{reasonPermission, reasonDamaged, reasonTime, reasonOther} {
		v.add(unreadable, float64(reasons[reason]), reason)
	}
	return v
}

func (v *view) process(p *observe.Process, s sums, containers map[string]container.Name) {
	pid, name := strconv.Itoa(p.PID), clean(p.Name, longestName)
	add := func(f family, value float64, labels ...string) {
		v.add(f, value, append([]string{pid, name}, labels...)...)
	}
	describe(p, containers, add)
	add(cpuSeconds, s.CPU.Seconds())
	add(majorFaults, float64(s.MajorFaults))
	if s.Counted {
		add(switches, float64(s.Voluntary), "voluntary")
		add(switches, float64(s.Involuntary), "involuntary")
		add(waitSeconds, s.Wait.Seconds())
	}
	var groups []string
	for _, g := range p.Total.Groups {
		dir := clean(g.Dir, longestGroup)
		if slices.Contains(groups, dir) || len(groups) == mostGroups {
			continue
		}
		groups = append(groups, dir)
		add(periods, float64(g.Periods), dir)
		add(throttled, float64(g.ThrottledPeriods), dir)
		add(throttledSec, g.Throttled.Seconds(), dir)
		add(bursts, float64(g.Bursts), dir)
		add(burstSec, g.Burst.Seconds(), dir)
	}
	if l := p.Total.Latency; l != nil {
		*v = append(*v, prometheus.MustNewConstHistogram(schedLatency.desc, l.Count(), l.Sum(), l.Buckets(), pid, name))
	}
	for i, f := range p.Findings {
		same := func(other rule.Finding) bool { return other.Rule == f.Rule && other.Severity == f.Severity }
		if !slices.ContainsFunc(p.Findings[:i], same) { // a rule may have several findings
			add(findings, 1, f.Rule, string(f.Severity))
		}
	}
}

// describe adds everything but counters.
func describe(p *observe.Process, containers map[string]container.Name, add func(family, float64, ...string)) {
	of := containers[container.ID(p.Facts.Cgroup.Path)] // empty outside of Kubernetes
	value := unknown
	if n, known := p.Procs(); known {
		value = strconv.Itoa(n)
	}
	add(info, 1, clean(cmp.Or(p.Facts.GoVersion, unknown), longestWord), cmp.Or(string(p.SetBy), unknown), cmp.Or(p.ProcsSource(), unknown), value,
		clean(p.Facts.Cgroup.Path, longestGroup), clean(of.Namespace, longestName), clean(of.Pod, longestGroup), clean(of.Container, longestName))
	for _, g := range gauges {
		v, known := inspect.Columns()[inspect.Index(g.column)].Value(p).(float64)
		switch {
		case !known || math.IsNaN(v):
		case g.family.Name == limitCPUs.Name:
			l, _ := p.Facts.Tightest()
			add(g.family, v, clean(l.Dir, longestGroup))
			if burst, known := inspect.Burst(p); known {
				add(limitBurst, burst, clean(l.Dir, longestGroup))
			}
		default:
			add(g.family, v)
		}
	}
	if n := p.Facts.AffinityCPUs(); n > 0 {
		add(affinityCPUs, float64(n))
	}
}

// The longest label values, in bytes. A path of Kubernetes has about 200.
const (
	longestName  = 64
	longestWord  = 32
	longestGroup = 512
)

// clean makes any bytes a label value: valid UTF-8, printable, of bounded length.
func clean(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
	if len(s) <= longest {
		return s
	}
	const more = "…"
	s = s[:longest-len(more)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + more
}

// The values of the label reason.
const (
	reasonPermission = "permission"
	reasonDamaged    = "damaged"
	reasonTime       = "time"
	reasonOther      = "other"
)

func reasonOf(c observe.Cause) string {
	switch {
	case c.Permission():
		return reasonPermission
	case c == observe.Damaged:
		return reasonDamaged
	case c == observe.Late:
		return reasonTime
	}
	return reasonOther
}
