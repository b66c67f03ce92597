package kube

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

func (s Subject) claims() (names []string) {
	for _, v := range s.Template.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return names
}

// refusals are why a copy of the subject's pods would take from the pods that it is a
// copy of, or could not be distinguished from them.
func (s Subject) refusals(claims map[string]*corev1.PersistentVolumeClaim) (list []string) {
	refuse := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	t := s.Template.Spec
	switch {
	case t.HostNetwork:
		refuse("hostNetwork: a copy would need the same ports of the node")
	case t.HostPID:
		refuse("hostPID: its processes cannot be distinguished from the node's")
	}
	if s.Batch && len(t.Containers)+sidecars(t) > 1 {
		refuse("its pods have several containers, so procfit cannot find out which processes belong to the program")
	}
	if r := t.Resources; r != nil && (r.Limits != nil || r.Requests != nil) {
		refuse("pod-level resources: the container's limit would not be the limit in effect")
	}
	for _, c := range slices.Concat(t.InitContainers, t.Containers) {
		for _, p := range c.Ports {
			if p.HostPort != 0 && !t.HostNetwork {
				refuse("container %q has the hostPort %d: a copy would need the same port", c.Name, p.HostPort)
			}
		}
		for _, m := range c.VolumeMounts {
			if path := hostPath(t.Volumes, m.Name); path != "" && !m.ReadOnly {
				refuse("container %q can write to the hostPath %q: a copy would write there too", c.Name, path)
			}
		}
	}
	for _, name := range s.ClaimTemplates {
		refuse("the volumeClaimTemplate %q: a copy would need a volume of its own with the same data", name)
	}
	for _, name := range s.claims() {
		claim := claims[name]
		if claim == nil || claim.Status.Phase != corev1.ClaimBound && claim.Spec.VolumeName == "" {
			continue
		}
		for _, mode := range claim.Spec.AccessModes {
			if mode == corev1.ReadWriteOnce || mode == corev1.ReadWriteOncePod {
				refuse("the claim %q is bound and %s: a copy would write to the volume of the original pod", name, mode)
			}
		}
	}
	return list
}

// sidecars are the init containers that stay next to the others.
func sidecars(t corev1.PodSpec) (n int) {
	for _, c := range t.InitContainers {
		if stays(c) {
			n++
		}
	}
	return n
}

// stays distinguishes a sidecar from an init container that ends.
func stays(c corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func hostPath(volumes []corev1.Volume, name string) string {
	for _, v := range volumes {
		if v.Name == name && v.HostPath != nil {
			return v.HostPath.Path
		}
	}
	return ""
}

// measured is the container under test: the named one, that of the annotation which
// kubectl goes by, or the first.
func (s Subject) measured(name string) (*corev1.Container, error) {
	if name == "" {
		name = s.Template.Annotations["kubectl.kubernetes.io/default-container"]
	}
	containers := s.Template.Spec.Containers
	var names []string
	for i := range containers {
		if name == "" || containers[i].Name == name {
			return &containers[i], nil
		}
		names = append(names, containers[i].Name)
	}
	return nil, fmt.Errorf("it has no container %q; its containers: %s", name, strings.Join(names, ", "))
}
