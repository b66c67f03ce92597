package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// trouble is why a pod will not do what it was created for.
type trouble struct {
	code   journal.InvalidCode
	reason string
	// waits says that it may yet come right by itself, as a pod that does not fit the
	// node may when another goes.
	waits bool
}

// waitingReasons are those of a container that is not started, for what is wrong with
// the pod and not with the moment.
var waitingReasons = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "ImageInspectError"}

// troubleOf looks at a pod that should run; nil: nothing is wrong.
func troubleOf(p *corev1.Pod) *trouble {
	if why := disrupted(p); why != "" {
		return &trouble{code: journal.InvalidEvicted, reason: why}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && slices.Contains(waitingReasons, w.Reason) {
			// Of images, the kubelet tries again, and a registry may have been busy.
			return &trouble{journal.InvalidNoPod, fmt.Sprintf("container %s of pod %s: %s", s.Name, p.Name, detail(w.Reason, w.Message)), strings.Contains(w.Reason, "Pull")}
		}
	}
	switch p.Status.Phase {
	case corev1.PodFailed, corev1.PodSucceeded:
		if len(p.Status.ContainerStatuses) == 0 && p.Status.Reason != "" { // the kubelet did not take it: OutOfcpu
			return &trouble{code: journal.InvalidNoPod, reason: fmt.Sprintf("pod %s: %s", p.Name, detail(p.Status.Reason, p.Status.Message))}
		}
		return &trouble{code: endCode(p, journal.InvalidCrashed), reason: endOf(p)}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return &trouble{journal.InvalidNoPod, fmt.Sprintf("pod %s: %s", p.Name, detail(c.Reason, c.Message)), true}
		}
	}
	for _, s := range slices.Concat(sidecarsOf(p), p.Status.ContainerStatuses) {
		switch {
		case s.RestartCount > 0:
			return &trouble{code: journal.InvalidPodChanged, reason: fmt.Sprintf("container %s of pod %s was restarted", s.Name, p.Name)}
		case s.State.Terminated != nil:
			return &trouble{code: endCode(p, journal.InvalidCrashed), reason: endOf(p)}
		}
	}
	return nil
}

func sidecarsOf(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.DeleteFunc(slices.Clone(p.Status.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		return !slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == s.Name && stays(c) })
	})
}

// disrupted says how the cluster itself ended a pod, or is about to; empty: it does not.
func disrupted(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("the cluster removed pod %s: %s", p.Name, detail(c.Reason, c.Message))
		}
	}
	switch {
	case slices.Contains([]string{"Evicted", "Preempting", "NodeShutdown", "Shutdown", "Terminated", "NodeLost", "DeadlineExceeded"}, p.Status.Reason):
		return fmt.Sprintf("the cluster removed pod %s: %s", p.Name, detail(p.Status.Reason, p.Status.Message))
	case p.DeletionTimestamp != nil:
		return fmt.Sprintf("pod %s was deleted by someone else", p.Name)
	}
	return ""
}

// endOf is how a pod's containers ended: one that failed, where there is one.
func endOf(p *corev1.Pod) string {
	all := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	for _, failed := range []bool{true, false} {
		for _, s := range all {
			t := s.State.Terminated
			switch {
			case t == nil, failed && t.ExitCode == 0 && t.Signal == 0, !failed && p.Status.Phase == corev1.PodRunning:
			case t.Signal != 0:
				return fmt.Sprintf("container %s of pod %s was killed by signal %d (%s)", s.Name, p.Name, t.Signal, detail(t.Reason, t.Message))
			default:
				return fmt.Sprintf("container %s of pod %s ended with code %d (%s)", s.Name, p.Name, t.ExitCode, detail(t.Reason, t.Message))
			}
		}
	}
	return fmt.Sprintf("pod %s ended: %s", p.Name, detail(p.Status.Reason, p.Status.Message))
}

// endCode is why a trial proves nothing whose pod has ended: as a rule otherwise. A shell
// ends with 137 where SIGKILL ended what it ran.
func endCode(p *corev1.Pod, otherwise journal.InvalidCode) journal.InvalidCode {
	if slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		t := s.State.Terminated
		return t != nil && (t.Signal == 9 || t.ExitCode == 137)
	}) {
		return journal.InvalidKilled
	}
	return otherwise
}

func detail(reason, message string) string {
	if strings.Contains(message, "image will run as root") { // the kubelet's words under runAsNonRoot
		message += "; procfit kube image creates an image that does not"
	}
	return strings.Trim(cmp.Or(reason, "Kubernetes gives no reason")+": "+message, ": ")
}

// running reports whether all that is to run does, and is ready where it says so itself.
func running(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodRunning || p.Status.PodIP == "" {
		return false
	}
	return !slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running == nil || !s.Ready })
}

// evidence is what a trial ran as, by what the kubelet reports.
func evidence(p *corev1.Pod, container string) journal.Pod {
	e := journal.Pod{Name: p.Name, Node: p.Spec.NodeName, QoSClass: string(p.Status.QOSClass)}
	if c := named(p.Spec.Containers, container); c != nil {
		e.CPULimit, e.CPURequest = quantity(c.Resources.Limits), quantity(c.Resources.Requests)
	}
	for _, s := range p.Status.ContainerStatuses {
		e.Restarts += int(s.RestartCount)
		if s.Name != container {
			continue
		}
		e.Image, e.ImageID = s.Image, s.ImageID
		if r := s.Resources; r != nil { // as the kernel has them, and not as they are asked for
			e.CPULimit, e.CPURequest = quantity(r.Limits), quantity(r.Requests)
		}
	}
	return e
}

// digestOf is what of an image's ID does not depend on where it was fetched from.
func digestOf(id string) string { return id[strings.LastIndex(id, "@")+1:] }

// ImageOf is the image that the targets of earlier trials ran; empty: none tells.
func ImageOf(trials []journal.Trial) string {
	for _, t := range trials {
		for _, p := range t.Pods {
			if p.ImageID != "" {
				return p.ImageID
			}
		}
	}
	return ""
}

// quantity is a list's CPUs; nil: none. To Kubernetes zero is none, too.
func quantity(l corev1.ResourceList) *float64 {
	q := l[corev1.ResourceCPU]
	if q.Sign() <= 0 {
		return nil
	}
	return new(float64(q.MilliValue()) / 1000)
}

// waitsFor is what a pod's containers say that they wait for, or the pod itself.
func waitsFor(p *corev1.Pod) string {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil {
			return fmt.Sprintf(", container %s: %s", s.Name, detail(w.Reason, w.Message))
		}
	}
	if why := unreadiness(p); why != "" {
		return ", " + why
	}
	return ""
}

// unreadiness is what a pod says of not being ready; empty: it is, or says nothing.
func unreadiness(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue {
			return detail(c.Reason, c.Message)
		}
	}
	return ""
}
