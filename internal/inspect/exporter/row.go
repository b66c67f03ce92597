package exporter

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/host/container"
	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
)

// mostGroups is how many groups of a process are exported, the nearest. More than
// a container and its pod are rare.
const mostGroups = 4

// unknown stands in a label for what is not known.
const unknown = "unknown"

// row is what is exported of one process; what is not known is nil or empty. It
// keeps nothing of the Snapshot, which is much larger.
type row struct {
	pid, name                               string
	goVersion, setBy, source, procs, cgroup string
	container                               container.Name // empty outside of Kubernetes
	gomaxprocs, recommended                 *int
	numCPU, affinity, threads               int
	limit                                   *float64
	limitGroup                              string
	sums                                    sums
	groups                                  []rule.Throttling // with clean names
	latency                                 *observe.Latency
	findings                                []fired
	worst                                   rule.Severity // of them; empty without any
	cells                                   []string      // as procfit ps shows it
}

// fired is a rule that fires, once for each severity: the findings of one rule may
// be several.
type fired struct {
	rule     string
	severity rule.Severity
}

// view is one scan as it is exported.
type view struct {
	rows                        []row
	at                          time.Time // of the scan
	took                        time.Duration
	source                      string
	processes, others           int
	inferred, dropped, filtered int
	unreadable                  map[string]int // by reason
}

// selection says which processes are exported.
type selection struct {
	name       *regexp.Regexp // nil: all
	most       int
	containers map[string]container.Name // by their identity
}

// viewOf makes a view of what a scan saw; it is called once for each scan.
func viewOf(snap observe.Snapshot, c counters, s selection) *view {
	v := &view{at: snap.At, source: string(snap.Counters), processes: len(snap.Processes), others: snap.Others, unreadable: map[string]int{}}
	for _, u := range snap.Unreadable {
		v.unreadable[reasonOf(u.Cause)]++
	}
	type counted struct {
		process *observe.Process
		sums    sums
	}
	var all []counted
	for i := range snap.Processes {
		p := &snap.Processes[i]
		// Those that are left out are counted too: they may come back.
		sum := c.add(*p, snap.Counters, snap.At)
		if p.Live == nil {
			v.inferred++
		}
		if s.name != nil && !s.name.MatchString(p.Name) {
			v.filtered++
			continue
		}
		all = append(all, counted{p, sum})
	}
	c.forget(snap.At)
	if v.dropped = len(all) - s.most; v.dropped > 0 {
		slices.SortFunc(all, func(a, b counted) int {
			return cmp.Or(cmp.Compare(b.sums.CPU, a.sums.CPU), cmp.Compare(a.process.PID, b.process.PID))
		})
		all = all[:s.most]
	}
	v.dropped = max(0, v.dropped)
	for _, one := range all {
		v.rows = append(v.rows, rowOf(one.process, one.sums, s.containers))
	}
	return v
}

func rowOf(p *observe.Process, s sums, containers map[string]container.Name) row {
	r := row{
		pid: strconv.Itoa(p.PID), name: clean(p.Name, longestName),
		goVersion: clean(cmp.Or(p.Facts.GoVersion, unknown), longestWord),
		setBy:     cmp.Or(string(p.SetBy), unknown), source: cmp.Or(p.ProcsSource(), unknown), procs: unknown,
		cgroup: clean(p.Facts.Cgroup.Path, longestGroup),
		numCPU: p.NumCPU, affinity: p.Facts.AffinityCPUs(), threads: p.Threads,
		sums: s, latency: p.Total.Latency, worst: rule.Worst(p.Findings), cells: ps.Cells(*p),
	}
	if id := container.ID(p.Facts.Cgroup.Path); id != "" {
		n := containers[id]
		r.container = container.Name{Namespace: clean(n.Namespace, longestName), Pod: clean(n.Pod, longestGroup), Container: clean(n.Container, longestName)}
	}
	for _, f := range p.Findings {
		if one := (fired{f.Rule, f.Severity}); !slices.Contains(r.findings, one) {
			r.findings = append(r.findings, one)
		}
	}
	if n, known := p.Procs(); known {
		r.gomaxprocs, r.procs = &n, strconv.Itoa(n)
	}
	if p.Facts.EffectiveCPUs() > 0 {
		r.recommended = &p.Fit.Procs
	}
	if l, limited := p.Facts.Tightest(); limited && !math.IsNaN(l.CPUs) {
		r.limit, r.limitGroup = &l.CPUs, clean(l.Dir, longestGroup)
	}
	for _, g := range p.Total.Groups {
		g.Dir = clean(g.Dir, longestGroup)
		twice := slices.ContainsFunc(r.groups, func(o rule.Throttling) bool { return o.Dir == g.Dir })
		if !twice && len(r.groups) < mostGroups {
			r.groups = append(r.groups, g)
		}
	}
	return r
}
