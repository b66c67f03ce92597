package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/verdict/canary"
)

// Conditions implements canary.Place.
func (c *Canaries) Conditions(ctx context.Context) (list []canary.Condition, err error) {
	var pods corev1.PodList
	err = c.cluster.Call(ctx, func(ctx context.Context) error {
		return c.cluster.list(ctx, "pods", metav1.ListOptions{LabelSelector: labelRun + "=" + c.cut.run}, &pods)
	})
	if err != nil {
		return nil, fmt.Errorf("our pods in namespace %s: %w", c.cluster.Namespace, err)
	}
	for _, g := range c.groups {
		for _, one := range g.fleet {
			i := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == one.name })
			if i < 0 {
				list = append(list, canary.Condition{Setting: g.setting.Label, Pod: one.name, Taken: fmt.Sprintf("pod %s was deleted by someone else", one.name)})
				continue
			}
			list = append(list, condition(g.setting.Label, &pods.Items[i]))
		}
	}
	return list, nil
}

// condition is what a pod is of a setting.
func condition(setting string, p *corev1.Pod) canary.Condition {
	c := canary.Condition{Setting: setting, Pod: p.Name, Taken: disrupted(p), Ready: isReady(p)}
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		c.Ended = endOf(p)
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		switch sidecar := restarts(p, s.Name); {
		case s.RestartCount > 0:
			c.Ended = fmt.Sprintf("container %s of pod %s was restarted", s.Name, p.Name)
		case s.State.Terminated != nil && !isInit(p, s.Name) || s.State.Terminated != nil && sidecar:
			c.Ended = endOf(p)
		}
	}
	for _, one := range p.Status.Conditions {
		if one.Type == corev1.PodReady && one.Status != corev1.ConditionTrue {
			c.Detail = detail(one.Reason, one.Message)
		}
	}
	return c
}

func isInit(p *corev1.Pod, container string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == container })
}

// restarts tells an init container that is to stay, a sidecar.
func restarts(p *corev1.Pod, container string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == container && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// Mark implements canary.Place.
func (c *Canaries) Mark(ctx context.Context) ([]canary.Seen, error) {
	if err := c.cluster.renew(ctx, c.cut.run, c.believed()); err != nil {
		return nil, err
	}
	list, errs := make([]canary.Seen, len(c.groups)), make([]error, len(c.groups))
	var all sync.WaitGroup
	for i, g := range c.groups {
		all.Go(func() { list[i], errs[i] = g.mark(ctx) })
	}
	all.Wait()
	return list, errors.Join(errs...)
}

// mark is what the setting's pods did since the mark before.
func (g *group) mark(ctx context.Context) (canary.Seen, error) {
	seen := canary.Seen{Setting: g.setting, ObservedProcs: make([]*int, len(g.fleet)), Unknown: []string{}}
	counted, errs := make([]agent.Counted, len(g.fleet)), make([]error, len(g.fleet))
	var all sync.WaitGroup
	for i, one := range g.fleet {
		seen.Pods = append(seen.Pods, one.name)
		all.Go(func() { counted[i], errs[i] = g.again(ctx, i) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return seen, ctx.Err()
	}
	if err := errors.Join(errs...); err != nil {
		seen.Unknown = append(seen.Unknown, err.Error())
	} else {
		seen.Counted = summed(counted, g.Setting.QuotaCPUs)
	}
	readings, _, err := g.look(ctx)
	if err != nil {
		return seen, err
	}
	for i, r := range readings {
		if r.Err == nil && !r.NoGo && r.Procs > 0 {
			seen.ObservedProcs[i] = new(r.Procs)
		}
	}
	return seen, nil
}

// again is what one pod did since its counting began, which begins anew. The first time
// it is nothing.
func (g *group) again(ctx context.Context, i int) (counted agent.Counted, err error) {
	one := g.fleet[i]
	if one.eye == nil {
		return counted, errors.New(one.why)
	}
	if id := g.spans[i]; id != "" {
		if counted, err = one.eye.Stop(ctx, id); err == nil && counted.Error != "" {
			err = errors.New(counted.Error)
		}
	}
	id, startErr := one.eye.Start(ctx, one.port)
	g.spans[i] = id
	if startErr != nil {
		g.spans[i] = ""
	}
	return counted, errors.Join(err, startErr)
}

// summed is what several pods did together.
func summed(list []agent.Counted, quota *float64) (c canary.Counted) {
	add := func(to **float64, x *float64) {
		if x == nil {
			return
		}
		if *to == nil {
			*to = new(0.0)
		}
		**to += *x
	}
	for _, one := range list {
		if one.MeasuredSeconds > 0 {
			add(&c.PodSeconds, &one.MeasuredSeconds)
		}
		if one.CPUSeconds != nil {
			add(&c.CPUSeconds, new(one.CPUSeconds.Total()))
		}
		add(&c.RunQueueWaitSeconds, one.RunQueueWaitSeconds)
		if p99 := one.SchedLatencyP99Seconds; p99 != nil && (c.SchedLatencyP99Seconds == nil || *p99 > *c.SchedLatencyP99Seconds) {
			c.SchedLatencyP99Seconds = p99
		}
		for _, l := range one.Limits { // the container's own comes first; the pod's may be as large
			if sameCPUs(&l.CPUs, quota) {
				if c.Periods == nil {
					c.Periods, c.ThrottledPeriods = new(int64(0)), new(int64(0))
				}
				*c.Periods += l.Periods
				*c.ThrottledPeriods += l.ThrottledPeriods
				break
			}
		}
	}
	return c
}
