package kube

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/phrase"
	judge "github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	blocks "github.com/procfit/procfit/internal/verdict/paired"
)

// CanaryConfig is what a canary's pods take in addition to their Copies.
type CanaryConfig struct {
	Host  string        // who runs it, for those who find its record
	Life  time.Duration // of a pod at most
	Quiet time.Duration // how long its procfit may be silent before it counts as killed
	Ready time.Duration // how long a pod may take to serve
}

// Canaries are the pods of a canary: a paired.Place.
type Canaries struct {
	*runner
	groups []*group
	watch  judge.Watch
}

type group struct {
	*run
	counting *counting // since the mark before; nil: there was none
}

// defaultGrace is what a pod without a word on it has to end (Kubernetes' API).
const defaultGrace = 30 * time.Second

// Canary makes a Place of Copies that were settled for one. Its Close ends the run.
func (s *Target) Canary(config CanaryConfig) *Canaries {
	spec := plan.Spec{}
	spec.Target.URL = fmt.Sprintf("tcp://%s:%d", plan.PodPlaceholder, s.port) // the Service sends the requests
	spec.Target.Grace, spec.Target.ReadyTimeout = defaultGrace, config.Ready
	if grace := s.subject.Template.Spec.TerminationGracePeriodSeconds; grace != nil {
		spec.Target.Grace = time.Duration(*grace) * time.Second
	}
	r := s.runner(spec, Config{Host: config.Host, FromHere: true})
	r.cut.deadline, r.quiet = config.Life, config.Quiet
	return &Canaries{runner: r}
}

// Name is the run's in the cluster: of its record, and before a number that of its pods.
func (c *Canaries) Name() string { return recordPrefix + c.cut.run }

// Manifests are the pods of some settings, as the API server is sent them.
func (c *Canaries) Manifests(settings []journal.Setting) ([]byte, error) {
	var out []byte
	for i, a := range settings {
		p := c.subject.pod(c.cut, fmt.Sprintf("%s-%d", c.Name(), i+1), c.differenceOf(a))
		p.APIVersion, p.Kind = "v1", "Pod"
		b, err := yaml.Marshal(p)
		if err != nil {
			return nil, err
		}
		out = append(append(out, "---\n"...), bytes.TrimSuffix(b, []byte("status: {}\n"))...)
	}
	return out, nil
}

// Begin implements paired.Place: it starts the run.
func (c *Canaries) Begin(ctx context.Context) ([]*journal.Trial, error) {
	return nil, c.Prepare(ctx, journal.Plan{}, nil)
}

// Apply implements paired.Place: it removes the pods of the round before.
func (c *Canaries) Apply(ctx context.Context, settings []journal.Setting) error {
	if err := c.cluster.renew(ctx, c.cut.run, c.alive().Add(time.Duration(len(settings)*settings[0].Replicas)*c.spec.Target.ReadyTimeout)); err != nil {
		return err
	}
	if err := c.Restore(ctx); err != nil {
		return err
	}
	c.watch = judge.Watch{}
	for _, a := range settings {
		g := &group{run: &run{runner: c.runner, Task: &trial.Task{Task: plan.Task{Setting: a}, Trial: &journal.Trial{}}}}
		c.groups = append(c.groups, g)
		if err := g.start(ctx); err != nil {
			return notStarted(a, err)
		}
	}
	for _, step := range []func(*group, context.Context) error{(*group).ready, (*group).proves} {
		for _, g := range c.groups {
			if err := step(g, ctx); err != nil {
				return notStarted(g.Setting, err)
			}
		}
	}
	return nil
}

// notStarted reports what is wrong with a pod from what else went wrong.
func notStarted(a journal.Setting, err error) error {
	if f, failed := errors.AsType[*trial.Failure](trial.Lost(err)); failed {
		return &paired.EndError{End: journal.End{Code: journal.EndNotStarted, Reason: fmt.Sprintf("GOMAXPROCS %s: %s", a.Label, phrase.Clean(f.Error()))}}
	}
	return err
}

// proves looks whether the pods run with what they are to.
func (g *group) proves(ctx context.Context) error {
	for _, one := range g.fleet {
		g.attach(ctx, one)
	}
	readings, err := g.Look(ctx)
	if err != nil {
		return err
	}
	return trial.JudgeProcs(&journal.Trial{Setting: g.Setting}, readings, nil)
}

func (c *Canaries) Restore(ctx context.Context) error {
	defer func() { c.groups = nil }()
	return wait.All(len(c.groups), func(i int) error { return c.groups[i].end(ctx) })
}

func (c *Canaries) Watch(ctx context.Context) error {
	list, err := c.conditions(ctx)
	if err != nil {
		return err
	}
	if end := c.watch.See(time.Now(), list); end != nil {
		return &paired.EndError{End: *end}
	}
	return nil
}

func (c *Canaries) conditions(ctx context.Context) (list []judge.Condition, err error) {
	var pods corev1.PodList
	if err := c.cluster.list(ctx, c.cluster.Core, "pods", metav1.ListOptions{LabelSelector: labelRun + "=" + c.cut.run}, &pods); err != nil {
		return nil, err
	}
	for _, g := range c.groups {
		for _, one := range g.fleet {
			i := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == one.name })
			if i < 0 {
				list = append(list, judge.Condition{Setting: g.Setting.Label, Pod: one.name, Taken: fmt.Sprintf("pod %s was deleted by someone else", one.name)})
				continue
			}
			list = append(list, condition(g.Setting.Label, &pods.Items[i]))
		}
	}
	return list, nil
}

func condition(setting string, p *corev1.Pod) judge.Condition {
	c := judge.Condition{Setting: setting, Pod: p.Name, Ready: isReady(p), Detail: unreadiness(p)}
	switch t := troubleOf(p); {
	case t == nil || t.waits:
	case t.code == journal.InvalidEvicted:
		c.Taken = t.reason
	default:
		c.Ended = t.reason
	}
	return c
}

// Slice implements paired.Place. Agents that do not answer take minutes: the pods are watched meanwhile.
func (c *Canaries) Slice(ctx context.Context) ([]*journal.Trial, error) {
	if err := c.cluster.renew(ctx, c.cut.run, c.alive()); err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := wait.Every(time.Second, func() {
		if err := c.Watch(ctx); err != nil {
			end(err)
		}
	})
	list := make([]*journal.Trial, len(c.groups))
	err := wait.All(len(list), func(i int) (err error) {
		list[i], err = c.groups[i].mark(ctx)
		return err
	})
	stop()
	return list, cmp.Or(context.Cause(ctx), err)
}

// mark is what the setting's pods did since the mark before.
func (g *group) mark(ctx context.Context) (*journal.Trial, error) {
	t := &journal.Trial{Setting: g.Setting, Origin: journal.OriginKube, Pods: g.Trial.Pods, Metrics: map[string]journal.Metric{}}
	before := g.counting
	if before != nil {
		before.end(ctx, 0)
	}
	g.counting = &counting{run: g.run}
	g.counting.start(ctx)
	switch {
	case ctx.Err() != nil:
		return t, ctx.Err()
	case before != nil && before.err != nil:
		t.Warnings = append(t.Warnings, journal.Warning{Code: journal.WarnCounters, Detail: before.err.Error()})
	case before != nil:
		t.Usage = *sum(before.counted, g.Setting.QuotaCPUs)
		measured(t.Metrics, before.counted)
	}
	readings, err := g.Look(ctx)
	if err != nil {
		return t, err
	}
	if err := trial.JudgeProcs(t, readings, nil); err != nil { // a program may set it at any time
		return t, fmt.Errorf("GOMAXPROCS %s: %w", g.Setting.Label, err)
	}
	return t, nil
}

// measured are what the agents read of the pods' runtimes and of their Meters. Of several
// pods it is the longest latency. What is not known of each pod is not known.
func measured(metrics map[string]journal.Metric, pods []agent.Counted) {
	highest := func(name string, seconds *float64) {
		if seconds != nil {
			metrics[name] = journal.Metric{Value: max(*seconds, metrics[name].Value), Unit: "s", Better: "lower"}
		}
	}
	if !slices.ContainsFunc(pods, func(one agent.Counted) bool { return one.SchedLatencyP99Seconds == nil }) {
		for _, one := range pods {
			highest(judge.FigureSched, one.SchedLatencyP99Seconds)
		}
	}
	if len(pods) == 0 || slices.ContainsFunc(pods, func(one agent.Counted) bool { return one.Meter == nil }) {
		return
	}
	var requests, failed float64
	for _, one := range pods {
		highest(blocks.FigureP50, one.Meter.P50Seconds)
		highest(blocks.FigureP99, one.Meter.P99Seconds)
		requests, failed = requests+float64(one.Meter.Requests), failed+float64(one.Meter.Failed)
	}
	metrics[judge.Requests] = journal.Metric{Value: requests, Better: "higher"}
	if requests > 0 {
		metrics[blocks.FigureFailed] = journal.Metric{Value: failed / requests, Better: "lower"}
	}
}
