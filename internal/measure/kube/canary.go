package kube

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// CanaryConfig is what a canary's pods take besides their Copies.
type CanaryConfig struct {
	Host  string        // who runs it, for those who find its record
	Life  time.Duration // of a pod at most
	Quiet time.Duration // how long its procfit may be silent before it counts as killed
	Ready time.Duration // how long a pod may take to serve
}

// Canaries are the pods of a canary: a canary.Place.
type Canaries struct {
	*runner
	config CanaryConfig
	groups []*group
}

// group are the pods of one setting.
type group struct {
	*run
	counting *counting // since the mark before; nil: there was none
}

// defaultGrace is what a pod without a word on it has to end (Kubernetes' API).
const defaultGrace = 30 * time.Second

// Canary makes a Place of Copies that were settled for one.
func (s *Copies) Canary(config CanaryConfig) *Canaries {
	spec := plan.Spec{}
	spec.Target.Grace, spec.Target.ReadyTimeout = defaultGrace, config.Ready
	if grace := s.subject.Template.Spec.TerminationGracePeriodSeconds; grace != nil {
		spec.Target.Grace = time.Duration(*grace) * time.Second
	}
	r := &runner{Copies: s, cut: s.cut, spec: spec}
	r.cut.run, r.cut.deadline = strings.ToLower(rand.Text()[:8]), config.Life
	return &Canaries{runner: r, config: config}
}

// Name is the run's in the cluster: of its record, and before a number that of its pods.
func (c *Canaries) Name() string { return recordPrefix + c.cut.run }

// Manifests are the pods of some settings, as the API server is sent them.
func (c *Canaries) Manifests(settings []journal.Setting) ([]byte, error) {
	var out []byte
	for i, a := range settings {
		p := c.subject.pod(c.cut, fmt.Sprintf("%s-%d", c.Name(), i+1), c.differenceOf(a))
		p.APIVersion, p.Kind = "v1", "Pod"
		b, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		var plain map[string]any
		if err := yaml.Unmarshal(b, &plain); err != nil { // JSON is YAML, and its numbers stay whole
			return nil, err
		}
		delete(plain, "status")
		if meta, ok := plain["metadata"].(map[string]any); ok && meta["creationTimestamp"] == nil {
			delete(meta, "creationTimestamp")
		}
		if b, err = yaml.Marshal(plain); err != nil {
			return nil, err
		}
		out = append(append(out, "---\n"...), b...)
	}
	return out, nil
}

// Open removes what killed runs have left, and makes the record of this one.
func (c *Canaries) Open(ctx context.Context) error {
	for _, old := range c.Left {
		if !old.Alive {
			if _, err := c.cluster.remove(ctx, old.Run); err != nil {
				return fmt.Errorf("what run %s has left: %w", old.Run, err)
			}
		}
	}
	owner, err := c.cluster.begin(ctx, c.cut.run, Leftover{Host: c.config.Host, Object: c.Object()}, c.believed())
	c.cut.owner = owner
	return err
}

// believed is until when the run counts as alive without a word.
func (c *Canaries) believed() time.Time { return time.Now().Add(c.config.Quiet + agent.Patience) }

// Close removes all that is left of the run.
func (c *Canaries) Close() error {
	if c.cut.owner == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience+c.spec.Target.Grace) // the run's own may have ended
	defer cancel()
	if _, err := c.cluster.remove(ctx, c.cut.run); err != nil {
		return fmt.Errorf("pods of ours may be left: %w; procfit sweep --kube --clean --namespace %s removes them, and they end by themselves", err, c.cluster.Namespace)
	}
	return nil
}

// Begin implements canary.Place.
func (c *Canaries) Begin(ctx context.Context, settings []journal.Setting) error {
	c.groups = nil
	if err := c.cluster.renew(ctx, c.cut.run, c.believed().Add(time.Duration(len(settings)*settings[0].Replicas)*c.config.Ready)); err != nil {
		return err
	}
	for _, a := range settings {
		// The load of a trial is the Service's own here, so that nothing but the looks is a run's.
		g := &group{run: &run{runner: c.runner, Task: &trial.Task{Task: plan.Task{Setting: a}, Trial: &journal.Trial{}}}}
		c.groups = append(c.groups, g)
		for range a.Replicas {
			if err := g.make(ctx); err != nil {
				return notStarted(a, err)
			}
		}
	}
	for _, g := range c.groups {
		if err := g.serves(ctx, c.config.Ready); err != nil {
			return notStarted(g.Setting, err)
		}
	}
	for _, g := range c.groups {
		if err := g.proves(ctx); err != nil {
			return notStarted(g.Setting, err)
		}
	}
	return nil
}

// notStarted tells what is wrong with a pod from what else went wrong.
func notStarted(a journal.Setting, err error) error {
	var f *trial.Failure
	if errors.As(trial.Lost(err), &f) {
		return &canary.NotStartedError{Setting: a.Label, Reason: phrase.Clean(f.Error())}
	}
	return err
}

// make makes one more pod.
func (g *group) make(ctx context.Context) error {
	g.made++
	one := &replica{name: fmt.Sprintf("%s%s-%d", recordPrefix, g.cut.run, g.made), port: g.port}
	g.fleet = append(g.fleet, one) // before it is there, so that it is removed in any case
	made, err := g.create(ctx, g.subject.pod(g.cut, one.name, g.differenceOf(g.Setting)))
	if err != nil {
		return err
	}
	if unlike := g.unlike(made, g.Setting); unlike != nil {
		return trial.Invalid(journal.InvalidPodChanged, "admission changed the pod: %s", phrase.Semicolons(unlike))
	}
	return nil
}

// serves waits until the setting's pods do.
func (g *group) serves(ctx context.Context, patience time.Duration) error {
	here := &fromHere{lines: map[string]*tunnel{}}
	for _, one := range g.fleet {
		p, err := g.await(ctx, one.name, patience)
		if err != nil {
			return err
		}
		one.pod = p
		if one.line, err = g.cluster.tunnel(one.name); err != nil {
			return err
		}
		here.lines[p.Status.PodIP] = one.line
	}
	g.from = here
	return nil
}

// proves looks whether the pods run with what they are to.
func (g *group) proves(ctx context.Context) error {
	for _, one := range g.fleet {
		g.attach(ctx, one)
	}
	readings, looks, err := g.look(ctx)
	if err != nil {
		return err
	}
	for i, l := range looks {
		if g.Setting.Procs == nil && l.Env != nil {
			return trial.Invalid(journal.InvalidProcs, "GOMAXPROCS=%s is in the environment of pod %s, which does not set it: its image does, or the container runtime of the node, and so there is no control", *l.Env, g.fleet[i].name)
		}
	}
	for i, r := range readings {
		if want := g.Setting.Procs; want != nil && r.Err == nil && !r.NoGo && r.Procs != *want {
			return trial.Invalid(journal.InvalidProcs, "pod %s runs with GOMAXPROCS %d, not with %d: its program, or what starts it, sets another", g.fleet[i].name, r.Procs, *want)
		}
	}
	return nil
}

// End implements canary.Place.
func (c *Canaries) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closePatience+c.spec.Target.Grace)
	defer cancel()
	errs := make([]error, len(c.groups))
	var all sync.WaitGroup
	for i, g := range c.groups {
		all.Go(func() { errs[i] = g.end(ctx) })
	}
	all.Wait()
	c.groups = nil
	return errors.Join(errs...)
}
