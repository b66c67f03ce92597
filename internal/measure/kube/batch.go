package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// batchLife is how long a run of a Job may take where no --trial-timeout says it.
const batchLife = 6 * time.Hour

// toldPatience is for what an agent wrote at its end to be among the node's logs.
const toldPatience = 10 * time.Second

// target is a pod that is measured. A batch program has an agent beside it from before its
// start, in a container that stays until its end and tells then what it saw: one that
// comes later misses the beginning, and the clock of the cluster has whole seconds.
func (s *Copies) target(c cut, name string, to setting, user *owner) *corev1.Pod {
	p := s.subject.pod(c, name, to)
	if !s.subject.Batch || s.options.Image == "" {
		return p
	}
	p.Spec.ShareProcessNamespace = new(true)
	eye := corev1.Container(s.eyeOf(p, user).EphemeralContainerCommon)
	if guaranteed(p) { // and is to stay so
		eye.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
		eye.Resources.Requests = eye.Resources.Limits
	}
	eye.Name, eye.Args, eye.RestartPolicy = eyeName, []string{AgentCommand, "--watch"}, new(corev1.ContainerRestartPolicyAlways)
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

// batchKnown is a Job's trial, run once more where only the first run told as whom its
// program runs, and so who may look at it.
func (r *run) batchKnown(ctx context.Context) error {
	known := r.user != nil
	err := r.batch(ctx)
	unread := len(r.trial.ObservedProcs) > 0 && r.trial.ObservedProcs[0] == nil && r.trial.Warnings != nil
	if err != nil || known || r.user == nil || !unread {
		return err
	}
	if err := r.end(ctx); err != nil {
		return err
	}
	r.fleet = nil
	*r.trial = journal.Trial{Arm: r.trial.Arm, Origin: r.trial.Origin, Started: time.Now()}
	return r.batch(ctx)
}

// batch is the trial of a Job: one run of it, by all replicas at once.
func (r *run) batch(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return r.notStarted(err)
	}
	r.step(plan.StepRun)
	ran := make([]agent.Ran, len(r.fleet))
	outputs := make([]load.Output, len(r.fleet))
	for i, one := range r.fleet {
		p, err := r.ended(ctx, one.name)
		if err != nil {
			return r.notStarted(err)
		}
		one.pod = p
		r.trial.Pods = append(r.trial.Pods, evidence(p, r.container))
		if ran[i], err = r.watched(ctx, one.name); err != nil {
			return err
		}
		text, err := r.logOf(ctx, one.name, r.container)
		if err != nil {
			return trial.Invalid(journal.InvalidLost, "the output of pod %s: %v", one.name, err)
		}
		outputs[i] = load.Output{Head: text}
	}
	r.keepLogs(ctx)
	if err := r.asPlanned(); err != nil {
		return err
	}
	for _, one := range r.fleet {
		if err := exited(one.pod, r.container); err != nil {
			return err
		}
	}
	return r.batchFigures(ran, outputs)
}

// batchFigures are what the runs come to.
func (r *run) batchFigures(ran []agent.Ran, outputs []load.Output) error {
	readings, counted := make([]trial.Reading, len(ran)), make([]agent.Counted, len(ran))
	wall := 0.0
	for i, one := range ran {
		l := one.Look
		readings[i] = trial.Reading{Procs: l.Procs, Source: l.Source, GoVersion: l.GoVersion, MainModule: l.MainModule, NoGo: l.NoGo, Err: errorOf(l.Error)}
		counted[i], wall = one.Counted, max(wall, one.WallSeconds)
		if one.Counted.Error != "" {
			r.trial.Warnings = append(r.trial.Warnings, journal.Warning{Code: journal.WarnCounters, Detail: one.Counted.Error})
		}
	}
	if err := trial.Procs(r.trial, readings, nil); err != nil {
		return err
	}
	r.trial.Usage = *sum(counted, r.task.Arm.QuotaCPUs)
	if h := r.trial.HostUse; h != nil {
		h.TargetCPUs = r.places.target.host.CPUs
	}
	trial.Runs(r.trial, len(ran), time.Duration(wall*float64(time.Second)))
	if err := trial.Stolen(r.trial); err != nil {
		return err
	}
	if len(r.spec.Load.Metrics) == 0 {
		return nil
	}
	found, err := load.JoinMetrics(outputs, r.spec.Load.Metrics)
	if err != nil {
		return trial.Invalid(journal.InvalidMetric, "%v", err)
	}
	trial.Metrics(r.trial, found)
	return trial.JudgedMetric(r.trial, r.spec.Load.Metrics, found)
}

// ended waits for a pod's end.
func (r *run) ended(ctx context.Context, name string) (*corev1.Pod, error) {
	began := time.Now()
	var p *corev1.Pod
	err := cluster.Until(ctx, podLook, func(ctx context.Context) (over bool, err error) {
		if p, err = r.there(ctx, name); err != nil {
			return false, err
		}
		over = p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		t := troubleOf(p)
		late := time.Since(began) > r.spec.Target.ReadyTimeout
		switch most := r.spec.Target.RunTimeout; {
		case t != nil && t.code == journal.InvalidEvicted, t != nil && t.code == journal.InvalidNoPod && (late || !t.waits):
			return false, trial.Invalid(t.code, "%s", t.reason)
		case over:
			return true, nil
		case late && p.Status.Phase == corev1.PodPending:
			return false, trial.Invalid(journal.InvalidNoPod, "pod %s does not run after %s%s", name, r.spec.Target.ReadyTimeout, waitsFor(p))
		case most > 0 && time.Since(began) > most:
			return false, trial.Invalid(journal.InvalidTimeout, "did not end within %s", most)
		}
		return false, nil
	})
	return p, err
}

// exited says how a program ended, where that was not well.
func exited(p *corev1.Pod, container string) error {
	for _, s := range p.Status.ContainerStatuses {
		t := s.State.Terminated
		switch {
		case s.Name != container || t == nil:
		case t.Signal != 0 || t.ExitCode != 0:
			return trial.Invalid(journal.InvalidExit, "%s", endOf(p))
		default:
			return nil
		}
	}
	return trial.Invalid(journal.InvalidLost, "how container %s of pod %s ended is not known", container, p.Name)
}

// watched is what the agent beside a program tells at its end.
func (r *run) watched(ctx context.Context, name string) (ran agent.Ran, err error) {
	late := cluster.After(toldPatience)
	err = cluster.Until(ctx, podLook, func(ctx context.Context) (bool, error) {
		text, err := r.logOf(ctx, name, eyeName)
		if err == nil {
			ran, err = parseRan(text)
		}
		if err != nil && ctx.Err() == nil && !late() {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return ran, trial.Invalid(journal.InvalidLost, "what pod %s did is not known: the container beside the program: %v", name, err)
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
		return ran, errors.New("it told nothing: did the program end before it was there?")
	}
	if err := json.Unmarshal(text[bytes.LastIndexByte(text, '\n')+1:], &ran); err != nil {
		return ran, fmt.Errorf("it told no result: %w", err)
	}
	if !(ran.WallSeconds > 0) {
		return ran, errors.New("it saw no process of the program")
	}
	return ran, nil
}

func (r *run) logOf(ctx context.Context, name, container string) (text []byte, err error) {
	err = r.cluster.Call(ctx, func(ctx context.Context) error {
		text, err = r.cluster.logs(ctx, name, corev1.PodLogOptions{Container: container, LimitBytes: new(mostLog)})
		return err
	})
	return text, err
}

// loaded tells whether there is load, and a pod of it.
func (r *runner) loaded() bool { return !r.config.FromHere && !r.subject.Batch }
