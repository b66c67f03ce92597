package manifest

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

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
		for _, k := range c.store.targetOf(&v.object, v.target) {
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
		who = v.String() + " changes its CPU requests and limits"
		if k.cpu.limit.none() {
			who = v.String() + " changes its CPU requests"
		}
	}
	const library = "import github.com/procfit/procfit/maxprocs/auto"
	fix := "remove the variable: from Go 1.25 on the runtime follows the CPU limit; for an older version " + library
	switch {
	case k.program.GoVersion != "" && subject.FollowsLimit():
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
