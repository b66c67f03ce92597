package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	atOnce(slices.Collect(maps.Values(byOwner)), func(list []*workload) {
		sets, err := r.template(ctx, list[0])
		for _, w := range list {
			w.compare(sets)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case apierrors.IsNotFound(err): // it goes just now
		case apierrors.IsForbidden(err):
			denied = true
		case err != nil && failed == nil:
			failed = explain("read the controller of pod "+list[0].namespace+"/"+list[0].example, err)
		}
	})
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

// templated are the controllers whose pod template is read, with their names in the API.
var templated = map[string]string{
	"apps/v1 ReplicaSet": "replicasets", "apps/v1 StatefulSet": "statefulsets", "apps/v1 DaemonSet": "daemonsets", "batch/v1 Job": "jobs",
}

// template tells of each container in a controller's pod template whether it sets
// GOMAXPROCS; nil where the controller is of a kind that is not read.
func (r *reading) template(ctx context.Context, w *workload) (map[string]bool, error) {
	resource := templated[w.owner.APIVersion+" "+w.owner.Kind]
	if resource == "" {
		return nil, nil
	}
	b, err := r.client.get(ctx, w.owner.APIVersion, w.namespace, resource+"/"+w.owner.Name, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	var o struct {
		Spec struct{ Template core.PodTemplateSpec }
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("the answer is not valid JSON: %w", err)
	}
	sets := map[string]bool{}
	for _, c := range slices.Concat(o.Spec.Template.Spec.InitContainers, o.Spec.Template.Spec.Containers) {
		sets[c.Name] = slices.ContainsFunc(c.Env, func(e core.EnvVar) bool { return e.Name == "GOMAXPROCS" })
	}
	return sets, nil
}
