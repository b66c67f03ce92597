package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/kube/prometheus"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// canaryOptions are the flags of a sweep under a Service's own traffic.
type canaryOptions struct {
	on         bool
	share      float64
	slice      time.Duration
	prometheus string
	queries    []journal.Query
}

// ofCanaries is why the header of a sweep has nothing of a canary's fields.
const ofCanaries = "a canary has a journal of its own, which has it"

func (o *canaryOptions) fields() []field.Field {
	o.share, o.slice = 0.1, time.Minute
	return []field.Field{
		{Name: "canary", Help: "compare pods that serve next to the object's own, behind the same Service, and change nothing else", Value: field.Switch(&o.on), Needs: "kube", Aside: ofCanaries},
		{Name: "share", Holds: "share", Help: "the most of a Service's endpoints that may be canary pods", Value: field.Share(&o.share, 1), Needs: "canary", Aside: ofCanaries},
		{Name: "slice", Holds: "time", Help: "the time by which settings are compared; a round takes --duration, 30m if it is not given", Value: field.Time(&o.slice, 1, "1m"), Needs: "canary", Aside: ofCanaries},
		{Name: "prometheus", Holds: "URL", Help: "the Prometheus that --query asks; --header is sent with it", Value: field.Text(&o.prometheus), Needs: "canary", Aside: ofCanaries},
		{Name: "query", Holds: "NAME=QUERY", Help: "a number of which less is better, or requests=QUERY: how many a setting served; $pods and $slice are filled in; may be repeated", Value: field.Several(&o.queries, canary.ParseQuery), Needs: "canary", Aside: ofCanaries},
	}
}

const (
	canaryDuration = 30 * time.Minute
	canaryWarmup   = 30 * time.Second
	fewestSlices   = 3
	longestSlice   = 10 * time.Minute // an agent that nobody asks for 15 minutes ends
)

// ofCanary are the flags that a canary knows.
var ofCanary = []string{"canary", "share", "slice", "prometheus", "query", "kube", "namespace", "context", "kubeconfig", "container", "node", "image",
	"procs", "name", "duration", "warmup", "replicas", "margin-p99", "ready-timeout", "header", "out", "yes", "dry-run", "json"}

// canaryRun is a canary whose every question is settled.
type canaryRun struct {
	header canary.Header
	copies *kube.Copies
	place  *kube.Canaries
	ask    *prometheus.Client // nil: nothing is asked
	dir    string
}

// resolveCanary settles a canary. Nothing is made yet.
func (o *sweepOptions) resolveCanary(ctx context.Context, std stdio) (*canaryRun, error) {
	k := &o.kube
	for _, name := range o.given {
		if !slices.Contains(ofCanary, name) {
			return nil, usageError("--%s says nothing with --canary: the load is the Service's own, and the pods are as their template says; leave it out", name)
		}
	}
	switch {
	case k.on == "":
		return nil, usageError("--kube: want an object, as in --kube deployment/api --canary")
	case len(o.command) > 0:
		return nil, usageError("--canary: pods run what their image holds: leave out the command")
	case k.options.Image == "":
		return nil, usageError("--canary needs --image, a procfit that the nodes can run: it reads what the pods use and run with; procfit image makes one")
	}
	h, err := o.canaryHeader()
	if err != nil {
		return nil, err
	}
	run := &canaryRun{header: h}
	if run.ask, err = o.asker(ctx, &run.header); err != nil {
		return nil, err
	}
	k.options.Object, k.options.Stdin, k.options.Canary = k.on, std.in, true
	if run.copies, err = kube.Settle(ctx, k.options); err != nil {
		return nil, err
	}
	if why := run.copies.Eyeless(); why != "" && len(h.Canary.Queries) == 0 {
		return nil, fmt.Errorf("nothing could be compared: %s, and no --query tells a figure", why)
	}
	return run, o.place(run)
}

// canaryWarmup is before the first slice of a round.
func (o *sweepOptions) canaryWarmup() time.Duration {
	if !o.has("warmup") {
		return canaryWarmup
	}
	return o.spec.Load.Warmup
}

// canaryHeader is what the flags say by themselves.
func (o *sweepOptions) canaryHeader() (h canary.Header, err error) {
	c, spec := &o.kube.canary, o.spec.Spec
	h.Canary = &journal.Canary{SliceSeconds: c.slice.Seconds(), Share: c.share, Queries: []journal.Query{}, Counting: []journal.Counter{}}
	h.Plan.MarginP99 = spec.MarginP99
	duration, warmup := spec.Load.Duration, o.canaryWarmup()
	if !o.has("duration") {
		duration = canaryDuration
	}
	switch {
	case c.slice < time.Second || c.slice > longestSlice || c.slice%time.Second != 0:
		return h, usageError("--slice %s: want whole seconds, from 1s to %s", c.slice, longestSlice)
	case duration < fewestSlices*c.slice:
		return h, usageError("--duration %s: want at least %d slices of %s, since fewer prove nothing", duration, fewestSlices, c.slice)
	case warmup < 0 || warmup > longestSlice:
		return h, usageError("--warmup %s: want 0s to %s", warmup, longestSlice)
	case len(spec.Replicas) != 1:
		return h, usageError("--replicas: want one number, the pods of each setting")
	}
	h.Load.DurationSeconds, h.Load.WarmupSeconds = duration.Seconds(), warmup.Seconds()
	h.Started, h.Tool = time.Now().Truncate(time.Second), o.tool("sweep")
	h.Tool.Args = secret.Own(h.Tool.Args)
	for _, q := range c.queries {
		if slices.ContainsFunc(h.Canary.Queries, func(have journal.Query) bool { return have.Name == q.Name }) {
			return h, usageError("--query %s is given twice", q.Name)
		}
		h.Canary.Queries = append(h.Canary.Queries, q)
	}
	return h, nil
}

// asker has every query tried.
func (o *sweepOptions) asker(ctx context.Context, h *canary.Header) (*prometheus.Client, error) {
	c := &o.kube.canary
	switch {
	case c.prometheus == "" && len(h.Canary.Queries) == 0:
		return nil, nil
	case c.prometheus == "":
		return nil, usageError("--query needs --prometheus, the URL to ask")
	case len(h.Canary.Queries) == 0:
		return nil, usageError("--prometheus needs --query, what to ask it")
	}
	client, err := prometheus.New(c.prometheus, o.spec.Load.Headers)
	if err != nil {
		return nil, usageError("--prometheus %q: %w", secret.Text(c.prometheus), err)
	}
	for _, q := range h.Canary.Queries {
		_, err := client.Ask(ctx, canary.Rehearsal(q, c.slice), time.Now())
		var refused *prometheus.RefusedError
		if errors.As(err, &refused) {
			return nil, usageError("--query %s: %w", q.Name, refused)
		}
		if err != nil {
			return nil, err
		}
	}
	h.Canary.Prometheus = secret.Text(c.prometheus)
	return client, nil
}

// place settles which pods there are to be.
func (o *sweepOptions) place(run *canaryRun) error {
	h, copies := &run.header, run.copies
	node, _ := copies.Hosts()
	effective := node.EffectiveCPUs
	if q := copies.Quota(); q != nil {
		effective = min(effective, *q)
	}
	values := o.spec.Procs.For(effective)
	if o.spec.Procs.Auto { // more Ps than CPUs are for a sweep to try, not for users
		values = slices.DeleteFunc(values, func(v *int) bool { return v != nil && float64(*v) > math.Ceil(effective) })
	}
	var err error
	if h.Canary.Rounds, err = canary.Divide(values, copies.Quota(), o.spec.Replicas[0], copies.Serving.Endpoints(), h.Canary.Share); err != nil {
		return usageError("%w", err)
	}
	pods := copies.Pods(true)
	spec := o.spec.Spec
	spec.Target.Pods = pods
	h.Name, h.TargetHost = spec.Title(), node
	h.Target = journal.Target{Kind: journal.KindService, Object: pods.Object, Namespace: pods.Namespace, Container: pods.Container, SHA256: pods.SHA256}
	h.Canary.Services, h.Canary.Counting = copies.Serving.Services, append(h.Canary.Counting, copies.Serving.Counting...)
	run.dir = o.out
	if run.dir == "" {
		run.dir = filepath.Join("results", plan.FileName(h.Name)+"-canary-"+h.Started.Format("20060102-150405"))
	}
	if _, err := os.Lstat(filepath.Join(run.dir, journal.Name)); err == nil {
		return usageError("--out %s has a journal already, and a canary cannot be resumed: choose another directory", run.dir)
	}
	const slack = 5 * time.Minute // an API server that is away, say
	run.place = copies.Canary(kube.CanaryConfig{
		Host: thisHost(), Ready: o.spec.Target.ReadyTimeout, Quiet: 2*o.kube.canary.slice + o.canaryWarmup() + time.Minute,
		Life: h.Lasts()/time.Duration(len(h.Canary.Rounds)) + time.Duration(len(h.Canary.Rounds[0])*o.spec.Replicas[0])*o.spec.Target.ReadyTimeout + slack,
	})
	return nil
}
