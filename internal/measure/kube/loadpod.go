package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const (
	// AgentCommand is the subcommand that an agent's container runs.
	AgentCommand = "agent"
	loadLife     = 24 * time.Hour // of the load's pod, which ends by itself long before when nobody asks
	loadReady    = 3 * time.Minute
)

// generator offers load, from a pod or from here.
type generator interface {
	Load(ctx context.Context, o load.Options, ended func(late time.Duration)) (*load.Result, error)
	Fetch(ctx context.Context, url string) (agent.Answer, error)
}

// loadPod is procfit with no rights at all. It has no limit: a generator that is
// throttled is late.
func (s *Target) loadPod(c cut, name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{labelManager: manager, labelRun: c.run, labelRole: roleLoad},
	}, Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
		ActiveDeadlineSeconds: new(int64(loadLife.Seconds())), NodeSelector: map[string]string{corev1.LabelHostname: s.places.load.hostname},
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Tolerations:     s.subject.Template.Spec.Tolerations, ImagePullSecrets: s.subject.Template.Spec.ImagePullSecrets,
		Containers: []corev1.Container{{
			Name: "load", Image: s.options.Image, Args: []string{AgentCommand}, ImagePullPolicy: corev1.PullIfNotPresent, Env: []corev1.EnvVar{s.tokenVariable()},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}}
	if c.owner != nil {
		p.OwnerReferences = []metav1.OwnerReference{*c.owner}
	}
	return p
}

// tokenVariable is what an agent knows this run by.
func (s *Target) tokenVariable() corev1.EnvVar {
	return corev1.EnvVar{Name: agent.TokenVariable, Value: s.token}
}

type remote struct {
	*agent.Client
	pod  string
	line *tunnel
}

// ensureLoad is the load's pod, created where there is none that lives.
func (r *runner) ensureLoad(ctx context.Context) error {
	if r.load != nil {
		if p, err := r.get(ctx, r.load.pod); err == nil && running(p) && disrupted(p) == "" {
			return nil
		}
		r.load.line.close()
		r.load = nil
	}
	name := r.name("load")
	_, err := r.create(ctx, r.loadPod(r.cut, name))
	if err == nil {
		_, err = r.await(ctx, name, loadReady)
	}
	if err != nil {
		return ofLoad(err)
	}
	line, err := r.cluster.tunnel(name)
	if err != nil {
		return err
	}
	client := r.client(line, name)
	gone := client.Gone
	client.Gone = func(ctx context.Context) error { return ofLoad(gone(ctx)) }
	r.load = &remote{client, name, line}
	return nil
}

// ofLoad makes what is wrong with the load generator's pod the load's failure, and not that of
// the target. A node that was lost explains more.
func ofLoad(err error) error {
	switch why, failed := errors.AsType[*trial.Failure](err); {
	case err == nil, failed && why.Code == journal.InvalidNodeLost:
		return err
	case failed:
		return trial.Invalid(journal.InvalidLoad, "the load generator's pod: %s", why.Reason)
	}
	return fmt.Errorf("the load generator's pod: %w", err)
}

func (r *runner) client(line *tunnel, pod string) *agent.Client {
	return &agent.Client{Transport: line.transport(agent.Port), Token: r.token, Patience: agent.Patience, Renew: line.close, Gone: func(ctx context.Context) error {
		p, err := r.get(ctx, pod)
		if err != nil {
			return nil // the API server may come back
		}
		if t := troubleOf(p); t != nil {
			return trial.Invalid(t.code, "%s", t.reason)
		}
		return r.lost(ctx, p.Spec.NodeName)
	}}
}

func (r *run) Look(ctx context.Context) ([]trial.Reading, error) {
	readings, looks, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	return readings, r.unset(looks)
}

// unset holds the unset setting to its name: an image, a Secret, or the runtime of a node, may set
// what no manifest shows.
func (r *run) unset(looks []agent.Look) error {
	for i, l := range looks {
		if r.Setting.Procs == nil && l.Env != nil {
			return trial.Invalid(journal.InvalidProcs, "GOMAXPROCS=%s is in the environment of pod %s although procfit did not set it: the image, a Secret of envFrom or the node's container runtime sets it, so the default cannot be measured", *l.Env, r.fleet[i].name)
		}
	}
	return nil
}

func (r *run) Offer(ctx context.Context, o load.Options, count bool) (*load.Result, *journal.Usage, error) {
	c, ended := &counting{run: r}, func(time.Duration) {}
	if count {
		c.start(ctx)
		ended = func(late time.Duration) { c.end(ctx, late) }
	}
	result, err := r.from.Load(ctx, o, ended)
	if err != nil {
		return nil, nil, unloaded(err)
	}
	if !count {
		return result, nil, nil
	}
	return result, c.usage(result, o.Settle+result.Duration), nil
}

// unloaded makes what a load's agent could not do the trial's failure.
func unloaded(err error) error {
	if refused, ok := errors.AsType[*agent.RefusedError](err); ok {
		return trial.Invalid(journal.InvalidLoad, "the load generator could not start: %v", refused)
	}
	return err
}
