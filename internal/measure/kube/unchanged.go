package kube

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Observed is a pod that was created as its manifest has it, and looked at as it ran.
type Observed struct {
	trial.Reading             // of its live GOMAXPROCS
	Pod           journal.Pod // what it ran as
	Environment   string      // GOMAXPROCS in it, as kubectl describe shows it; empty: it is not there
}

// RunUnchanged creates one pod of the subject without any change to its environment or its
// limits, looks at it, and removes it.
func (s *Target) RunUnchanged(ctx context.Context, host string, patience time.Duration) (seen Observed, err error) {
	r := s.runner(plan.Default(), Config{Host: host, FromHere: true}) // nothing is loaded
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.Prepare(ctx, journal.Plan{}, nil); err != nil {
		return seen, err
	}
	created, err := r.create(ctx, s.subject.pod(r.cut, r.name(""), difference{unchanged: true}))
	if err != nil {
		return seen, err
	}
	p, err := r.await(ctx, created.Name, patience)
	if err != nil {
		return seen, err
	}
	one := &replica{name: p.Name, pod: p, port: s.port}
	if one.line, err = r.cluster.tunnel(p.Name); err != nil {
		return seen, err
	}
	defer one.line.close()
	t := &run{runner: r, Task: &trial.Task{Trial: &journal.Trial{}}, fleet: []*replica{one}, from: localLoad{p.Status.PodIP: one.line}}
	t.attach(ctx, one)
	readings, _, err := t.look(ctx)
	if err != nil {
		return seen, err
	}
	return Observed{readings[0], evidence(p, s.container), described(p, s.container)}, nil
}

// described is GOMAXPROCS in a container's environment, as kubectl describe shows it
// (k8s.io/kubectl/pkg/describe, describeContainerEnvVars).
func described(p *corev1.Pod, container string) string {
	c := named(p.Spec.Containers, container)
	if c == nil {
		return ""
	}
	for _, e := range c.Env {
		if e.Name != procsVariable {
			continue
		}
		ref := e.ValueFrom
		switch {
		case ref == nil:
			return e.Value
		case ref.ResourceFieldRef != nil:
			return fmt.Sprintf("%s (%s)", resourceValue(ref.ResourceFieldRef, *c), ref.ResourceFieldRef.Resource)
		case ref.ConfigMapKeyRef != nil:
			return fmt.Sprintf("<set to the key '%s' of config map '%s'>", ref.ConfigMapKeyRef.Key, ref.ConfigMapKeyRef.Name)
		case ref.SecretKeyRef != nil:
			return fmt.Sprintf("<set to the key '%s' in secret '%s'>", ref.SecretKeyRef.Key, ref.SecretKeyRef.Name)
		case ref.FieldRef != nil:
			return fmt.Sprintf(" (%s:%s)", ref.FieldRef.APIVersion, ref.FieldRef.FieldPath)
		}
	}
	return ""
}

// resourceValue is a CPU limit or request by its divisor, rounded up. Without a divisor it is 1.
func resourceValue(ref *corev1.ResourceFieldSelector, c corev1.Container) string {
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	var q resource.Quantity
	switch ref.Resource {
	case "limits.cpu":
		q = *c.Resources.Limits.Cpu()
	case "requests.cpu":
		q = *c.Resources.Requests.Cpu()
	default:
		return "?"
	}
	milli, by := q.MilliValue(), max(1, divisor.MilliValue())
	return strconv.FormatInt((milli+by-1)/by, 10)
}
