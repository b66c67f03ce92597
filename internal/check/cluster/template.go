package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/check"
)

// templates reads the templates only of pods that set GOMAXPROCS.
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
	check.AtOnce(requestsAtOnce, slices.Collect(maps.Values(byOwner)), func(_ int, list []*workload) {
		sets, revision, err := r.template(ctx, list[0])
		for _, w := range list {
			if w.revisions[revision] { // the others are of an earlier template
				w.compare(sets)
			}
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

// A container that the template does not have was put in with its variables.
func (w *workload) compare(sets map[string]bool) {
	w.injected = map[string]bool{}
	for name, st := range w.containers {
		if its, there := sets[name]; there && st.Sets && !its {
			w.injected[name] = true
		}
	}
}

var templated = map[string]string{
	"apps/v1 ReplicaSet": "replicasets", "apps/v1 StatefulSet": "statefulsets", "apps/v1 DaemonSet": "daemonsets", "batch/v1 Job": "jobs",
}

// revisionLabels are the labels in which pods have the revision of the template that they were
// created from, by the kind of their controller: those of a ReplicaSet are all of one template.
var revisionLabels = map[string]string{"StatefulSet": apps.ControllerRevisionHashLabelKey, "DaemonSet": "pod-template-generation"}

// template tells of each container in a controller's pod template whether it sets GOMAXPROCS, and
// the template's revision; nil where the controller is of a kind that is not read.
func (r *reading) template(ctx context.Context, w *workload) (sets map[string]bool, revision string, err error) {
	resource := templated[w.owner.APIVersion+" "+w.owner.Kind]
	if resource == "" {
		return nil, "", nil
	}
	b, err := r.client.get(ctx, w.owner.APIVersion, w.namespace, resource+"/"+w.owner.Name, meta.ListOptions{})
	if err != nil {
		return nil, "", err
	}
	var o struct {
		Metadata meta.ObjectMeta
		Spec     struct{ Template core.PodTemplateSpec }
		Status   struct {
			ObservedGeneration int64
			UpdateRevision     string
		}
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, "", fmt.Errorf("the answer is not valid JSON: %w", err)
	}
	switch w.owner.Kind {
	case "DaemonSet":
		revision = o.Metadata.Annotations[apps.DeprecatedTemplateGeneration]
	case "StatefulSet":
		if revision = o.Status.UpdateRevision; o.Status.ObservedGeneration != o.Metadata.Generation {
			return nil, "", nil // the template is newer
		}
	}
	sets = map[string]bool{}
	for _, c := range slices.Concat(o.Spec.Template.Spec.InitContainers, o.Spec.Template.Spec.Containers) {
		sets[c.Name] = slices.ContainsFunc(c.Env, func(e core.EnvVar) bool { return e.Name == "GOMAXPROCS" })
	}
	return sets, revision, nil
}
