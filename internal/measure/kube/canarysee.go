package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
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
				list = append(list, canary.Condition{Setting: g.Setting.Label, Pod: one.name, Taken: fmt.Sprintf("pod %s was deleted by someone else", one.name)})
				continue
			}
			list = append(list, condition(g.Setting.Label, &pods.Items[i]))
		}
	}
	return list, nil
}

// condition is what a pod is of a setting.
func condition(setting string, p *corev1.Pod) canary.Condition {
	c := canary.Condition{Setting: setting, Pod: p.Name, Ready: isReady(p)}
	switch t := troubleOf(p); {
	case t == nil || t.waits:
	case t.code == journal.InvalidEvicted:
		c.Taken = t.reason
	default:
		c.Ended = t.reason
	}
	for _, one := range p.Status.Conditions {
		if one.Type == corev1.PodReady && one.Status != corev1.ConditionTrue {
			c.Detail = detail(one.Reason, one.Message)
		}
	}
	return c
}

// Mark implements canary.Place.
func (c *Canaries) Mark(ctx context.Context) ([]journal.Trial, error) {
	if err := c.cluster.renew(ctx, c.cut.run, c.alive()); err != nil {
		return nil, err
	}
	list, errs := make([]journal.Trial, len(c.groups)), make([]error, len(c.groups))
	var all sync.WaitGroup
	for i, g := range c.groups {
		all.Go(func() { list[i], errs[i] = g.mark(ctx) })
	}
	all.Wait()
	return list, errors.Join(errs...)
}

// mark is what the setting's pods did since the mark before.
func (g *group) mark(ctx context.Context) (journal.Trial, error) {
	t := journal.Trial{Setting: g.Setting, Pods: g.Trial.Pods, ObservedProcs: make([]*int, len(g.fleet)), Metrics: map[string]journal.Metric{}}
	before := g.counting
	if before != nil {
		before.end(ctx, 0)
	}
	g.counting = &counting{run: g.run}
	g.counting.start(ctx)
	switch {
	case ctx.Err() != nil:
		return t, ctx.Err()
	case before != nil && before.err != nil:
		t.Warnings = append(t.Warnings, journal.Warning{Code: journal.WarnCounters, Detail: before.err.Error()})
	case before != nil:
		t.Usage = *sum(before.counted, g.Setting.QuotaCPUs)
		for _, one := range before.counted { // of several pods the highest
			if p99 := one.SchedLatencyP99Seconds; p99 != nil {
				name := string(canary.FigureSched)
				t.Metrics[name] = journal.Metric{Value: max(*p99, t.Metrics[name].Value), Unit: "s", Better: "lower"}
			}
		}
	}
	readings, _, err := g.look(ctx)
	if err != nil {
		return t, err
	}
	for i, r := range readings {
		if r.Err == nil && !r.NoGo && r.Procs > 0 {
			t.ObservedProcs[i] = new(r.Procs)
		}
	}
	return t, nil
}
