package kube

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Subject is what is measured: the pods of an object.
type Subject struct {
	Kind, Name string
	File       string // the manifest that it was read from; empty: it is in the cluster
	Namespace  string // in the manifest; empty: none
	Template   corev1.PodTemplateSpec
	// Selector is by which its controller knows its pods; nil: not known. Of a pod with a controller it
	// is all labels, since only the controller says which of them it goes by.
	Selector *metav1.LabelSelector
	Batch    bool // its pods run and end
	Indexed  bool // each of its pods has a number
	// ClaimTemplates are the volumes that each pod of a StatefulSet has for itself.
	ClaimTemplates []string
}

// kind is one of the objects that pods can be copied from.
type kind struct {
	name, resource, group string   // as the API has them; group empty: the core's
	words                 []string // that users call it by next to these
	empty                 func() runtime.Object
}

var kinds = []kind{
	{"Deployment", "deployments", "apps", []string{"deploy"}, func() runtime.Object { return &appsv1.Deployment{} }},
	{"StatefulSet", "statefulsets", "apps", []string{"sts"}, func() runtime.Object { return &appsv1.StatefulSet{} }},
	{"DaemonSet", "daemonsets", "apps", []string{"ds"}, func() runtime.Object { return &appsv1.DaemonSet{} }},
	{"Pod", "pods", "", []string{"po"}, func() runtime.Object { return &corev1.Pod{} }},
	{"Job", "jobs", "batch", nil, func() runtime.Object { return &batchv1.Job{} }},
	{"CronJob", "cronjobs", "batch", []string{"cj"}, func() runtime.Object { return &batchv1.CronJob{} }},
}

// reference is what the user names: an object, or a manifest.
type reference struct {
	kind
	object, file string // the object's name, or the manifest
}

// parseReference reads deployment/api, or the name of a manifest.
func parseReference(s string) (reference, error) {
	if ext := filepath.Ext(s); s == "-" || slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
		return reference{file: s}, nil
	}
	word, name, ok := strings.Cut(s, "/")
	word, _, _ = strings.Cut(strings.ToLower(word), ".") // deployments.apps
	i := slices.IndexFunc(kinds, func(k kind) bool {
		return word == strings.ToLower(k.name) || word == k.resource || slices.Contains(k.words, word)
	})
	if !ok || i < 0 || name == "" || strings.Contains(name, "/") {
		try := ""
		if !ok && s != "" {
			try = "; try: deployment/" + s
		}
		return reference{}, plan.Wrong("command", "%q: expected deployment/NAME, statefulset/NAME, daemonset/NAME, pod/NAME, job/NAME, cronjob/NAME, or a manifest file (.yaml or .json)%s", s, try)
	}
	return reference{kind: kinds[i], object: name}, nil
}

// CheckObject says why a word names no object that can be measured.
func CheckObject(word string) error {
	_, err := parseReference(word)
	return err
}

func (c *api) subject(ctx context.Context, r reference) (Subject, error) {
	object, group := r.empty(), map[string]cluster.Group{"": c.Core, "apps": c.Apps, "batch": c.Batch}[r.group]
	err := c.get(ctx, group, r.resource, r.object, object)
	at := fmt.Sprintf("%s/%s in namespace %s", strings.ToLower(r.name), r.object, c.Namespace)
	switch {
	case apierrors.IsNotFound(err):
		return Subject{}, fmt.Errorf("%s: not found; to list what is there: kubectl get %s -n %s", at, r.resource, c.Namespace)
	case err != nil:
		return Subject{}, fmt.Errorf("%s: %w", at, err)
	}
	return subjectOf(object), nil
}

func subjectOf(object any) Subject {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return Subject{Kind: "Deployment", Name: o.Name, Template: o.Spec.Template, Selector: o.Spec.Selector}
	case *appsv1.DaemonSet:
		return Subject{Kind: "DaemonSet", Name: o.Name, Template: o.Spec.Template, Selector: o.Spec.Selector}
	case *appsv1.StatefulSet:
		s := Subject{Kind: "StatefulSet", Name: o.Name, Template: o.Spec.Template, Selector: o.Spec.Selector}
		for _, claim := range o.Spec.VolumeClaimTemplates {
			s.ClaimTemplates = append(s.ClaimTemplates, claim.Name)
		}
		return s
	case *corev1.Pod:
		s := Subject{Kind: "Pod", Name: o.Name, Template: corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}}
		if metav1.GetControllerOf(o) != nil { // a StatefulSet gives each pod a name in DNS
			s.Template.Spec.Hostname, s.Template.Spec.Subdomain = "", ""
			s.Selector = &metav1.LabelSelector{MatchLabels: o.Labels}
		}
		return s
	case *batchv1.Job:
		return batchOf("Job", o.Name, o.Spec)
	case *batchv1.CronJob:
		return batchOf("CronJob", o.Name, o.Spec.JobTemplate.Spec)
	}
	return Subject{}
}

// batchOf is a Job's subject, without the labels by which its controller knows the pods
// of one Job: they are of that one alone.
func batchOf(kind, name string, spec batchv1.JobSpec) Subject {
	indexed := spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
	s := Subject{Kind: kind, Name: name, Template: *spec.Template.DeepCopy(), Batch: true, Indexed: indexed}
	maps.DeleteFunc(s.Template.Labels, func(k, _ string) bool { return slices.Contains(jobsLabels, k) })
	return s
}

// MostManifest is more than any manifest of a few objects, in bytes.
const MostManifest = 16 << 20

// readManifest reads the one object of a manifest that runs pods.
func readManifest(ctx context.Context, file string, stdin io.Reader) (Subject, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = folder.ReadAll(ctx, stdin, MostManifest)
	} else {
		b, err = folder.ReadRegular(file, MostManifest)
	}
	if err != nil {
		return Subject{}, err
	}
	s, err := parseManifest(b)
	if err != nil {
		return Subject{}, fmt.Errorf("%s: %w", file, err)
	}
	s.File = file
	return s, nil
}

func parseManifest(b []byte) (Subject, error) {
	var found []Subject
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(b), 4096)
	for {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return Subject{}, notYAML(err)
		}
		s, ok, err := decodeObject(raw)
		if err != nil {
			return Subject{}, err
		}
		if ok {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return Subject{}, errors.New("the manifest has no Deployment, StatefulSet, DaemonSet, Pod, Job or CronJob")
	case 1:
		return found[0], nil
	}
	names := phrase.Each(found, func(s Subject) string { return strings.ToLower(s.Kind) + "/" + s.Name })
	return Subject{}, fmt.Errorf("the manifest has %s: keep only the one to measure", phrase.And(names))
}

// notYAML is why a text is not YAML, without the names of its library.
func notYAML(err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	return fmt.Errorf("invalid YAML: %s", strings.Replace(text, "did not find expected", "expected", 1))
}

// decodeObject reads a document; false: it is of another kind.
func decodeObject(raw json.RawMessage) (Subject, bool, error) {
	var meta metav1.TypeMeta
	if len(raw) == 0 || string(raw) == "null" {
		return Subject{}, false, nil
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return Subject{}, false, err
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == meta.Kind })
	if i < 0 {
		return Subject{}, false, nil
	}
	object := kinds[i].empty()
	if err := json.Unmarshal(raw, object); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s is a %s, which the API does not take there", wrong.Field, wrong.Value)
		}
		return Subject{}, false, fmt.Errorf("%s: %w", meta.Kind, err)
	}
	s := subjectOf(object)
	s.Namespace = object.(metav1.Object).GetNamespace()
	return s, true, nil
}

// sum is of all that a copy is created from, so that a resumed run does not mix two.
func (s Subject) sum() string {
	t := s.Template.DeepCopy()
	if s.Kind == "Pod" { // what of it is the one pod's own
		t.ObjectMeta, t.Spec.NodeName = metav1.ObjectMeta{Labels: t.Labels, Annotations: t.Annotations}, ""
	}
	b, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

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
	switch {
	case s.Batch && len(t.Containers)+sidecars(t) > 1:
		refuse("its pods have several containers, so procfit cannot find out which processes belong to the program")
	case mixed(t):
		refuse("shareProcessNamespace: the program's processes cannot be distinguished from those of the other containers")
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
	for _, v := range t.Volumes {
		if isDisk(v.VolumeSource) {
			refuse("the volume %q is a disk: a copy would write to that of the original pod", v.Name)
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

// isDisk reports whether a volume is one that a single node may write to at a time, and that the template names
// itself: it is none of a pod's own, of what is only read, and of what nodes share over the network.
func isDisk(v corev1.VolumeSource) bool {
	v.HostPath, v.PersistentVolumeClaim = nil, nil // which are judged by themselves
	v.EmptyDir, v.Ephemeral, v.CSI = nil, nil, nil
	v.Secret, v.ConfigMap, v.DownwardAPI, v.Projected, v.GitRepo, v.Image = nil, nil, nil, nil, nil, nil
	v.NFS, v.CephFS, v.Glusterfs, v.AzureFile, v.Quobyte = nil, nil, nil, nil, nil
	b, err := json.Marshal(v)
	return v != corev1.VolumeSource{} && !(err == nil && bytes.Contains(b, []byte(`"readOnly":true`)))
}

// mixed reports whether several containers of a pod share their processes.
func mixed(t corev1.PodSpec) bool {
	return t.ShareProcessNamespace != nil && *t.ShareProcessNamespace && len(t.Containers)+sidecars(t) > 1
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
	const annotation = "kubectl.kubernetes.io/default-container"
	by := "--container"
	if name == "" {
		name, by = s.Template.Annotations[annotation], "the annotation "+annotation
	}
	containers := s.Template.Spec.Containers
	var names []string
	for i := range containers {
		if name == "" || containers[i].Name == name {
			return &containers[i], nil
		}
		names = append(names, containers[i].Name)
	}
	return nil, fmt.Errorf("%s: it has no container %q; its containers: %s", by, name, strings.Join(names, ", "))
}
