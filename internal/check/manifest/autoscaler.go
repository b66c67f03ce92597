package manifest

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/program/rule"
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

// cpuTarget is the CPU use above which it adds pods.
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

// metrics reads those of a HorizontalPodAutoscaler, of every version of its API.
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

// percentOf is a whole number above zero, or 0.
func percentOf(text string) float64 {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return float64(n)
}

// scaled are controllers whose pods all have the containers of one template.
var scaled = map[string]bool{"Deployment": true, "StatefulSet": true, "ReplicaSet": true, "ReplicationController": true, "Rollout": true}

// targetOf are the containers of the only object of that name in the file or folder.
func (s *store) targetOf(by *object, of target) []*container {
	if !scaled[of.kind] {
		return nil
	}
	var called []*container
	for _, k := range s.containers {
		if k.object.kind == of.kind && k.object.name == of.name {
			called = append(called, k)
		}
	}
	found := nearby(called, by, func(k *container) *object { return k.object })
	if len(found) == 0 || path.Dir(found[0].object.path) != path.Dir(by.path) ||
		slices.ContainsFunc(found, func(k *container) bool { return k.object != found[0].object }) {
		return nil
	}
	return found
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
