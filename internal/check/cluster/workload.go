package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/show/phrase"
)

// workload is pods of one controller that are the same in all that bears on GOMAXPROCS.
type workload struct {
	namespace, kind, name string
	owner                 meta.OwnerReference // the controller itself: a ReplicaSet, where a Deployment or Rollout is shown
	pods                  int
	example               string // the name of one of them
	size                  size   // of its node
	object                []byte // what a file would hold
	containers            map[string]state
	injected              map[string]bool // containers whose GOMAXPROCS is in no template
	revisions             map[string]bool // of the template that they are of, where the controller has several
}

type state struct {
	Live    *Live     // nil: not known
	Other   bool      // it is known to be no Go program
	Drawn   string    // the resource that its GOMAXPROCS was drawn from when it started, or ""
	Resized bool      // since then
	Sets    bool      // GOMAXPROCS is in its variables
	Limited bool      // it has a CPU limit
	From    bool      // it takes all variables of some ConfigMap
	started time.Time // not compared: pods that differ in it are the same
}

// injectable reports whether CRI-O may set GOMAXPROCS in a container of it: in those without a CPU limit that do
// not set it themselves.
func (w *workload) injectable() bool {
	for _, st := range w.containers {
		if !st.Limited && !st.Sets {
			return true
		}
	}
	return false
}

func (w *workload) path(key string) string { return w.namespace + "/" + key + ".json" }

type reduced struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       struct {
		Template core.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

type metadata struct {
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

type seen struct {
	programs map[string]*Live // by the container's name
	whole    time.Time        // what ran then and is not in it is known to be no Go program; zero: nothing is
}

// settled is how long a container must have run for the exporter to have seen its program: clocks
// differ, and a script may start the program later.
const settled = time.Minute

func sandboxed(p *core.Pod) bool {
	class := p.Spec.RuntimeClassName
	return class != nil && manifest.Sandboxed(*class)
}

// hashLabels are those whose value ends the name of a ReplicaSet, and what then owns that: Argo has its own.
var hashLabels = map[string]string{"pod-template-hash": "Deployment", "rollouts-pod-template-hash": "Rollout"}

func (w *workload) ownedBy(c *meta.OwnerReference, p *core.Pod) {
	w.owner = *c
	w.revisions[p.Labels[revisionLabels[c.Kind]]] = true
	w.kind, w.name = c.Kind, c.Name
	for label, kind := range hashLabels {
		hash := p.Labels[label]
		if name, ok := strings.CutSuffix(c.Name, "-"+hash); ok && hash != "" && c.Kind == "ReplicaSet" {
			w.kind, w.name = kind, name
		}
	}
	if name := p.Annotations["openshift.io/deployment-config.name"]; name != "" && c.Kind == "ReplicationController" {
		w.kind, w.name = "DeploymentConfig", name
	}
}

func ofPod(p *core.Pod, on node, seen seen) (*workload, string, error) {
	w := &workload{namespace: p.Namespace, kind: "Pod", name: p.Name, pods: 1, example: p.Name, size: on.size, containers: map[string]state{}, revisions: map[string]bool{}}
	if c := meta.GetControllerOf(p); c != nil {
		w.ownedBy(c, p)
	}
	o := reduced{APIVersion: "v1", Kind: w.kind, Metadata: metadata{Name: w.name, Namespace: w.namespace}}
	notes, s := ours(p.Annotations), &o.Spec.Template.Spec
	o.Spec.Template.Annotations = notes
	s.RuntimeClassName, s.OS = p.Spec.RuntimeClassName, p.Spec.OS
	if on.windows {
		s.OS = &core.PodOS{Name: core.Windows}
	}
	if of := p.Spec.Resources; of != nil {
		cpu := cpuOf(*of)
		s.Resources = &cpu
	}
	statuses := map[string]core.ContainerStatus{}
	for _, s := range slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses) {
		statuses[s.Name] = s
	}
	resized := resizedAt(p)
	reduce := func(c core.Container) core.Container {
		k, st := ofContainer(c, statuses[c.Name], resized)
		st.Live = seen.programs[c.Name]
		// The exporter may not see what runs in a sandbox or a virtual machine.
		st.Other = st.Live == nil && !st.started.IsZero() && st.started.Add(settled).Before(seen.whole) && !sandboxed(p)
		release := manifest.AnnotationGo + "." + c.Name
		if st.Live != nil && st.Live.GoVersion != "" && (check.Program{GoVersion: st.Live.GoVersion}).Check() == nil && notes[release] == "" {
			notes[release] = st.Live.GoVersion // as a user names a release
		}
		w.containers[c.Name] = st
		return k
	}
	s.InitContainers, s.Containers = phrase.Each(p.Spec.InitContainers, reduce), phrase.Each(p.Spec.Containers, reduce)
	s.EphemeralContainers = phrase.Each(p.Spec.EphemeralContainers, func(c core.EphemeralContainer) core.EphemeralContainer {
		k := reduce(core.Container(c.EphemeralContainerCommon))
		return core.EphemeralContainer{EphemeralContainerCommon: core.EphemeralContainerCommon(k)}
	})
	if !slices.ContainsFunc(slices.Collect(maps.Values(w.containers)), func(st state) bool { return st.Drawn != "" }) {
		w.size.pods = "" // nodes that differ in it alone are the same
	}
	object, err := json.Marshal(o)
	states, errStates := json.Marshal(w.containers)
	if err := cmp.Or(err, errStates); err != nil {
		return nil, "", fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	w.object = object
	key := sha256.Sum256(fmt.Appendf(nil, "%v %d %s%s", w.size, len(object), object, states))
	return w, fmt.Sprintf("%x", key[:16]), nil
}

func ours(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if strings.HasPrefix(key, "procfit/") || strings.HasPrefix(key, expected.Annotation) {
			kept[key] = value
		}
	}
	return kept
}

// Of a running one the limits in effect count.
func ofContainer(c core.Container, status core.ContainerStatus, resized time.Time) (core.Container, state) {
	k := core.Container{Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args, RestartPolicy: c.RestartPolicy, EnvFrom: c.EnvFrom, Resources: cpuOf(c.Resources)}
	st := state{From: slices.ContainsFunc(c.EnvFrom, func(f core.EnvFromSource) bool { return f.ConfigMapRef != nil })}
	if status.Resources != nil {
		k.Resources = cpuOf(*status.Resources)
	}
	st.Limited = len(k.Resources.Limits) > 0
	if status.State.Running != nil {
		st.started = status.State.Running.StartedAt.Time
	}
	expands := false
	for _, e := range c.Env {
		runtimes := ofRuntime(e.Name)
		expands = expands || runtimes && strings.Contains(e.Value, "$(")
		if e.Name == "GOMAXPROCS" {
			st.Sets, st.Drawn = true, ""
			if e.ValueFrom != nil && e.ValueFrom.ResourceFieldRef != nil {
				st.Drawn = e.ValueFrom.ResourceFieldRef.Resource
			}
		}
	}
	for _, e := range c.Env {
		if ofRuntime(e.Name) || expands {
			k.Env = append(k.Env, divided(e))
		}
	}
	st.Resized = st.Drawn != "" && !st.started.IsZero() && resized.After(st.started)
	return k, st
}

// Misspelt ones, too.
func ofRuntime(name string) bool { return strings.HasPrefix(strings.ToUpper(name), "GO") }

// divided writes the divisor out: "0" is what the API server has made of none.
func divided(e core.EnvVar) core.EnvVar {
	if e.ValueFrom == nil || e.ValueFrom.ResourceFieldRef == nil || !e.ValueFrom.ResourceFieldRef.Divisor.IsZero() {
		return e
	}
	e.ValueFrom = e.ValueFrom.DeepCopy()
	e.ValueFrom.ResourceFieldRef.Divisor = *resource.NewQuantity(1, resource.DecimalSI)
	return e
}

func cpuOf(r core.ResourceRequirements) core.ResourceRequirements {
	only := func(l core.ResourceList) core.ResourceList {
		if q, ok := l[core.ResourceCPU]; ok {
			return core.ResourceList{core.ResourceCPU: q}
		}
		return nil
	}
	return core.ResourceRequirements{Limits: only(r.Limits), Requests: only(r.Requests)}
}

// The API server notes which part of the API has changed a pod.
func resizedAt(p *core.Pod) (at time.Time) {
	for _, m := range p.ManagedFields {
		if m.Subresource == "resize" && m.Time != nil && m.Time.After(at) {
			at = m.Time.Time
		}
	}
	return at
}

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

// revisionLabels tell which template a pod is from; the pods of a ReplicaSet are all from one.
var revisionLabels = map[string]string{"StatefulSet": apps.ControllerRevisionHashLabelKey, "DaemonSet": "pod-template-generation"}

// template tells which containers of a template set GOMAXPROCS, and its revision; nil: not read.
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
