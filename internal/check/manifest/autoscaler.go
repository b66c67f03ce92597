package manifest

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// autoscaler is a HorizontalPodAutoscaler, or a ScaledObject of KEDA, which makes one.
type autoscaler struct {
	object
	target

	cpu       []cpuTarget
	others    bool    // it has metrics besides CPU, which can also scale it up
	tolerance float64 // a share of the target, which the use must exceed
}

type target struct{ kind, name string }

type cpuTarget struct {
	at        rule.Place
	container string   // "": of all containers of the pod together
	percent   float64  // of the request; 0: it is a value
	value     quantity // of CPUs
}

// What the API server fills in, and what the controller manager uses where nobody sets
// --horizontal-pod-autoscaler-tolerance (k8s.io/kubernetes, pkg/controller/podautoscaler).
const (
	defaultPercent   = 80
	defaultTolerance = 0.1
)

// autoscaler takes one, unless it never adds pods.
func (p *pods) autoscaler(n *yaml.Node, o *object) {
	spec := p.get(n, "spec")
	a := autoscaler{object: *o, tolerance: defaultTolerance, target: target{kind: p.str(spec, "scaleTargetRef", "kind"), name: p.str(spec, "scaleTargetRef", "name")}}
	least, most, behavior := p.str(spec, "minReplicas"), p.str(spec, "maxReplicas"), p.at(spec, "behavior")
	if o.kind == "ScaledObject" {
		a.target.kind = cmp.Or(a.target.kind, "Deployment")
		least, most = p.str(spec, "minReplicaCount"), p.str(spec, "maxReplicaCount")
		behavior = p.at(spec, "advanced", "horizontalPodAutoscalerConfig", "behavior")
		p.triggers(&a, spec)
	} else {
		p.metrics(&a, n, spec)
	}
	if q, err := parseQuantity(p.str(behavior, "scaleUp", "tolerance")); err == nil {
		a.tolerance = q.cpus()
	}
	up := p.str(behavior, "scaleUp", "selectPolicy") != "Disabled"
	if up && (most == "" || least != most) && a.target.name != "" && len(a.cpu) > 0 {
		p.into.autoscalers = append(p.into.autoscalers, a)
	}
}

func (p *pods) metrics(a *autoscaler, n, spec *yaml.Node) {
	list := p.items(spec, "metrics")
	if len(list) == 0 {
		t := cpuTarget{at: p.place(n, &a.object), percent: defaultPercent}
		if e := p.entry(spec, "targetCPUUtilizationPercentage", 0); e.key != nil {
			t.at, t.percent = p.place(e.key, &a.object), percentOf(e.value.Value)
		}
		a.add(t)
		return
	}
	for _, m := range list {
		source, container := p.get(m, "resource"), ""
		if p.str(m, "type") == "ContainerResource" {
			source = p.get(m, "containerResource")
			container = p.str(source, "container")
		}
		if p.str(source, "name") != "cpu" {
			a.others = true
			continue
		}
		t := cpuTarget{at: p.place(m, &a.object), container: container}
		t.percent = percentOf(cmp.Or(p.str(source, "target", "averageUtilization"), p.str(source, "targetAverageUtilization")))
		t.value, _ = parseQuantity(cmp.Or(p.str(source, "target", "averageValue"), p.str(source, "targetAverageValue"))) // one that is not valid is no target
		a.add(t)
	}
}

// triggers reads those of a ScaledObject (keda.sh/docs/latest/scalers/cpu).
func (p *pods) triggers(a *autoscaler, spec *yaml.Node) {
	for _, m := range p.items(spec, "triggers") {
		if p.str(m, "type") != "cpu" {
			a.others = true
			continue
		}
		t := cpuTarget{at: p.place(m, &a.object), container: p.str(m, "metadata", "containerName")}
		switch text := p.str(m, "metadata", "value"); cmp.Or(p.str(m, "metricType"), p.str(m, "metadata", "type")) {
		case "Utilization":
			t.percent = percentOf(text)
		case "AverageValue":
			t.value, _ = parseQuantity(text) // one that is not valid is no target
		}
		a.add(t)
	}
}

func (a *autoscaler) add(t cpuTarget) {
	if t.percent > 0 || t.value.positive() {
		a.cpu = append(a.cpu, t)
	}
}

func percentOf(text string) float64 {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return float64(n)
}

// scaled are controllers whose pods all have the containers of one template.
var scaled = map[string]bool{"Deployment": true, "StatefulSet": true, "ReplicaSet": true, "ReplicationController": true, "Rollout": true, "DeploymentConfig": true}

// targetsOf are the containers of the only object of that name in the file or folder, or of each where they
// are what runs: one controller's pods, as far as they differ.
func (c *Checker) targetsOf(by *object, of target) (objects [][]*container) {
	if !scaled[of.kind] {
		return nil
	}
	var called []*container
	for _, k := range c.store.containers {
		if k.object.kind == of.kind && k.object.name == of.name {
			called = append(called, k)
		}
	}
	for _, k := range nearby(called, by, func(k *container) *object { return k.object }) {
		if path.Dir(k.object.path) != path.Dir(by.path) {
			return nil
		}
		i := slices.IndexFunc(objects, func(one []*container) bool { return one[0].object == k.object })
		if i < 0 {
			i, objects = len(objects), append(objects, nil)
		}
		objects[i] = append(objects[i], k)
	}
	if len(objects) > 1 && c.o.Node == nil {
		return nil
	}
	return objects
}

// injects reports whether a mesh adds a container, with its own use and request, to a pod.
func (p *pods) injects(meta *yaml.Node) bool {
	for _, list := range []string{"annotations", "labels"} {
		for _, e := range p.entries(p.get(meta, list)) {
			key, value := e.key.Value, strings.ToLower(e.value.Value)
			if (strings.Contains(key, "inject") || key == "dapr.io/enabled") && value != "false" && value != "disabled" {
				return true
			}
		}
	}
	return false
}

// ceiling is the most CPU time per second that containers can use, and what they request.
type ceiling struct {
	cpus, request float64
	words         string // what bounds it
	procs         int    // GOMAXPROCS, where that is the bound of the only container
	limit         float64
	byProcs       bool // some of the bounds are GOMAXPROCS
}

// slack is by how much a Go program may exceed GOMAXPROCS: the runtime's monitor and short
// system calls run without a P (measured by TestNeverMoreThanGOMAXPROCS).
const slack = 1.05

func (k *container) most(s *store) (c ceiling, known bool) {
	own := k.effective(k.cpu, s)
	c = ceiling{cpus: math.Inf(1), request: own.request.cpus()}
	if own.limit.positive() {
		c.cpus, c.limit = own.limit.cpus(), own.limit.cpus()
		c.words = "its CPU limit of " + number.BareCPUs(c.cpus)
	}
	subject := rule.NewSubject(k.observed(0))
	if n, set := subject.EnvProcs(); set && k.unit.env.state == facts.Known && k.maySet() == "" && float64(n) < c.cpus {
		c.cpus, c.procs, c.byProcs = float64(n), n, true
		c.words = fmt.Sprintf("GOMAXPROCS=%d", n)
	}
	return c, !math.IsInf(c.cpus, 1)
}

// ceilingOf is false if a container has no known bound, or no request, which a percentage needs.
func (t *cpuTarget) ceilingOf(all []*container, s *store) (sum ceiling, known bool) {
	n := 0
	var words []string
	for _, k := range all {
		if !k.stays || t.container != "" && k.at.Container != t.container {
			continue
		}
		if k.partial || t.container == "" && (k.injects || !k.podCPU.request.none() || !k.podCPU.limit.none()) {
			return sum, false
		}
		c, bounded := k.most(s)
		if !bounded || t.percent > 0 && c.request <= 0 {
			return sum, false
		}
		n++
		sum.cpus, sum.request, sum.limit = sum.cpus+c.cpus, sum.request+c.request, c.limit
		sum.procs, sum.byProcs = c.procs, sum.byProcs || c.byProcs
		words = append(words, k.at.Container+" by "+c.words)
	}
	if sum.words = strings.Join(words, ", "); n > 1 {
		sum.procs, sum.limit = 0, 0
	}
	return sum, n > 0
}

// reached judges an autoscaler by all pods that it scales: it goes by their mean.
func (c *Checker) reached(patched overlays, to check.Sink) {
	for i := range c.store.autoscalers {
		a := &c.store.autoscalers[i]
		targets := c.targetsOf(&a.object, a.target)
		open := len(targets) == 0 || len(patched.of(&a.object)) > 0 || slices.ContainsFunc(slices.Concat(targets...), func(k *container) bool { return len(k.overlays) > 0 })
		for _, t := range a.cpu {
			sure, all := !open, []check.Finding(nil)
			for _, target := range targets {
				most, known := t.ceilingOf(target, c.store)
				if !known {
					sure = false
				} else if f, found := a.never(t, most, target[0].object.String()); found {
					all = append(all, f)
				}
			}
			switch {
			case !sure:
				c.unsure([]rule.Place{t.at}, func(id string) bool { return id == "PF042" })
			case len(all) == len(targets):
				for _, f := range all {
					to.Finding(f)
				}
			}
		}
	}
}

// never is PF042: the use that a target needs is above what the containers can use.
func (a *autoscaler) never(t cpuTarget, most ceiling, target string) (check.Finding, bool) {
	goal := t.value.cpus()
	text := number.CPUs(goal)
	if t.percent > 0 {
		goal = most.request * t.percent / 100
		text = number.Exact(t.percent) + "%"
	}
	needs := goal * (1 + a.tolerance)
	highest := most.cpus
	if most.byProcs {
		highest *= slack
	}
	const rounding = 1e-9
	if highest > needs+rounding {
		return check.Finding{}, false
	}
	share := ""
	if t.percent > 0 {
		share = fmt.Sprintf(", which is %s of the request of %s", number.Share(most.cpus/most.request), number.BareCPUs(most.request))
	}
	about := phrase.If(most.byProcs, "at most about ", "at most ")
	message := fmt.Sprintf("%s never scales up by CPU: its pod uses %s%s%s (%s), and the target is %s", target, about, number.CPUs(most.cpus), share, most.words, text)
	f := check.NewFinding("PF042", t.at, message, a.remedy(t, most, needs))
	if most.cpus > goal+rounding || a.others {
		f.Severity = rule.Info
	}
	if most.cpus > goal-rounding {
		f.Message += fmt.Sprintf(", with a tolerance of %s above it", number.Share(a.tolerance))
	}
	if a.others {
		f.Message += "; its other metrics can still scale it up"
	}
	return f, true
}

func (a *autoscaler) remedy(t cpuTarget, most ceiling, needs float64) string {
	var ways []string
	switch enough := int(math.Floor(needs)) + 1; {
	case most.procs > 0 && (most.limit == 0 || most.limit > needs):
		ways = append(ways, fmt.Sprintf("set GOMAXPROCS to %d or more", enough))
	case most.procs > 0:
		ways = append(ways, fmt.Sprintf("set GOMAXPROCS to %d or more and a CPU limit above %s", enough, number.BareCPUs(needs)))
	case most.limit > 0:
		ways = append(ways, fmt.Sprintf("raise the CPU limit above %s", number.BareCPUs(needs)))
	}
	reach := most.cpus / (1 + a.tolerance)
	if t.percent > 0 {
		if below := math.Ceil(reach/most.request*100-1e-9) - 1; below >= 1 {
			ways = append(ways, fmt.Sprintf("lower the target to %.0f%% or less", below))
		}
	} else if milli := math.Ceil(reach*1000-1e-6) - 1; milli >= 1 {
		ways = append(ways, fmt.Sprintf("lower the target to %.0fm or less", milli))
	}
	if len(ways) == 0 {
		return "lower the CPU requests"
	}
	return strings.Join(ways, ", or ")
}

// resizer is a VerticalPodAutoscaler that changes the CPU requests of pods, and with them
// the limits.
type resizer struct {
	object
	target
	inPlace  bool // without a restart of the container, where the node can
	policies []resizePolicy
}

// resizePolicy is what a VerticalPodAutoscaler does to a container; "*" is all others
// (autoscaling.k8s.io/v1, ContainerResourcePolicy).
type resizePolicy struct {
	container string
	off       bool // it does not change CPU
	requests  bool // it changes the requests alone: a limit stays
	most      quantity
}

// resizer takes a VerticalPodAutoscaler, unless it only recommends.
func (p *pods) resizer(n *yaml.Node, o *object) {
	spec := p.get(n, "spec")
	mode := p.str(spec, "updatePolicy", "updateMode")
	if mode == "Off" {
		return
	}
	v := resizer{object: *o, inPlace: mode == "InPlaceOrRecreate" || mode == "InPlace", target: target{kind: p.str(spec, "targetRef", "kind"), name: p.str(spec, "targetRef", "name")}}
	for _, item := range p.items(spec, "resourcePolicy", "containerPolicies") {
		r := resizePolicy{container: p.str(item, "containerName"), off: p.str(item, "mode") == "Off", requests: p.str(item, "controlledValues") == "RequestsOnly"}
		if list := p.items(item, "controlledResources"); len(list) > 0 {
			r.off = r.off || !slices.ContainsFunc(list, func(name *yaml.Node) bool { return name.Value == "cpu" })
		}
		r.most, _ = parseQuantity(p.str(item, "maxAllowed", "cpu")) // one that is not valid is none
		v.policies = append(v.policies, r)
	}
	p.into.resizers = append(p.into.resizers, v)
}

func (v *resizer) policy(name string) (of resizePolicy) {
	for _, r := range v.policies {
		if r.container == name {
			return r
		}
		if r.container == "*" {
			of = r
		}
	}
	return of
}

// leaves reports whether it changes nothing that the container's GOMAXPROCS should follow.
func (v *resizer) leaves(k *container) bool {
	of, reads := v.policy(k.at.Container), k.fields["GOMAXPROCS"].reference
	return of.off || of.requests && !k.cpu.limit.none() && (reads == nil || reads.resource != "requests.cpu")
}

// resized is PF043. Without a Go version it takes the place of PF004, which says less of the same.
func (c *Checker) resized(patched overlays) {
	by := map[*container]*resizer{}
	for i := range c.store.resizers {
		v := &c.store.resizers[i]
		for _, k := range slices.Concat(c.targetsOf(&v.object, v.target)...) {
			by[k] = v
		}
	}
	for _, k := range c.store.containers {
		v := by[k]
		if v != nil && (v.leaves(k) || k.resizable && len(patched.of(&v.object)) > 0) {
			v = nil
		}
		if k.unjudged != "" || !k.stays || v == nil && !k.resizable {
			continue
		}
		if k.partial || len(k.overlays) > 0 || k.maySet() != "" || v != nil && len(patched.of(&v.object)) > 0 {
			c.unsure(k.unit.places(), func(id string) bool { return id == "PF043" })
			continue
		}
		if f, found := k.staysBehind(v); found {
			k.found = slices.DeleteFunc(k.found, func(f check.Finding) bool { return f.Rule == "PF004" && k.program.GoVersion == "" })
			k.found = append(k.found, f)
		}
	}
}

// v is nil if only the container's resizePolicy lets the limit change.
func (k *container) staysBehind(v *resizer) (check.Finding, bool) {
	subject := rule.NewSubject(k.observed(0))
	n, set := subject.EnvProcs()
	if !set || k.unit.env.state != facts.Known {
		return check.Finding{}, false
	}
	at := k.at
	if strings.HasPrefix(k.unit.env.source, "env") {
		at.Line, at.Column = k.unit.env.line, k.unit.env.column
	}
	who := "its resizePolicy lets its CPU limit change without a restart"
	if v != nil {
		who = v.String() + " changes its CPU requests" + phrase.If(k.cpu.limit.none(), "", " and limits")
	}
	const library = "import github.com/procfit/procfit/maxprocs/auto"
	fix := "remove the variable: from Go 1.25 on the runtime follows the CPU limit; for an older version " + library
	switch {
	case k.program.GoVersion != "" && subject.FollowsChanges():
		fix = "remove the variable: the runtime of " + k.program.GoVersion + " follows the CPU limit"
	case k.program.GoVersion != "":
		fix = "remove the variable, and build with Go 1.25 or newer or " + library + ", which follow the CPU limit"
	}
	if _, limited := subject.Facts.Tightest(); !limited {
		fix = "set a CPU limit, and " + fix
	}
	f := check.NewFinding("PF043", at, "", fix)
	switch reads := k.fields["GOMAXPROCS"].reference; {
	case reads != nil && v != nil && !v.inPlace:
		return f, false // the pod is made again, and the variable with it
	case reads != nil:
		if v != nil {
			who = v.String() + " changes it in place"
		}
		f.Message = fmt.Sprintf("GOMAXPROCS is taken from %s once, when the container starts, and %s: the value does not follow", reads.resource, who)
	default:
		f.Message = fmt.Sprintf("GOMAXPROCS=%d is fixed, and %s: the value does not follow", n, who)
	}
	if v == nil {
		f.Severity = rule.Info
		return f, true
	}
	if most := v.policy(k.at.Container).most; most.positive() && most.cpus() > float64(n)*slack {
		f.Message += fmt.Sprintf("; with it the Go code uses at most %s, so that the autoscaler has no reason to recommend its maxAllowed of %s", number.CPUs(float64(n)), number.BareCPUs(most.cpus()))
	}
	return f, true
}

// It is the default too, but who writes it down means to resize.
func (p *pods) resizable(c *yaml.Node) bool {
	return slices.ContainsFunc(p.items(c, "resizePolicy"), func(item *yaml.Node) bool {
		return p.str(item, "resourceName") == "cpu" && p.str(item, "restartPolicy") == "NotRequired"
	})
}
