package cluster

import (
	"context"
	"sync"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/procfit/procfit/internal/host/cluster"
)

// templatesAtOnce are asked for.
const templatesAtOnce = 8

// templates reads the pod templates of those controllers alone whose pods set
// GOMAXPROCS, and finds the containers for which the template does not.
func (r *reading) templates(ctx context.Context) error {
	byOwner := map[string][]*workload{}
	for _, w := range r.workloads {
		for _, st := range w.containers {
			if st.Sets && w.owner.Name != "" {
				key := w.namespace + "/" + w.owner.Kind + "/" + w.owner.Name
				byOwner[key] = append(byOwner[key], w)
				break
			}
		}
	}
	var mu sync.Mutex
	var failed error
	denied := false
	work := make(chan []*workload)
	var workers sync.WaitGroup
	for range templatesAtOnce {
		workers.Go(func() {
			for list := range work {
				sets, err := r.template(ctx, list[0])
				mu.Lock()
				switch {
				case apierrors.IsNotFound(err): // it goes just now
				case apierrors.IsForbidden(err):
					denied = true
				case err != nil && failed == nil:
					failed = explain("read the controller of pod "+list[0].namespace+"/"+list[0].example, err)
				}
				mu.Unlock()
				for _, w := range list {
					w.compare(sets)
				}
			}
		})
	}
	for _, list := range byOwner {
		work <- list
	}
	close(work)
	workers.Wait()
	if denied {
		r.note("no permission to read the controllers of pods: whether something added GOMAXPROCS to their pods is not known")
	}
	return failed
}

// compare notes the containers that set GOMAXPROCS where their template does not. A
// container that the template has not at all was put in with its variables.
func (w *workload) compare(sets map[string]bool) {
	w.injected = map[string]bool{}
	for name, st := range w.containers {
		if its, there := sets[name]; there && st.Sets && !its {
			w.injected[name] = true
		}
	}
}

// template tells of each container in a controller's pod template whether it sets
// GOMAXPROCS; nil where the controller is of a kind that is not read.
func (r *reading) template(ctx context.Context, w *workload) (map[string]bool, error) {
	get := func(from cluster.Group, resource string, into runtime.Object) error {
		return from.Get().Namespace(w.namespace).Resource(resource).Name(w.owner.Name).Do(ctx).Into(into)
	}
	var spec *core.PodSpec
	var err error
	switch w.owner.APIVersion + " " + w.owner.Kind {
	case "apps/v1 ReplicaSet":
		var o apps.ReplicaSet
		err, spec = get(r.client.Apps, "replicasets", &o), &o.Spec.Template.Spec
	case "apps/v1 StatefulSet":
		var o apps.StatefulSet
		err, spec = get(r.client.Apps, "statefulsets", &o), &o.Spec.Template.Spec
	case "apps/v1 DaemonSet":
		var o apps.DaemonSet
		err, spec = get(r.client.Apps, "daemonsets", &o), &o.Spec.Template.Spec
	case "batch/v1 Job":
		var o batch.Job
		err, spec = get(r.client.Batch, "jobs", &o), &o.Spec.Template.Spec
	}
	if err != nil || spec == nil {
		return nil, err
	}
	return setsIn(spec), nil
}

func setsIn(s *core.PodSpec) map[string]bool {
	sets := map[string]bool{}
	for _, list := range [][]core.Container{s.InitContainers, s.Containers} {
		for _, c := range list {
			sets[c.Name] = false
			for _, e := range c.Env {
				sets[c.Name] = sets[c.Name] || e.Name == "GOMAXPROCS"
			}
		}
	}
	return sets
}
