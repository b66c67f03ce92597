package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/show/secret"
)

// changes are what admission made of a pod: what webhooks, a LimitRange and the like
// put into it or take out, in the words of the manifest. What every pod gets, its
// tokens and tolerations, is left out.
func changes(sent, got *corev1.Pod) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, kind := range []struct {
		name      string
		sent, got []corev1.Container
	}{{"initContainer", sent.Spec.InitContainers, got.Spec.InitContainers}, {"container", sent.Spec.Containers, got.Spec.Containers}} {
		for _, g := range kind.got {
			i := slices.IndexFunc(kind.sent, func(s corev1.Container) bool { return s.Name == g.Name })
			if i < 0 {
				add("%s %s added (%s)", kind.name, g.Name, g.Image)
				continue
			}
			list = append(list, containerChanges(kind.sent[i], g)...)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got.Labels)) {
		if v, ok := sent.Labels[k]; !ok || v != got.Labels[k] {
			add("label %s=%s", k, got.Labels[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got.Annotations)) {
		if v, ok := sent.Annotations[k]; !ok || v != got.Annotations[k] {
			add("annotation %s", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got.Spec.NodeSelector)) {
		if got.Spec.NodeSelector[k] != sent.Spec.NodeSelector[k] {
			add("nodeSelector %s=%s", k, got.Spec.NodeSelector[k])
		}
	}
	if s, g := sent.Spec.RuntimeClassName, got.Spec.RuntimeClassName; g != nil && (s == nil || *s != *g) {
		add("runtimeClassName %s", *g)
	}
	return list
}

func containerChanges(sent, got corev1.Container) (list []string) {
	add := func(format string, args ...any) {
		list = append(list, "container "+got.Name+": "+fmt.Sprintf(format, args...))
	}
	if sent.Image != got.Image {
		add("image %s → %s", sent.Image, got.Image)
	}
	if !slices.Equal(sent.Command, got.Command) || !slices.Equal(sent.Args, got.Args) {
		add("command %s", strings.Join(secret.Words(slices.Concat(got.Command, got.Args)), " "))
	}
	value := func(e corev1.EnvVar) string {
		if e.ValueFrom != nil {
			return "valueFrom"
		}
		_, shown, _ := strings.Cut(secret.Text(e.Name+"="+e.Value), "=")
		return fmt.Sprintf("%q", shown)
	}
	before := map[string]string{}
	for _, e := range sent.Env {
		before[e.Name] = value(e)
	}
	for _, e := range got.Env {
		now := value(e)
		if was, ok := before[e.Name]; !ok {
			add("env %s added: %s", e.Name, now)
		} else if was != now {
			add("env %s: %s → %s", e.Name, was, now)
		}
		delete(before, e.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		add("env %s removed", name)
	}
	for _, r := range []struct {
		name      string
		sent, got corev1.ResourceList
	}{{"limits", sent.Resources.Limits, got.Resources.Limits}, {"requests", sent.Resources.Requests, got.Resources.Requests}} {
		for _, k := range slices.Sorted(maps.Keys(r.got)) {
			now := r.got[k]
			was, ok := r.sent[k]
			_, limited := sent.Resources.Limits[k]
			switch {
			case ok && was.Cmp(now) == 0, r.name == "requests" && !ok && limited: // the default of the API itself
			case ok:
				add("%s.%s %s → %s", r.name, k, was.String(), now.String())
			default:
				add("%s.%s %s", r.name, k, now.String())
			}
		}
	}
	return list
}
