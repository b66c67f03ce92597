package kube

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const resizePatience = 30 * time.Second

// resize changes the CPU limit of the targets while they run, and waits until the
// kubelet says that it is so and, where something looks from next to them, until the
// kernel does.
func (r *run) resize(ctx context.Context) error {
	if !r.options.Resize || sameCPUs(r.Quota(), r.Setting.QuotaCPUs) {
		return nil
	}
	quota := *r.Setting.QuotaCPUs // none was refused: a resize cannot take a limit away
	resources := *r.subject.Template.Spec.DeepCopy()
	for i := range resources.Containers {
		if resources.Containers[i].Name == r.container {
			setLimit(&resources.Containers[i].Resources, &quota)
			resources.Containers = resources.Containers[i : i+1]
			break
		}
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": r.container, "resources": resources.Containers[0].Resources}}}})
	if err != nil {
		return err
	}
	for i, one := range r.fleet {
		if err := r.cluster.patch(ctx, one.name, "resize", patch, nil); err != nil {
			return trial.Invalid(journal.InvalidPodChanged, "pod %s cannot be resized to a CPU limit of %g: %v", one.name, quota, err)
		}
		if r.Trial.Pods[i], err = r.resized(ctx, one, quota); err != nil {
			return err
		}
	}
	return nil
}

// resized waits for the proof.
func (r *run) resized(ctx context.Context, one *replica, quota float64) (journal.Pod, error) {
	var now journal.Pod
	late := cluster.After(resizePatience)
	err := cluster.Until(ctx, podInterval, func(ctx context.Context) (bool, error) {
		p, err := r.get(ctx, one.name)
		if err != nil {
			return false, err
		}
		now = evidence(p, r.container)
		seen := &quota
		if one.observer != nil {
			l, err := one.observer.Look(ctx, one.port)
			if refused := (*agent.RefusedError)(nil); errors.As(err, &refused) {
				return false, trial.Invalid(journal.InvalidLost, "cannot check the CPU limit of pod %s in the kernel after the resize: %v", one.name, refused)
			}
			if err != nil {
				return false, err
			}
			seen = l.LimitCPUs
		}
		if sameCPUs(now.CPULimit, &quota) && sameCPUs(seen, &quota) {
			return true, nil
		}
		if late() {
			return false, trial.Invalid(journal.InvalidPodChanged, "pod %s was resized to a CPU limit of %g, but after %s the kubelet reports %s and the kernel %s", one.name, quota, number.Chosen(resizePatience), limitWords(now.CPULimit), limitWords(seen))
		}
		return false, nil
	})
	return now, err
}
