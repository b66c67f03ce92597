package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// counting is what the kernel counts of all targets over one loop.
type counting struct {
	*run
	ids     []string
	counted []agent.Counted
	ended   bool
	err     error
}

// each asks the agents next to all targets at once.
func (c *counting) each(ask func(i int, e *agent.Client) error) {
	c.err = errors.Join(wait.All(len(c.fleet), func(i int) error {
		if one := c.fleet[i]; one.observer == nil {
			return errors.New(one.why)
		}
		return ask(i, c.fleet[i].observer)
	}), c.err)
}

// start starts before the load does: once a target uses all of its limit, in which the
// agent next to it has a share, the agent is slow. Before the load a target does nothing
// that would be counted.
func (c *counting) start(ctx context.Context) {
	c.ids, c.counted = make([]string, len(c.fleet)), make([]agent.Counted, len(c.fleet))
	c.each(func(i int, e *agent.Client) (err error) {
		c.ids[i], err = e.Start(ctx, c.fleet[i].port)
		return err
	})
}

func (c *counting) end(ctx context.Context, late time.Duration) {
	if late > agent.Prompt && c.err == nil {
		c.err = fmt.Errorf("the end of the load was reported %s late", number.Duration(late))
	}
	if c.err != nil {
		return
	}
	c.ended = true
	c.each(func(i int, e *agent.Client) (err error) {
		c.counted[i], err = e.Stop(ctx, c.ids[i])
		if err == nil && c.counted[i].Error != "" {
			err = errors.New(c.counted[i].Error)
		}
		return err
	})
}

// usage is all targets' together; nil, with a warning, where it is not known. span is how
// long the load was: around it a target does nothing, so that what is its own belongs to
// that; of the node's it is a share.
func (c *counting) usage(of *load.Result, span time.Duration) *journal.Usage {
	if c.err == nil && !c.ended {
		c.err = errors.New("the load never reported its end")
	}
	if c.err != nil {
		c.Uncounted(c.err)
		return nil
	}
	u := sum(c.counted, c.Setting.QuotaCPUs)
	share := min(1, span.Seconds()/u.MeasuredSeconds)
	u.MeasuredSeconds = min(span.Seconds(), u.MeasuredSeconds)
	if h := u.HostUse; h != nil {
		h.StealSeconds *= share
		h.TargetCPUs = c.places.target.host.CPUs
		if h.OtherCPUSeconds != nil && u.CPUSeconds != nil {
			others := *h.OtherCPUSeconds
			if c.spec.LoadOnTargetHost() {
				others -= (of.User + of.System).Seconds()
			}
			trial.CountOthers(h, max(0, others)*share, span)
		}
	}
	return u
}

// sum adds up what was counted of several targets on one node. Of the limits the one
// that the setting sets is counted by itself.
func sum(list []agent.Counted, quota *float64) *journal.Usage {
	u := &journal.Usage{}
	memory, gc := make([]*journal.Memory, len(list)), make([]*journal.GC, len(list))
	for i, one := range list {
		memory[i], gc[i] = one.Memory, one.GC
		u.MeasuredSeconds = max(u.MeasuredSeconds, one.MeasuredSeconds)
		if i == 0 {
			u.HostUse = one.HostUse
		}
		trial.AddCounts(i == 0, u, one.Usage)
		if i > 0 && one.CPUSeconds != nil && u.HostUse != nil && u.HostUse.OtherCPUSeconds != nil { // to the first the rest are others
			u.HostUse.OtherCPUSeconds = new(max(0, *u.HostUse.OtherCPUSeconds-one.CPUSeconds.Total()))
		}
		if one.ThreadsMax != nil {
			*trial.Of(&u.ThreadsMax) += *one.ThreadsMax
		}
		counted := false
		for _, l := range one.Limits {
			if quota == nil || !sameCPUs(&l.CPUs, quota) {
				u.OuterLimits = append(u.OuterLimits, l)
				continue
			}
			if counted { // the container's own comes first, and the pod's may be as large
				continue
			}
			counted = true
			trial.Of(&u.Cgroup).Add(l.Cgroup)
		}
	}
	u.Memory, u.GC = trial.SumAll(memory, (*journal.Memory).Add), trial.SumAll(gc, (*journal.GC).Add)
	return u
}

func (r *run) gone(ctx context.Context, name string) error {
	if err := r.cluster.deletePod(ctx, name, max(endGrace, int64(r.spec.Target.Grace.Seconds()))); err != nil {
		return err
	}
	began := time.Now()
	late := cluster.After(r.spec.Target.Grace + endPatience)
	err := cluster.Until(ctx, podInterval, func(ctx context.Context) (bool, error) {
		p, err := r.get(ctx, name)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if time.Since(began) > strandedAfter {
			if why := r.cluster.stranded(ctx, p); why != "" {
				return false, errors.Join(r.cluster.deletePod(ctx, name, 0), trial.Invalid(journal.InvalidNodeLost, "%s", why))
			}
		}
		if late() {
			return false, fmt.Errorf("pod %s does not end, although its node is ready", name)
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("pod %s still exists: %w", name, ctx.Err())
	}
	return err
}
