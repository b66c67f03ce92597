package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// batchLife is how long a run of a Job may take where --timeout run does not say it.
const batchLife = 6 * time.Hour

// reportPatience is for what an agent wrote at its end to be among the node's logs.
const reportPatience = 10 * time.Second

// target is a pod that is measured. A batch program has an agent next to it from before its
// start, in a container that stays until its end and tells then what it saw: one that
// comes later misses the beginning, and the clock of the cluster has whole seconds.
func (s *Target) target(c cut, name string, to difference, user *owner) *corev1.Pod {
	p := s.subject.pod(c, name, to)
	if !s.subject.Batch || s.options.Image == "" {
		return p
	}
	p.Spec.ShareProcessNamespace = new(true)
	eye := corev1.Container(s.observerContainer(p, user).EphemeralContainerCommon)
	if guaranteed(p) { // and is to stay so
		eye.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
		eye.Resources.Requests = eye.Resources.Limits
	}
	eye.Name, eye.Args, eye.RestartPolicy = observerName, []string{AgentCommand, "--watch"}, new(corev1.ContainerRestartPolicyAlways)
	p.Spec.InitContainers = append(p.Spec.InitContainers, eye)
	return p
}

// guaranteed tells a pod of that QoS class, which each of its containers must be of.
func guaranteed(p *corev1.Pod) bool {
	for _, c := range p.Spec.Containers {
		for _, kind := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, limited := c.Resources.Limits[kind]
			request, requested := c.Resources.Requests[kind]
			if !limited || requested && request.Cmp(limit) != 0 {
				return false
			}
		}
	}
	return true
}

// RunOnce implements trial.Place: a run of a Job, by all replicas at once. It is run once
// more where only the first run showed as whom its program runs, and so who may look at it.
func (r *run) RunOnce(ctx context.Context, _ bool) (trial.Ran, error) {
	known := r.user != nil
	one, err := r.once(ctx)
	if err != nil || known || r.user == nil || one.Readings[0].Err == nil {
		return one, err
	}
	if err := r.end(ctx); err != nil {
		return one, err
	}
	r.fleet, r.Trial.Pods, r.Trial.Warnings, r.Trial.Started = nil, nil, nil, time.Now()
	return r.once(ctx)
}

// once is one run from the creation of its pods to their end.
func (r *run) once(ctx context.Context) (one trial.Ran, err error) {
	if err := r.cluster.renew(ctx, r.cut.run, r.alive()); err != nil {
		return one, err
	}
	if err := r.start(ctx); err != nil {
		return one, r.notStarted(err)
	}
	r.Step(plan.StepRun)
	if err := r.allEnded(ctx); err != nil {
		return one, r.notStarted(err)
	}
	ran := make([]agent.Ran, len(r.fleet))
	for i, target := range r.fleet {
		r.Trial.Pods = append(r.Trial.Pods, evidence(target.pod, r.container))
		var unseen error
		if ran[i], unseen = r.watched(ctx, target.name); unseen != nil && exited(target.pod, r.container) == nil {
			return one, unseen
		} // of a program that failed its own end says more than what procfit missed of it
		text, cut, err := r.cluster.logs(ctx, target.name, r.container)
		if err != nil {
			return one, trial.Invalid(journal.InvalidLost, "cannot read the output of pod %s: %v", target.name, err)
		}
		one.Outputs = append(one.Outputs, r.keep(i, text, cut))
		if unseen != nil {
			return one, trial.Quoted(exited(target.pod, r.container), trial.Quote(one.Outputs[i]))
		}
	}
	r.kept = true
	if err := r.asPlanned(); err != nil {
		return one, err
	}
	for i, target := range r.fleet {
		if err := exited(target.pod, r.container); err != nil {
			return one, trial.Quoted(err, trial.Quote(one.Outputs[i]))
		}
	}
	if err := r.together(); err != nil {
		return one, r.notStarted(err)
	}
	err = r.saw(&one, ran)
	return one, err
}

// allEnded waits for the end of all pods. The first that cannot come to its end ends the wait.
func (r *run) allEnded(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := wait.All(len(r.fleet), func(i int) error {
		p, err := r.ended(ctx, r.fleet[i].name)
		if err != nil {
			cancel(err)
			return err
		}
		r.fleet[i].pod = p
		return nil
	})
	return cmp.Or(context.Cause(ctx), err)
}

// together refuses pods if one ran only after another, by the whole seconds that the kubelet reports:
// that is no measurement of all of them at once.
func (r *run) together() error {
	for _, a := range r.fleet {
		for _, b := range r.fleet {
			if terminated(b.pod, r.container).StartedAt.After(terminated(a.pod, r.container).FinishedAt.Time) {
				return trial.Invalid(journal.InvalidNoPod, "pod %s started only after pod %s had ended, so the replicas did not run at the same time: the node has no room for all of them, or the program ends too soon", b.name, a.name)
			}
		}
	}
	return nil
}

// saw adds to a run what the agents next to its programs saw, and judges their environment: what
// a trial judges later does not have it.
func (r *run) saw(one *trial.Ran, ran []agent.Ran) error {
	counted, looks := make([]agent.Counted, len(ran)), make([]agent.Look, len(ran))
	for i, of := range ran {
		looks[i] = of.Look
		one.Readings = append(one.Readings, of.Look.Reading())
		one.Wall = max(one.Wall, time.Duration(of.WallSeconds*float64(time.Second)))
		if counted[i] = of.Counted; of.Counted.Error != "" {
			r.Uncounted(errors.New(of.Counted.Error))
		}
	}
	one.Usage = *sum(counted, r.Setting.QuotaCPUs)
	if h := one.Usage.HostUse; h != nil {
		h.TargetCPUs = r.places.target.host.CPUs
		if others := h.OtherCPUSeconds; others != nil {
			trial.CountOthers(h, *others, time.Duration(one.Usage.MeasuredSeconds*float64(time.Second)))
		}
	}
	return r.unset(looks)
}

// ended waits for a pod's end. Its program may run for the trial's timeout; the time that
// its image and its node take is not the program's.
func (r *run) ended(ctx context.Context, name string) (*corev1.Pod, error) {
	began, runs := time.Now(), time.Time{}
	var p *corev1.Pod
	err := cluster.Until(ctx, podInterval, func(ctx context.Context) (over bool, err error) {
		if p, err = r.there(ctx, name); err != nil {
			return false, err
		}
		if runs.IsZero() && p.Status.Phase != corev1.PodPending {
			runs = time.Now()
		}
		over = p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		t := troubleOf(p)
		late := time.Since(began) > r.spec.Target.ReadyTimeout
		switch most := r.spec.Target.RunTimeout; {
		case t != nil && t.code == journal.InvalidEvicted, t != nil && t.code == journal.InvalidNoPod && (late || !t.waits),
			t != nil && p.Status.Phase == corev1.PodFailed && terminated(p, r.container) == nil: // an init container has failed, say
			return false, trial.Invalid(t.code, "%s", t.reason)
		case over:
			return true, nil
		case late && p.Status.Phase == corev1.PodPending:
			return false, trial.Invalid(journal.InvalidNoPod, "pod %s did not start within %s%s", name, number.Chosen(r.spec.Target.ReadyTimeout), waitsFor(p))
		case most > 0 && !runs.IsZero() && time.Since(runs) > most:
			return false, trial.Invalid(journal.InvalidTimeout, "did not end within %s", number.Chosen(most))
		}
		return false, nil
	})
	return p, err
}

// terminated is the end of a container; nil: it has not ended, or it never ran.
func terminated(p *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == container {
			return s.State.Terminated
		}
	}
	return nil
}

// exited says how a program ended, where that was not well.
func exited(p *corev1.Pod, container string) error {
	switch t := terminated(p, container); {
	case t == nil:
		return trial.Invalid(journal.InvalidLost, "Kubernetes does not report how container %s of pod %s ended", container, p.Name)
	case t.Signal != 0 || t.ExitCode != 0:
		return trial.Invalid(endCode(p, journal.InvalidExit), "%s", endOf(p))
	}
	return nil
}

// watched is what the agent next to a program tells at its end.
func (r *run) watched(ctx context.Context, name string) (ran agent.Ran, err error) {
	late := cluster.After(reportPatience)
	err = cluster.Until(ctx, podInterval, func(ctx context.Context) (bool, error) {
		text, _, err := r.cluster.logs(ctx, name, observerName)
		if err == nil {
			ran, err = parseRan(text)
		}
		if err != nil && ctx.Err() == nil && !late() {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return ran, trial.Invalid(journal.InvalidLost, "pod %s could not be measured: procfit's container in it: %v", name, err)
	}
	if l := ran.Look; r.user == nil && l.UID != nil && l.GID != nil {
		r.user = &owner{*l.UID, *l.GID} // as whom the next is to look
	}
	return ran, nil
}

// parseRan reads what an agent wrote, its last line.
func parseRan(text []byte) (ran agent.Ran, err error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return ran, errors.New("it reported nothing; the program may have finished before the observer started")
	}
	if err := json.Unmarshal(text[bytes.LastIndexByte(text, '\n')+1:], &ran); err != nil {
		return ran, fmt.Errorf("it reported no valid result: %w", err)
	}
	if !(ran.WallSeconds > 0) {
		return ran, errors.New("it saw no process of the program")
	}
	return ran, nil
}

// loaded reports whether there is load, and a pod of it.
func (r *runner) loaded() bool { return !r.config.FromHere && !r.subject.Batch }
