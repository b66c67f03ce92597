// Package kube measures in a cluster what package local measures on this machine: its
// Runner's targets are pods.
//
// A [Subject] is what the user runs: a Deployment, StatefulSet, DaemonSet, Pod, Job or
// CronJob, or a manifest of one. Its pod template becomes bare pods of ours, which differ from it in
// GOMAXPROCS and, where that is swept, in the CPU limit; in the labels that a Service
// or a controller would select them by, which they lose; and in where they run, which
// is one node. A container that is restarted in silence would spoil a trial, so none
// is. Whatever else the template holds a copy has too, Secrets and databases with it:
// [Terms] tell it before anything is created.
//
// All that is created belongs to one ConfigMap, the record of the run, which takes it along
// when it goes; pods end by themselves where nothing is left to end them.
//
// The load comes from a pod of ours, and the evidence from an ephemeral container next to
// the target, which sees its processes: both run package agent and are asked through the
// API server's port-forward. Where no such container may be, GOMAXPROCS is taken from the
// runtime metrics that the target serves, or is unproven.
//
// A Job's pods get no load. What looks at them is next to the program from before its start,
// sees its processes, and tells at their end what they did.
//
// A node that stops being ready makes its trial invalid: what its pods did is not known.
//
// What it does not cover: several containers under test at once, and nodes that run
// anything but Linux.
package kube

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Config is what a Runner takes in addition to its Spec and its Copies.
type Config struct {
	CreateLog trial.CreateLog
	Host      string // who runs the sweep, for those who find its record
	FromHere  bool   // the load comes from this machine, through the API server
	// Image is that of the targets which a journal that is continued has; empty: there
	// is none.
	Image string
}

// runner measures settings in a cluster. It is for one goroutine at a time.
type runner struct {
	*Target
	cut     cut
	spec    plan.Spec
	config  Config
	load    *remote                   // the load's pod; nil: not created yet, or the load comes from here
	created int                       // pods so far, for their names
	begun   bool                      // its record is there, or may be: Ctrl-C does not wait for the answer
	quiet   time.Duration             // how long the run may be silent; 0: as long as a target may live
	image   string                    // that the run started with, which all of its targets are to have
	since   map[string]time.Time      // the nodes have been ready, as the trial started
	user    *owner                    // of the targets' processes, where the cluster does not say it; nil: not known yet
	told    map[journal.GroupKey]bool // groups whose p99 is reported as not judged
}

// Runner makes a Runner of a valid Spec whose target these are.
func (s *Target) Runner(spec plan.Spec, config Config) plan.Runner { return s.runner(spec, config) }

func (s *Target) runner(spec plan.Spec, config Config) *runner {
	r := &runner{Target: s, cut: s.cut, spec: spec, config: config, told: map[journal.GroupKey]bool{}}
	r.cut.run = strings.ToLower(rand.Text()[:8])
	r.cut.deadline = r.life()
	return r
}

func (r *runner) name(kind string) string {
	r.created++
	return fmt.Sprintf("procfit-%s-%s%d", r.cut.run, kind, r.created)
}

// life is how long a target may live at most: several times what a trial takes.
func (r *runner) life() time.Duration {
	if most := r.spec.Target.RunTimeout; r.subject.Batch {
		return 5*time.Minute + 2*r.spec.Target.ReadyTimeout + cmp.Or(most, batchLife)
	}
	return 5*time.Minute + 4*(r.spec.Each()+r.spec.Load.Duration) + 2*r.spec.Target.ReadyTimeout
}

// alive is until when the run is to be believed alive without a word: its pods may take their grace to end.
func (r *runner) alive() time.Time {
	return time.Now().Add(cmp.Or(r.quiet, r.cut.deadline) + r.spec.Target.Grace + agent.Patience)
}

// Prepare removes what killed runs have left, and creates the record of this one and the
// pod of the load.
func (r *runner) Prepare(ctx context.Context, _ journal.Plan, observe plan.Observer) error {
	for _, old := range r.Left {
		if !old.Alive {
			if _, err := r.cluster.remove(ctx, old.Run); err != nil {
				return fmt.Errorf("cannot remove what run %s left behind: %w", old.Run, err)
			}
		}
	}
	owner, err := r.cluster.begin(ctx, r.cut.run, Leftover{Host: r.config.Host, Object: r.object()}, r.alive())
	if r.begun = err == nil || ctx.Err() != nil; err != nil {
		return err
	}
	r.cut.owner = owner
	if !r.loaded() {
		return nil
	}
	observe.Tell(plan.Activity{Step: plan.StepStart})
	return r.ensureLoad(ctx)
}

const closePatience = 90 * time.Second

// Close removes all that the run created.
func (r *runner) Close() error {
	if r.load != nil {
		r.load.line.close()
	}
	if !r.begun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience+r.spec.Target.Grace) // the run's own may have ended
	defer cancel()
	if _, err := r.cluster.remove(ctx, r.cut.run); err != nil {
		return fmt.Errorf("some of procfit's pods may still exist: %w; they end on their own, and procfit kube clean --namespace %s removes them now", err, r.cluster.Namespace)
	}
	return nil
}

func (r *runner) Run(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	one := &run{runner: r, Task: trial.NewTask(journal.OriginKube, r.spec, task, observe, r.told)}
	defer one.guard.Wait() // the next trial has its own view of the nodes
	return trial.Run(ctx, one, one.Task)
}

func (r *runner) get(ctx context.Context, name string) (p *corev1.Pod, err error) {
	p = &corev1.Pod{}
	return p, r.cluster.get(ctx, r.cluster.Core, "pods", name, p)
}

// there is a pod of ours, which others may have deleted.
func (r *runner) there(ctx context.Context, name string) (*corev1.Pod, error) {
	p, err := r.get(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, trial.Invalid(journal.InvalidEvicted, "pod %s was deleted by someone else", name)
	}
	return p, err
}

func (r *runner) create(ctx context.Context, p *corev1.Pod) (created *corev1.Pod, err error) {
	created = &corev1.Pod{}
	err = r.cluster.create(ctx, "pods", p, created)
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return nil, trial.Invalid(journal.InvalidNoPod, "the API server rejects the pod: %v", err)
	}
	return created, err
}

const podInterval = 100 * time.Millisecond

// await waits until a pod runs and its containers are ready. A canary's must have all that Services
// wait for: what creates a readiness gate goes by the Services that select the pod, which a sweep's
// copies do not have.
func (r *runner) await(ctx context.Context, name string, patience time.Duration) (p *corev1.Pod, err error) {
	over := cluster.After(patience)
	err = cluster.Until(ctx, podInterval, func(ctx context.Context) (bool, error) {
		p, err = r.there(ctx, name)
		if err == nil {
			err = r.rolledOut(p)
		}
		switch {
		case err != nil:
			return false, err
		case running(p) && troubleOf(p) == nil && (r.cut.role != roleCanary || isReady(p)):
			return true, nil
		}
		late := over()
		if t := troubleOf(p); t != nil && (late || !t.waits) {
			return false, trial.Invalid(t.code, "%s", t.reason)
		}
		if late {
			return false, trial.Invalid(journal.InvalidNeverReady, "pod %s is not ready after %s (phase %s%s)", name, number.Chosen(patience), p.Status.Phase, waitsFor(p))
		}
		return false, nil
	})
	return p, err
}
