package kube

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Rehearse has the API server try one pod of each kind without creating it: admission,
// quotas and limits have their say, before anything is there. loaded says that a pod of ours
// offers the load. It returns the server's warnings.
func (s *Target) Rehearse(ctx context.Context, plan journal.Plan, loaded bool) (warnings []string, err error) {
	var refused []string
	c := s.cut
	c.run = "rehearsal"
	for _, setting := range representative(plan.Settings) {
		if setting.Procs == nil && s.subject.expandsProcs(s.container) {
			return nil, &RefusedError{s.object() + " cannot be measured at the default", []string{fmt.Sprintf("container %q uses $(GOMAXPROCS) in its command or in another variable, which Kubernetes does not replace without GOMAXPROCS: write a number there", s.container)}}
		}
		var got corev1.Pod
		if err := s.cluster.dryRun(ctx, s.target(c, "procfit-rehearsal", s.differenceOf(setting), nil), &got); err != nil {
			return nil, fmt.Errorf("the API server rejects a pod with GOMAXPROCS %s: %w", setting.Label, err)
		}
		for _, one := range s.unlike(&got, setting) {
			if !slices.Contains(refused, one) {
				refused = append(refused, one)
			}
		}
	}
	if loaded && !s.subject.Batch {
		var got corev1.Pod
		if err := s.cluster.dryRun(ctx, s.loadPod(c, "procfit-rehearsal-load"), &got); err != nil {
			return nil, fmt.Errorf("the API server rejects the load generator's pod: %w", err)
		}
		for _, one := range got.Spec.Containers {
			if limit, ok := one.Resources.Limits[corev1.ResourceCPU]; ok { // ours has none
				refused = append(refused, fmt.Sprintf("the load generator gets a CPU limit of %s, which would throttle it", limit.String()))
			}
		}
	}
	if refused != nil {
		err = &RefusedError{"admission in namespace " + s.cluster.Namespace + " changes the pods", refused}
	}
	return s.cluster.Warnings(), err
}

// representative are the unset setting and one with a number, under each quota.
func representative(settings []journal.Setting) (list []journal.Setting) {
	seen := map[string]bool{}
	for _, a := range settings {
		key := strconv.FormatBool(a.Procs == nil)
		if a.QuotaCPUs != nil {
			key += strconv.FormatFloat(*a.QuotaCPUs, 'g', -1, 64)
		}
		if !seen[key] {
			seen[key] = true
			list = append(list, a)
		}
	}
	return list
}

// differenceOf is what a setting asks of a pod.
func (s *Target) differenceOf(a journal.Setting) difference {
	return difference{procs: a.Procs, limit: !sameCPUs(s.Quota, a.QuotaCPUs), quota: a.QuotaCPUs}
}

// unlike says in what a pod is not what a setting asks for, after admission.
func (s *Target) unlike(p *corev1.Pod, a journal.Setting) (list []string) {
	if c := named(p.Spec.Containers, s.container); c != nil {
		has := journal.Default
		for _, e := range c.Env {
			if e.Name == procsVariable {
				has = e.Value
				if e.ValueFrom != nil {
					has = "set from another source"
				}
			}
		}
		if has != a.Label && !(a.Procs == nil && has == journal.Default) {
			list = append(list, fmt.Sprintf("GOMAXPROCS is %s instead of %s", has, a.Label))
		}
		if limit := quantity(c.Resources.Limits); !sameCPUs(limit, a.QuotaCPUs) {
			list = append(list, fmt.Sprintf("the CPU limit is %s instead of %s", limitWords(limit), limitWords(a.QuotaCPUs)))
		}
	}
	// A Job's program and the container that watches it are two; what starts after that one is the program to it.
	if n := len(p.Spec.InitContainers); s.subject.Batch && (len(p.Spec.Containers)+sidecars(p.Spec) > 2 || n > 0 && p.Spec.InitContainers[n-1].Name != observerName) {
		list = append(list, "it adds containers to the Job's pods, so procfit cannot find out which processes belong to the program: exclude these pods from that injection")
	}
	return list
}

func sameCPUs(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return int(*a*1000+0.5) == int(*b*1000+0.5) // as the API has them, in thousandths
}

func limitWords(cpus *float64) string {
	if cpus == nil {
		return "none"
	}
	return strconv.FormatFloat(*cpus, 'g', -1, 64)
}
