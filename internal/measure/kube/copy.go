package kube

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	procsVariable = "GOMAXPROCS"

	labelManager = "app.kubernetes.io/managed-by"
	manager      = "procfit"
	labelRun     = "procfit.dev/run"
	labelRole    = "procfit.dev/role"
	roleTarget   = "target"
	roleLoad     = "load"
	roleCanary   = "canary"
)

// controllers' own labels, which a pod has by its template or by its controller.
var controllersLabels = []string{"pod-template-hash", "controller-revision-hash", "pod-template-generation", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"}

// jobsLabels are those that the API server gives the pods of one Job.
var jobsLabels = []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}

// difference is in what one pod differs from the template.
type difference struct {
	procs *int // nil: GOMAXPROCS is not set
	// limit changes the CPU limit to quota, where nil is no limit. Else it stays.
	limit     bool
	quota     *float64
	unchanged bool // it does not differ
}

// cut is how pods are created of the template.
type cut struct {
	container string          // the one that is measured
	drop      map[string]bool // labels that something selects pods by
	node      string          // as its label kubernetes.io/hostname has it; empty: any
	deadline  time.Duration
	run       string
	role      string // empty: a target
	owner     *metav1.OwnerReference
}

func (s Subject) pod(c cut, name string, to difference) *corev1.Pod {
	t := s.Template.DeepCopy()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}, Annotations: maps.Clone(t.Annotations)}, Spec: t.Spec}
	delete(p.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	for k, v := range t.Labels {
		if !c.drop[k] && !slices.Contains(controllersLabels, k) {
			p.Labels[k] = v
		}
	}
	p.Labels[labelManager], p.Labels[labelRun], p.Labels[labelRole] = manager, c.run, cmp.Or(c.role, roleTarget)
	if c.owner != nil {
		p.OwnerReferences = []metav1.OwnerReference{*c.owner}
	}
	alone(&p.Spec)
	if c.node != "" {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[corev1.LabelHostname] = c.node
	}
	if c.deadline > 0 {
		p.Spec.ActiveDeadlineSeconds = new(int64(math.Ceil(c.deadline.Seconds())))
	}
	if one := named(p.Spec.Containers, c.container); one != nil && !to.unchanged {
		setProcs(one, to.procs)
		if to.limit {
			setLimit(&one.Resources, to.quota)
		}
	}
	return p
}

// named is the container of a name; nil: there is none.
func named(list []corev1.Container, name string) *corev1.Container {
	if i := slices.IndexFunc(list, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// alone takes out of a pod what ties it to a node, to others of its kind, or to what
// the API server has put into it.
func alone(s *corev1.PodSpec) {
	s.RestartPolicy = corev1.RestartPolicyNever
	s.NodeName, s.EphemeralContainers, s.SchedulingGates, s.TopologySpreadConstraints = "", nil, nil, nil
	s.Priority, s.PreemptionPolicy = nil, nil // admission says them by the class
	if s.Affinity != nil {
		s.Affinity.PodAffinity, s.Affinity.PodAntiAffinity = nil, nil
	}
	s.Volumes = slices.DeleteFunc(s.Volumes, func(v corev1.Volume) bool { return v.Projected != nil && injected(v.Name) })
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			list[i].VolumeMounts = slices.DeleteFunc(list[i].VolumeMounts, func(m corev1.VolumeMount) bool { return injected(m.Name) })
		}
	}
}

// injected tells a volume that the API server puts into every pod: its token.
func injected(volume string) bool { return strings.HasPrefix(volume, "kube-api-access-") }

// setProcs sets GOMAXPROCS, or takes it out of env. It stays in its place: $(GOMAXPROCS) is replaced
// only in the variables after it.
func setProcs(c *corev1.Container, procs *int) {
	is := func(e corev1.EnvVar) bool { return e.Name == procsVariable }
	at := slices.IndexFunc(c.Env, is)
	c.Env = slices.DeleteFunc(c.Env, is)
	if at < 0 {
		at = len(c.Env)
	}
	if procs != nil {
		c.Env = slices.Insert(c.Env, at, corev1.EnvVar{Name: procsVariable, Value: strconv.Itoa(*procs)})
	}
}

// expandsProcs reports whether a container has $(GOMAXPROCS) anywhere.
func (s Subject) expandsProcs(container string) bool {
	one, _ := s.measured(container)
	b, err := json.Marshal(one)
	return err == nil && bytes.Contains(b, []byte("$("+procsVariable+")"))
}

func configMapOf(f corev1.EnvFromSource) string {
	if f.ConfigMapRef == nil {
		return ""
	}
	return f.ConfigMapRef.Name
}

// setLimit sets the CPU limit, and the request where that would be above it, or was
// the same: if both are the same, a pod is of another class for the kernel and the scheduler.
func setLimit(r *corev1.ResourceRequirements, quota *float64) {
	limit := r.Limits[corev1.ResourceCPU]
	limited := limit.Sign() > 0 // zero is none, and stays, against the default of a LimitRange
	request, requested := r.Requests[corev1.ResourceCPU]
	if !requested && limited {
		request, requested = limit, true
	}
	same := limited && request.Cmp(limit) == 0
	switch {
	case quota == nil && limited:
		delete(r.Limits, corev1.ResourceCPU)
	case quota != nil:
		limit = *resource.NewMilliQuantity(int64(math.Round(*quota*1000)), resource.DecimalSI)
		if r.Limits == nil {
			r.Limits = corev1.ResourceList{}
		}
		r.Limits[corev1.ResourceCPU] = limit
		if requested && (same || request.Cmp(limit) > 0) {
			request = limit
		}
	}
	if requested {
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[corev1.ResourceCPU] = request
	}
}
