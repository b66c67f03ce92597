package verdict

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// RefusedError says why two runs cannot be compared.
type RefusedError struct {
	Reason string
}

func (e *RefusedError) Error() string {
	return "this run cannot be compared with the baseline: " + e.Reason
}

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// GateBaseline compares two runs of different days by what does not depend on
// the day: each setting's ratio to the start of its own run, block by block. The start is
// GOMAXPROCS unset, and of a variable of --vary the value that it started with.
// Absolute metrics of another day prove nothing, and neither does another host, another kind
// of target or another latency objective: the error is then a *RefusedError.
//
// A check is of the current ratio to the baseline's, by Welch's t on the
// logarithms. A setting that falls behind its run's start fails, whichever of
// the two has changed; a loss that all settings share is not seen at all.
func GateBaseline(baseline, current *Result) (*Gate, error) {
	if baseline.Live != nil || current.Live != nil {
		return nil, refuse("one of the two runs is a live experiment, which is compared only with its own value at start")
	}
	if baseline.Canary != nil || current.Canary != nil {
		return nil, refuse("one of the two runs is a canary, which is compared only with its own control")
	}
	if err := cmp.Or(ComparableHosts(baseline.Host, current.Host), SameKind(baseline.Target, current.Target), SameObjective(baseline.Plan, current.Plan)); err != nil {
		return nil, err
	}
	gate := newGating(GateKindBaseline, current.Plan)
	met := false
	for _, now := range current.compared() {
		then := baseline.group(now)
		if then == nil {
			continue
		}
		met = true
		if err := gate.compare(then, now, current); err != nil {
			return nil, err
		}
	}
	if !met {
		same := "CPU limit, replicas and Go version"
		if len(baseline.Plan.Vary) > 0 || len(current.Plan.Vary) > 0 {
			same = "CPU limit, replicas, Go version and variables"
		}
		return nil, refuse("no group of settings has the same %s in both runs", same)
	}
	if len(gate.Checks) == 0 && len(gate.spoiled) == 0 {
		return nil, refuse("no value was measured in both runs, apart from the one that all are compared with")
	}
	return gate.conclude(), nil
}

// ComparableHosts says why runs on two hosts cannot be compared, as a
// *RefusedError; nil when they can.
func ComparableHosts(then, now journal.Host) error {
	var differ []string
	for _, f := range []struct{ name, then, now string }{
		{"CPU model", then.CPUModel, now.CPUModel},
		{"CPUs", fmt.Sprint(then.CPUs), fmt.Sprint(now.CPUs)},
		{"architecture", then.Arch, now.Arch},
		{"kernel", then.Kernel, now.Kernel},
		{"cgroup mode", then.CgroupMode, now.CgroupMode},
	} {
		if f.then != f.now {
			differ = append(differ, fmt.Sprintf("%s %q, now %q", f.name, f.then, f.now))
		}
	}
	if len(differ) > 0 {
		return refuse("it comes from another host: %s; its numbers cannot be compared with those of this host", strings.Join(differ, "; "))
	}
	return nil
}

// SameKind says that two runs measured targets of different kinds, as a *RefusedError; nil when
// they did not.
func SameKind(then, now journal.Target) error {
	if then.Kind != now.Kind {
		return refuse("it measured a %s target, but this is a %s target", then.Kind, now.Kind)
	}
	return nil
}

// SameObjective says that two runs were for different latency objectives, whose capacities
// cannot be compared, as a *RefusedError; nil when they were not.
func SameObjective(then, now journal.Plan) error {
	if !reflect.DeepEqual(then.SLO, now.SLO) {
		return refuse("it was measured for another latency objective")
	}
	return nil
}

// SameLoad reports whether the clients of two runs sent the same. For how long, and from where,
// may differ.
func SameLoad(a, b *Result) bool {
	sent := func(l journal.Load) journal.Load {
		return journal.Load{
			Connections: l.Connections, RatePerSecond: l.RatePerSecond, RateShare: l.RateShare, Method: l.Method, BodySHA256: l.BodySHA256,
			RequestsSHA256: l.RequestsSHA256, Pace: l.Pace, GRPC: l.GRPC, Streams: l.Streams, Command: l.Command, Metrics: l.Metrics,
		}
	}
	return a.Target.URL == b.Target.URL && slices.Equal(a.Spec.Get("header"), b.Spec.Get("header")) && reflect.DeepEqual(sent(a.Load), sent(b.Load))
}

// ShareGroup reports whether two runs have groups of the same CPU limit, replicas and Go
// version.
func ShareGroup(a, b *Result) bool {
	return slices.ContainsFunc(b.compared(), func(g *Group) bool { return a.group(g) != nil })
}

// compared are all groups that compare something: GOMAXPROCS, or a variable.
func (r *Result) compared() (list []*Group) {
	for _, groups := range [][]Group{r.Groups, r.Compared} {
		for i := range groups {
			list = append(list, &groups[i])
		}
	}
	return list
}

func (r *Result) group(like *Group) *Group {
	for _, g := range r.compared() {
		if g.key() == like.key() {
			return g
		}
	}
	return nil
}

// setting is one of the group, by what all of them have.
func (g *Group) setting(label string) journal.Setting {
	return journal.Setting{Label: label, QuotaCPUs: g.QuotaCPUs, Replicas: g.Replicas, GoVersion: g.GoVersion, Variables: g.Variables, Compares: g.Compares, Procs: g.Procs}
}

func (gate *gating) compare(then, now *Group, current *Result) error {
	axis := current.Plan.Axis(now.Compares) // without a start where GOMAXPROCS is compared
	thenStart, nowStart := then.find(now.Procs, axis.Start), now.find(now.Procs, axis.Start)
	switch variable := now.Compares != ""; {
	case thenStart == nil && variable:
		return refuse("the baseline has no valid trial with %s=%s, to which values are compared", axis.Name, axis.Start)
	case nowStart == nil && variable:
		return refuse("this run has no valid trial with %s=%s, to which values are compared", axis.Name, axis.Start)
	case thenStart == nil:
		return refuse("the baseline has no valid trial of the default, to which values are compared: measure it again with --procs default,…")
	case nowStart == nil:
		return refuse("this run has no valid trial of the default, to which values are compared: add --procs default,…")
	}
	same := then.Latency.Quantile > 0 && then.Latency.Quantile == now.Latency.Quantile
	for i := range now.Settings {
		a := &now.Settings[i]
		old := then.find(a.Procs, a.Variable)
		if a.Variant != "" || old == nil {
			continue
		}
		setting := gateSetting(now.setting(a.Label), len(current.compared()))
		gate.validity(setting, tallyOfRow(a), tallyOfRow(old))
		if a == nowStart {
			continue
		}
		if a.TooFewCPUs || old.TooFewCPUs || nowStart.TooFewCPUs || thenStart.TooFewCPUs {
			gate.spoiled = append(gate.spoiled, Unjudged{Code: UnjudgedTooFewCPUs, Setting: setting})
			continue
		}
		// A rate that missed the objective is at least the capacity: of a and thenStart it may still
		// prove a loss, and of the other two nothing.
		most := func(p Point) *float64 { return p.Throughput }
		speed := func(p Point) *float64 {
			if p.Missed {
				return nil
			}
			return p.Throughput
		}
		tail := func(p Point) *float64 { return p.Judged }
		c := gate.add(setting, MetricThroughput, days(a.against(nowStart, most, speed), old.against(thenStart, speed, most)))
		c.most, c.missed = a.Unmet || thenStart.Unmet, a.Missed+old.Missed+nowStart.Missed+thenStart.Missed > 0
		switch {
		case same:
			gate.add(setting, MetricP99, days(a.against(nowStart, tail, tail), old.against(thenStart, tail, tail))).Quantile = now.Latency.Quantile
		case slices.Contains([]string{then.LatencyMode, now.LatencyMode}, string(journal.ModeOpen)): // a latency that nobody could judge, or compare, is no pass
			gate.add(setting, MetricP99, days(nil, nil))
		}
	}
	return nil
}

// find is the setting of that GOMAXPROCS, nil being unset, and of that value of the variable
// that the group compares, if it has a valid trial.
func (g *Group) find(procs *int, variable string) *Row {
	for i := range g.Settings {
		a := &g.Settings[i]
		same := a.Procs == nil && procs == nil || a.Procs != nil && procs != nil && *a.Procs == *procs
		if same && a.Variable == variable && a.Variant == "" && a.Trials > 0 {
			return a
		}
	}
	return nil
}

// against is ln(a ÷ base) in each block that has both.
func (a *Row) against(base *Row, of, ofBase func(Point) *float64) (d []float64) {
	usable := func(p Point, x *float64) bool {
		return p.Valid && p.Role == string(journal.RoleMeasure) && x != nil && *x > 0
	}
	bases := map[int]float64{}
	for _, p := range base.Points {
		if x := ofBase(p); usable(p, x) {
			bases[p.Block] = math.Log(*x)
		}
	}
	for _, p := range a.Points {
		x := of(p)
		if y, both := bases[p.Block]; both && usable(p, x) {
			d = append(d, math.Log(*x)-y)
		}
	}
	return d
}

// days locates the difference of two means with Welch's bounds.
func days(now, then []float64) located {
	return func(alpha float64) (n int, mid, lower, upper float64) {
		n, lower, upper = min(len(now), len(then)), math.Inf(-1), math.Inf(1)
		if n == 0 {
			return n, math.NaN(), lower, upper
		}
		mid = stat.Mean(now) - stat.Mean(then)
		if n < stat.FewestPairs {
			return n, mid, lower, upper
		}
		a, b := float64(len(now)), float64(len(then))
		va, vb := stat.Variance(now)/a, stat.Variance(then)/b
		se := math.Sqrt(va + vb)
		if se == 0 {
			return n, mid, mid, mid
		}
		by := stat.TQuantile(1-alpha, (va+vb)*(va+vb)/(va*va/(a-1)+vb*vb/(b-1))) * se
		return n, mid, mid - by, mid + by
	}
}
