package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Serving is what a canary's pods take part in.
type Serving struct {
	Services []journal.Service
	Counting []journal.Counter // autoscalers and disruption budgets
	Unseen   []cluster.Right   // by which those are listed, and which are not allowed
	images   []string          // the digests of those that the user's pods run in the container; nil: none is known
}

// Endpoints are the pods of the user's behind the Service that has the fewest.
func (s Serving) Endpoints() int {
	n := 0
	for i, one := range s.Services {
		if i == 0 || one.Endpoints < n {
			n = one.Endpoints
		}
	}
	return n
}

// findServing finds the Services that send a canary's pods requests, and refuses where
// there is none, or where a controller would take the pods for its own.
func (s *Target) findServing(ctx context.Context) error {
	s.cut.role = roleCanary
	if one, err := s.subject.measured(s.container); err == nil && slices.ContainsFunc(one.Env, func(e corev1.EnvVar) bool { return e.Name == procsVariable }) {
		s.Notes = append(s.Notes, "the template sets "+procsVariable+", but the control pods do not: name today's value in --procs to compare it")
	}
	own := labels.Set(s.subject.pod(s.cut, "", difference{}).Labels)
	if err := s.findServices(ctx, own); err != nil {
		return err
	}
	all, err := s.controllers(ctx)
	if err != nil {
		return err
	}
	if reasons := adopters(own, all); reasons != nil {
		return &RefusedError{s.object() + " cannot have a canary", reasons}
	}
	return s.findCounting(ctx, own, all)
}

func (s *Target) findServices(ctx context.Context, own labels.Set) error {
	var services corev1.ServiceList
	if err := s.cluster.list(ctx, s.cluster.Core, "services", metav1.ListOptions{}, &services); err != nil {
		return err
	}
	for _, one := range services.Items {
		selector := labels.SelectorFromSet(one.Spec.Selector)
		if len(one.Spec.Selector) == 0 || !selector.Matches(own) {
			continue
		}
		var pods corev1.PodList
		if err := s.cluster.list(ctx, s.cluster.Core, "pods", metav1.ListOptions{LabelSelector: selector.String()}, &pods); err != nil {
			return err
		}
		theirs, ours, images := endpoints(pods.Items, selector, s.container)
		switch {
		case ours > 0:
			return &RefusedError{"service " + one.Name, []string{fmt.Sprintf("%d pods of another canary receive its traffic: wait until that canary ends, or remove its pods with procfit kube clean --namespace %s", ours, s.cluster.Namespace)}}
		case theirs == 0:
			return &RefusedError{"service " + one.Name, []string{"none of its pods is ready, so it sends no traffic"}}
		}
		s.Serving.Services = append(s.Serving.Services, journal.Service{Name: one.Name, Endpoints: theirs})
		s.Serving.images = append(s.Serving.images, images...)
	}
	if s.Serving.Services == nil {
		return &RefusedError{s.object() + " cannot have a canary", []string{fmt.Sprintf("no Service in namespace %s selects its pods, so they would receive no requests", s.cluster.Namespace)}}
	}
	if s.Serving.images == nil {
		s.Notes = append(s.Notes, fmt.Sprintf("none of the pods that serve now reports the image of a container %s, so procfit cannot check that the canary pods run the same image", s.container))
	}
	return nil
}

// endpoints counts the pods that serve, the user's and what of them is ours, with the digests of the
// images that the user's run in a container.
func endpoints(pods []corev1.Pod, selector labels.Selector, container string) (theirs, ours int, images []string) {
	for i := range pods {
		switch p := &pods[i]; {
		case !selector.Matches(labels.Set(p.Labels)) || p.DeletionTimestamp != nil:
		case p.Labels[labelManager] == manager && p.Labels[labelRun] != "":
			ours++
		case isReady(p):
			theirs++
			if id := evidence(p, container).ImageID; id != "" {
				images = append(images, digestOf(id))
			}
		}
	}
	return theirs, ours, images
}

// rolledOut holds a canary's pod to what the user's pods run, as soon as its image is known, which is as
// a rule before it is ready: the tag of the template may name an image by now that serves nobody yet.
func (r *runner) rolledOut(p *corev1.Pod) error {
	id := evidence(p, r.container).ImageID
	if r.Serving.images == nil || !strings.Contains(id, "@") && !running(p) || slices.Contains(r.Serving.images, digestOf(id)) {
		return nil
	}
	return trial.Invalid(journal.InvalidPodChanged, "pod %s reports the image %q, and none of the pods that served before reports it: if its tag was moved, roll that image out first, or name the other one by its digest in the object", p.Name, id)
}

// isReady is the pod's own word, which Services go by.
func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// controller is one that knows its pods by a selector.
type controller struct {
	kind, name string // as in replicaset/api
	selector   *metav1.LabelSelector
	owner      string // the Deployment of a ReplicaSet
}

// selects is false where there is no selector, or one that cannot be read: then nothing
// goes by it.
func selects(s *metav1.LabelSelector, own labels.Set) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(own)
}

// adopters are those that would take a pod of these labels for one of theirs. The
// selector of a Deployment's ReplicaSet asks for the template's hash, which ours lack.
func adopters(own labels.Set, list []controller) (reasons []string) {
	for _, one := range list {
		if selects(one.selector, own) {
			reasons = append(reasons, fmt.Sprintf("%s/%s would adopt its pods, since it selects %s", one.kind, one.name, metav1.FormatLabelSelector(one.selector)))
		}
	}
	return reasons
}

// controllers are those of the namespace that may adopt pods.
func (s *Target) controllers(ctx context.Context) (list []controller, err error) {
	for _, kind := range []string{"replicaset", "statefulset", "daemonset"} {
		all, err := read[workload](ctx, s, "apps/v1", kind+"s")
		if err != nil {
			return nil, fmt.Errorf("cannot list the %ss of namespace %s: %w", kind, s.cluster.Namespace, err)
		}
		for _, one := range all {
			of := controller{kind: kind, name: one.Name, selector: one.Spec.Selector}
			if o := metav1.GetControllerOf(&one); o != nil && o.Kind == "Deployment" {
				of.owner = o.Name
			}
			list = append(list, of)
		}
	}
	return list, nil
}

// findCounting finds what goes by all pods of these labels, ours among them.
func (s *Target) findCounting(ctx context.Context, own labels.Set, controllers []controller) error {
	if !slices.Contains(s.Serving.Unseen, rightHPAs) {
		all, err := read[autoscaler](ctx, s, "autoscaling/v2", "horizontalpodautoscalers")
		if err != nil {
			return fmt.Errorf("the horizontalpodautoscalers of namespace %s: %w", s.cluster.Namespace, err)
		}
		for _, one := range all {
			if scales(one.Spec.ScaleTargetRef, s.subject, own, controllers) {
				s.Serving.Counting = append(s.Serving.Counting, journal.Counter{Kind: "HorizontalPodAutoscaler", Name: one.Metadata.Name, Effect: journal.EffectMean})
			}
		}
	}
	if !slices.Contains(s.Serving.Unseen, rightPDBs) {
		all, err := read[budget](ctx, s, "policy/v1", "poddisruptionbudgets")
		if err != nil {
			return fmt.Errorf("the poddisruptionbudgets of namespace %s: %w", s.cluster.Namespace, err)
		}
		for _, one := range all {
			if selects(one.Spec.Selector, own) {
				s.Serving.Counting = append(s.Serving.Counting, journal.Counter{Kind: "PodDisruptionBudget", Name: one.Metadata.Name, Effect: effect(one.Spec)})
			}
		}
	}
	return nil
}

// workload is what is read of a controller of pods, autoscaler of a HorizontalPodAutoscaler, and
// budget of a PodDisruptionBudget. The API's own types would link all of their groups.
type workload struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct{ Selector *metav1.LabelSelector }
}

type autoscaler struct {
	Metadata struct{ Name string }
	Spec     struct{ ScaleTargetRef scaled }
}

type budget struct {
	Metadata struct{ Name string }
	Spec     budgetSpec
}

type budgetSpec struct {
	MinAvailable, MaxUnavailable *intstr.IntOrString
	Selector                     *metav1.LabelSelector
}

type scaled struct{ Kind, Name string }

// read reads all objects of a resource in the namespace, as far as a type of ours has them.
func read[T any](ctx context.Context, s *Target, group, resource string) ([]T, error) {
	var list struct{ Items []T }
	err := s.cluster.Call(ctx, func(ctx context.Context) error {
		b, err := s.cluster.Core.Get().AbsPath("apis", group, "namespaces", s.cluster.Namespace, resource).SetHeader("Accept", "application/json").DoRaw(ctx)
		if err != nil {
			return err
		}
		return json.Unmarshal(b, &list)
	})
	return list.Items, err
}

// effect is what a disruption budget makes of pods that a ConfigMap owns.
func effect(b budgetSpec) journal.Effect {
	if b.MaxUnavailable != nil || b.MinAvailable != nil && b.MinAvailable.Type == intstr.String {
		return journal.EffectBlocked
	}
	return journal.EffectRelaxed
}

// scales tells an autoscaler that goes by pods of these labels. It knows them by the
// selector of its Deployment, which is that of a ReplicaSet of it without the hash.
func scales(to scaled, subject Subject, own labels.Set, list []controller) bool {
	if strings.EqualFold(to.Kind, subject.Kind) && to.Name == subject.Name {
		return true
	}
	return slices.ContainsFunc(list, func(set controller) bool {
		if to.Kind != "Deployment" || set.owner != to.Name || set.selector == nil {
			return false
		}
		without := set.selector.DeepCopy()
		delete(without.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey)
		return selects(without, own)
	})
}
