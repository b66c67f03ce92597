package kube

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const (
	// nodePatience is how long a node that is not ready is waited for before a trial. A
	// cluster calls one so when it has not been heard of for some 50 s.
	nodePatience = time.Minute
	nodeInterval = 2 * time.Second
	// nodeSettle is for a kubelet that has come back to end the pods that it no longer is
	// to have.
	nodeSettle = 10 * time.Second
	// strandedAfter is how long a pod may take to end before its node is asked for.
	strandedAfter = 5 * time.Second
)

// readiness is whether a node is ready, and since when it has been what it is.
type readiness struct {
	ready bool
	since time.Time
	why   string // what the cluster says of it
}

func readinessOf(n *corev1.Node) readiness {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return readiness{c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time, detail(c.Reason, c.Message)}
		}
	}
	return readiness{why: "its state is unknown"}
}

func (c *api) readiness(ctx context.Context, name string) (readiness, error) {
	n, err := c.node(ctx, name)
	if apierrors.IsNotFound(err) {
		return readiness{why: "it is no longer in the cluster"}, nil
	}
	if err != nil {
		return readiness{}, fmt.Errorf("node %s: %w", name, err)
	}
	return readinessOf(&n), nil
}

func (r *runner) nodes() []string {
	list := []string{r.places.target.name}
	if r.loaded() && r.places.load != r.places.target {
		list = append(list, r.places.load.name)
	}
	return list
}

// nodesReady waits for the nodes before a trial. One that does not come back ends the
// run, which can be continued when it has.
func (r *run) nodesReady(ctx context.Context) error {
	r.since = map[string]time.Time{}
	for _, name := range r.nodes() {
		waited, late := false, cluster.After(nodePatience)
		err := cluster.Until(ctx, nodeInterval, func(ctx context.Context) (bool, error) {
			now, err := r.cluster.readiness(ctx, name)
			if err != nil {
				return false, err
			}
			if now.ready {
				r.since[name] = now.since
				return true, nil
			}
			if late() {
				return false, fmt.Errorf("node %s is not ready (%s) and did not become ready within %s; when it is ready, run the same command to continue, or measure on another node with --node and another --out", name, now.why, number.Chosen(nodePatience))
			}
			r.Observe.Tell(plan.Activity{Step: plan.StepNode, Detail: name})
			waited = true
			return false, nil
		})
		if err != nil {
			return err
		}
		if waited {
			if err := wait.For(ctx, nodeSettle); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost says that a node is not ready, or has not been since the trial started: then what
// its pods did is not known.
func (r *runner) lost(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	now, err := r.cluster.readiness(ctx, name)
	if err != nil {
		return nil // the API server may come back
	}
	return now.lost(name, r.since)
}

func (now readiness) lost(name string, since map[string]time.Time) error {
	before, known := since[name]
	switch {
	case !now.ready:
		return trial.Invalid(journal.InvalidNodeLost, "node %s is no longer ready: %s", name, now.why)
	case known && !now.since.Equal(before):
		return trial.Invalid(journal.InvalidNodeLost, "node %s was not ready for a while during the trial", name)
	}
	return nil
}

func (r *runner) anyLost(ctx context.Context) error {
	for _, name := range r.nodes() {
		if err := r.lost(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// stranded is why a pod that was deleted will not end, since its kubelet is not there to
// end it; empty: it may. Such a pod is taken out of the cluster's books; its kubelet ends
// it when it comes back, and its deadline does in any case.
func (c *api) stranded(ctx context.Context, p *corev1.Pod) string {
	if p.Spec.NodeName == "" {
		return ""
	}
	now, err := c.readiness(ctx, p.Spec.NodeName)
	if err != nil || now.ready { // who may not ask for nodes does not know
		return ""
	}
	return fmt.Sprintf("node %s is no longer ready: %s", p.Spec.NodeName, now.why)
}
