package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// run is one trial in a cluster: a trial.Place.
type run struct {
	*runner
	*trial.Task
	fleet []*replica
	from  generator
	guard sync.WaitGroup // of what watches the nodes
	kept  bool           // the logs are in the results folder, as far as they could be read
}

type replica struct {
	name     string
	pod      *corev1.Pod // as it was when it was created, and then when it became ready
	line     *tunnel
	url      string
	port     int
	observer *agent.Client // next to the target; nil: nothing looks from there
	why      string
}

// Prepare implements trial.Place. Once one of its nodes is lost the trial ends: what is
// asked of that node's pods would be waited for in vain.
func (r *run) Prepare(ctx context.Context, end context.CancelCauseFunc) error {
	if err := r.cluster.renew(ctx, r.cut.run, r.alive()); err != nil {
		return err
	}
	if err := r.nodesReady(ctx); err != nil {
		return err
	}
	r.guard.Go(func() {
		end(cluster.Until(ctx, nodeInterval, func(ctx context.Context) (bool, error) { return false, r.anyLost(ctx) }))
	})
	return nil
}

func (r *run) Start(ctx context.Context) (urls []string, err error) {
	if r.loaded() {
		if err := r.ensureLoad(ctx); err != nil {
			r.Trial.NotStarted = true // no target was created
			return nil, err
		}
		r.from = r.load
	}
	r.Step(plan.StepStart)
	if r.subject.Batch {
		return nil, nil
	}
	if err := r.start(ctx); err != nil {
		return nil, r.notStarted(err)
	}
	r.Step(plan.StepReady)
	if err := r.ready(ctx); err != nil {
		return nil, r.notStarted(err)
	}
	for _, one := range r.fleet {
		r.attach(ctx, one)
		urls = append(urls, one.url)
	}
	return urls, nil
}

// Check implements trial.Place: the pods of a server are to be still what they were when
// they were ready.
func (r *run) Check(ctx context.Context) error {
	if r.subject.Batch {
		return nil
	}
	return r.unchanged(ctx)
}

func (r *run) Stop(ctx context.Context) (e trial.Ending, err error) {
	if !r.kept {
		e.Outputs, e.Unread = r.outputs(ctx)
	}
	return e, r.end(ctx)
}

// notStarted distinguishes a trial without any program from one whose program failed: a run
// that continues tries it again.
func (r *run) notStarted(err error) error {
	if f, failed := errors.AsType[*trial.Failure](err); failed && f.Code == journal.InvalidNoPod {
		r.Trial.NotStarted = true
	}
	return err
}

func (r *run) start(ctx context.Context) error {
	for range r.Setting.Replicas {
		name := r.name("")
		one := &replica{name: name}
		r.fleet = append(r.fleet, one) // before it is there, so that it is removed in any case
		created, err := r.create(ctx, r.target(r.cut, name, r.differenceOf(r.Setting), r.user))
		if err != nil {
			return err
		}
		if unlike := r.unlike(created, r.Setting); unlike != nil {
			return trial.Invalid(journal.InvalidPodChanged, "admission changed the pod: %s", strings.Join(unlike, "; "))
		}
		if one.line, err = r.cluster.tunnel(name); err != nil {
			return err
		}
		one.pod = created
		r.attachEarly(ctx, one)
	}
	return nil
}

func (r *run) ready(ctx context.Context) error {
	here := localLoad{}
	for _, one := range r.fleet {
		p, err := r.await(ctx, one.name, r.spec.Target.ReadyTimeout)
		if err != nil {
			return err
		}
		one.pod = p
		here[p.Status.PodIP] = one.line
		host := p.Status.PodIP
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		one.url = strings.ReplaceAll(r.spec.Target.URL, plan.PodPlaceholder, host)
		u, err := url.Parse(one.url)
		if err != nil {
			return err
		}
		one.port = portOf(u)
		r.Trial.Pods = append(r.Trial.Pods, evidence(p, r.container))
	}
	if r.config.FromHere {
		r.from = here
	}
	if err := r.asPlanned(); err != nil {
		return err
	}
	for _, one := range r.fleet {
		if err := r.answers(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// answers waits for any answer but that the target cannot serve.
func (r *run) answers(ctx context.Context, one *replica) error {
	if !strings.HasPrefix(one.url, "http") {
		return nil // what the pod says of itself has to do
	}
	late := cluster.After(r.spec.Target.ReadyTimeout)
	return cluster.Until(ctx, podInterval, func(ctx context.Context) (bool, error) {
		a, err := r.from.Fetch(ctx, one.url)
		if err != nil {
			return false, unloaded(err)
		}
		if a.Status > 0 && a.Status < 500 {
			return true, nil
		}
		if p, err := r.get(ctx, one.name); err == nil {
			if t := troubleOf(p); t != nil {
				return false, trial.Invalid(t.code, "%s", t.reason)
			}
		}
		if late() {
			why := cmp.Or(a.Error, "status "+strconv.Itoa(a.Status))
			return false, trial.Invalid(journal.InvalidNeverReady, "never ready: %s did not answer within %s: %s", one.url, number.Chosen(r.spec.Target.ReadyTimeout), why)
		}
		return false, nil
	})
}

// asPlanned holds the pods against the setting, and against the first of the run and of
// the journal: another image may have been pushed under its tag.
func (r *run) asPlanned() error {
	for i := range r.Trial.Pods {
		p := &r.Trial.Pods[i]
		if !sameCPUs(p.CPULimit, r.Setting.QuotaCPUs) {
			return trial.Invalid(journal.InvalidPodChanged, "pod %s runs under a CPU limit of %s instead of %s", p.Name, limitWords(p.CPULimit), limitWords(r.Setting.QuotaCPUs))
		}
		if before := r.config.Image; before != "" && digestOf(p.ImageID) != digestOf(before) {
			return fmt.Errorf("%s now runs the image %s, but the earlier trials ran %s; choose another --out, or name the image by its digest in the object", r.object(), p.ImageID, before)
		}
		if r.image = cmp.Or(r.image, p.ImageID); digestOf(p.ImageID) != digestOf(r.image) {
			return trial.Invalid(journal.InvalidPodChanged, "pod %s runs the image %s, but the run started with %s", p.Name, p.ImageID, r.image)
		}
	}
	return nil
}

func (r *run) unchanged(ctx context.Context) error {
	if err := r.anyLost(ctx); err != nil {
		return err
	}
	for i, one := range r.fleet {
		p, err := r.there(ctx, one.name)
		if err != nil {
			return err
		}
		before, now := r.Trial.Pods[i], evidence(p, r.container)
		r.Trial.Pods[i].Restarts = now.Restarts
		if t := troubleOf(p); t != nil {
			return trial.Invalid(t.code, "%s during the trial", t.reason)
		}
		changed := phrase.Join(", ", phrase.If(now.ImageID == before.ImageID, "", "its image"), phrase.If(now.Node == before.Node, "", "its node"),
			phrase.If(now.QoSClass == before.QoSClass, "", "its QoS class"), phrase.If(sameCPUs(now.CPULimit, before.CPULimit), "", "its CPU limit"),
			phrase.If(sameCPUs(now.CPURequest, before.CPURequest), "", "its CPU request"))
		if changed != "" {
			return trial.Invalid(journal.InvalidPodChanged, "pod %s changed during the trial: %s", one.name, changed)
		}
	}
	return nil
}

// end removes the targets and waits until they are gone, whatever has ended meanwhile:
// one that lives on would take CPU time of the next.
func (r *run) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience+r.spec.Target.Grace)
	defer cancel()
	return wait.All(len(r.fleet), func(i int) error {
		if line := r.fleet[i].line; line != nil {
			line.close()
		}
		return r.gone(ctx, r.fleet[i].name)
	})
}

// logsTake is how long the logs of a trial may take, those of each pod an equal part of it.
const logsTake = 20 * time.Second

// outputs are what the targets have printed, which it writes into the results folder.
func (r *run) outputs(ctx context.Context) (list []load.Output, err error) {
	if ctx.Err() != nil {
		return nil, nil // there is no trial to keep them of
	}
	for i, one := range r.fleet {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logsTake/time.Duration(len(r.fleet)))
		text, cut, failed := r.cluster.logs(ctx, one.name, r.container)
		cancel()
		if failed != nil {
			err = fmt.Errorf("cannot read the output of pod %s: %w", one.name, failed) // an API server may be slow just then
			continue
		}
		list = append(list, r.keep(i, text, cut))
	}
	if len(list) < len(r.fleet) {
		list = nil
	}
	return list, err
}

// keep writes a replica's output into the results folder.
func (r *run) keep(replica int, text []byte, cut bool) load.Output {
	if f, path, err := r.config.CreateLog(r.LogName(replica) + ".log"); err == nil {
		f.Write(text)
		f.Close()
		if replica == 0 {
			r.Trial.Log = path
		}
	}
	head, tail, cut := supervisor.Parts(text, supervisor.Exit{LogCut: cut})
	return load.Output{Head: head, Cut: cut, Tail: tail}
}

// counting is what the kernel counts of all targets over one loop.
type counting struct {
	*run
	ids     []string
	counted []agent.Counted
	ended   bool
	err     error
}

// each asks the agents next to all targets at once.
func (c *counting) each(ask func(i int, e *agent.Client) error) {
	c.err = errors.Join(wait.All(len(c.fleet), func(i int) error {
		if one := c.fleet[i]; one.observer == nil {
			return errors.New(one.why)
		}
		return ask(i, c.fleet[i].observer)
	}), c.err)
}

// start starts before the load does: once a target uses all of its limit, in which the
// agent next to it has a share, the agent is slow. Before the load a target does nothing
// that would be counted.
func (c *counting) start(ctx context.Context) {
	c.ids, c.counted = make([]string, len(c.fleet)), make([]agent.Counted, len(c.fleet))
	c.each(func(i int, e *agent.Client) (err error) {
		c.ids[i], err = e.Start(ctx, c.fleet[i].port)
		return err
	})
}

func (c *counting) end(ctx context.Context, late time.Duration) {
	if late > agent.Prompt && c.err == nil {
		c.err = fmt.Errorf("the end of the load was reported %s late", number.Duration(late))
	}
	if c.err != nil {
		return
	}
	c.ended = true
	c.each(func(i int, e *agent.Client) (err error) {
		c.counted[i], err = e.Stop(ctx, c.ids[i])
		if err == nil && c.counted[i].Error != "" {
			err = errors.New(c.counted[i].Error)
		}
		return err
	})
}

// usage is all targets' together; nil, with a warning, where it is not known. span is how
// long the load was: around it a target does nothing, so that what is its own belongs to
// that; of the node's it is a share.
func (c *counting) usage(of *load.Result, span time.Duration) *journal.Usage {
	if c.err == nil && !c.ended {
		c.err = errors.New("the load never reported its end")
	}
	if c.err != nil {
		c.Uncounted(c.err)
		return nil
	}
	u := sum(c.counted, c.Setting.QuotaCPUs)
	share := min(1, span.Seconds()/u.MeasuredSeconds)
	u.MeasuredSeconds = min(span.Seconds(), u.MeasuredSeconds)
	if h := u.HostUse; h != nil {
		h.StealSeconds *= share
		h.TargetCPUs = c.places.target.host.CPUs
		if h.OtherCPUSeconds != nil && u.CPUSeconds != nil {
			others := *h.OtherCPUSeconds
			if c.spec.LoadOnTargetHost() {
				others -= (of.User + of.System).Seconds()
			}
			trial.CountOthers(h, max(0, others)*share, span)
		}
	}
	return u
}

// sum adds up what was counted of several targets on one node. Of the limits the one
// that the setting sets is counted by itself.
func sum(list []agent.Counted, quota *float64) *journal.Usage {
	u := &journal.Usage{}
	memory, gc, own := make([]*journal.Memory, len(list)), make([]*journal.GC, len(list)), make([]*journal.Cgroup, len(list))
	for i, one := range list {
		memory[i], gc[i] = one.Memory, one.GC
		u.MeasuredSeconds = max(u.MeasuredSeconds, one.MeasuredSeconds)
		if i == 0 {
			u.HostUse = one.HostUse
		}
		trial.AddCounts(i == 0, u, one.Usage)
		if i > 0 && one.CPUSeconds != nil && u.HostUse != nil && u.HostUse.OtherCPUSeconds != nil { // to the first the rest are others
			u.HostUse.OtherCPUSeconds = new(max(0, *u.HostUse.OtherCPUSeconds-one.CPUSeconds.Total()))
		}
		if one.ThreadsMax != nil {
			*trial.Of(&u.ThreadsMax) += *one.ThreadsMax
		}
		for _, l := range one.Limits {
			switch {
			case quota == nil || !sameCPUs(&l.CPUs, quota):
				u.OuterLimits = append(u.OuterLimits, l)
			case own[i] == nil: // the container's own comes first, and the pod's may be as large
				own[i] = &l.Cgroup
			}
		}
	}
	u.Cgroup = trial.SumAll(own, (*journal.Cgroup).Add)
	u.Memory, u.GC = trial.SumAll(memory, (*journal.Memory).Add), trial.SumAll(gc, (*journal.GC).Add)
	return u
}

func (r *run) gone(ctx context.Context, name string) error {
	if err := r.cluster.deletePod(ctx, name, max(endGrace, int64(r.spec.Target.Grace.Seconds()))); err != nil {
		return err
	}
	began := time.Now()
	late := cluster.After(r.spec.Target.Grace + endPatience)
	err := cluster.Until(ctx, podInterval, func(ctx context.Context) (bool, error) {
		p, err := r.get(ctx, name)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if time.Since(began) > strandedAfter {
			if why := r.cluster.stranded(ctx, p); why != "" {
				return false, errors.Join(r.cluster.deletePod(ctx, name, 0), trial.Invalid(journal.InvalidNodeLost, "%s", why))
			}
		}
		if late() {
			return false, fmt.Errorf("pod %s does not end, although its node is ready", name)
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("pod %s still exists: %w", name, ctx.Err())
	}
	return err
}
