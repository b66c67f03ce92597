package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/kube/prometheus"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/canary"
)

type kubeCanary struct {
	measurement
	clusterOptions
	queries prometheus.Queries
	share   float64
	slice   time.Duration

	// Once they are settled:
	header canary.Header
	place  *kube.Canaries
	dir    string
}

func newKubeCanaryOptions() *kubeCanary {
	o := &kubeCanary{measurement: newMeasurement("kube canary"), share: 0.1, slice: time.Minute}
	o.spec.Parts["timeout"], o.spec.Parts["margin"] = []string{"ready"}, []string{"p99"}
	o.spec.Load.Duration, o.spec.Load.Warmup = 30*time.Minute, 30*time.Second
	fields := field.Take(o.spec.Fields(),
		field.Field{Name: "procs", Help: "GOMAXPROCS values to try: auto, 1..4, or 1,2"},
		field.Field{Name: "replicas", Help: "canary pods of each value"},
		field.Field{Name: "margin", Help: "how much more p99 latency still counts as equally good (default p99=20%)"},
		field.Field{Name: "header", Help: "a header to send to --prometheus; may be repeated", Needs: "prometheus"},
		field.Field{Name: "timeout", Help: "how long a pod may take to be ready (default ready=30s)"})
	own := field.In(field.Compare,
		field.Field{Name: "share", Holds: "SHARE", Often: true, Help: "the most of a Service's endpoints that may be canary pods", Value: field.Share(&o.share, 1)},
		field.Field{Name: "slice", Holds: "TIME", Help: "the time by which values are compared", Value: field.Time(&o.slice, 1, "1m")},
	)
	queries := field.In(field.Compare, o.queries.Fields("$pods and $slice are filled in. requests=QUERY is how many requests the pods served, and is not compared.", canary.ParseQuery)...)
	container := field.Field{Name: "container", Holds: "NAME", Group: field.Kube, Help: "the container whose GOMAXPROCS is set (default the first)", Value: field.Text(&o.options.Container)}
	round := o.spec.RunField("how long a round is compared at most, after warmup")
	o.Fields = slices.Concat(fields, []field.Field{round}, own, queries, o.clusterOptions.fields(""), []field.Field{container}, o.ofBlocks("canary"))
	return o
}

const (
	fewestSlices = 3
	longestSlice = 10 * time.Minute // an agent that nobody asks for 15 minutes ends
)

// resolve settles a canary. Nothing is made yet.
func (o *kubeCanary) resolve(ctx context.Context, std stdio) error {
	if o.options.Image == "" {
		return usageError("kube canary needs --image, a procfit that the nodes can run: it reads which CPU time and GOMAXPROCS the pods have; procfit kube image creates one")
	}
	if err := o.setHeader(std); err != nil {
		return err
	}
	known, err := o.spec.Filled(std.secrets.Variable)
	if err != nil {
		return asUsage(err)
	}
	if err := o.queries.Try(std.ctx, std.fill, known.Load.Headers, o.slice, nil); err != nil {
		return refusal(err)
	}
	o.header.Canary.Prometheus = o.queries.Address()
	o.options.Stdin, o.options.Canary = std.in, true
	copies, err := o.inspect(ctx, std)
	if err != nil {
		return err
	}
	if why := copies.NoObserver; why != "" && len(o.header.Canary.Queries) == 0 {
		return fmt.Errorf("nothing could be compared: %s, and no --query names a number", why)
	}
	return o.setPlace(copies)
}

// setHeader takes what the flags say by themselves.
func (o *kubeCanary) setHeader(std stdio) (err error) {
	spec := o.spec.Spec
	duration, warmup := spec.Load.Duration, spec.Load.Warmup
	switch {
	case o.slice < time.Second || o.slice > longestSlice || o.slice%time.Second != 0:
		return usageError("--slice %s: expected whole seconds, from 1s to %s", number.Typed(o.slice), number.Typed(longestSlice))
	case duration < fewestSlices*o.slice:
		return usageError("--for %s: expected at least %d slices of %s, since fewer prove nothing", number.Typed(duration), fewestSlices, number.Chosen(o.slice))
	case warmup < 0 || warmup > longestSlice:
		return usageError("--for warmup=%s: expected 0s to %s", number.Typed(warmup), number.Typed(longestSlice))
	case len(spec.Replicas) != 1:
		return usageError("--replicas: expected one number, the pods of each value")
	}
	h := &o.header
	*h = canary.NewHeader(o.slice, duration, warmup, o.share)
	h.Plan.MarginP99, h.Tool, h.Spec = spec.MarginP99, session.Tool(version()), o.asked(std)
	h.Canary.Queries, err = o.queries.Recorded(h.Spec)
	return refusal(err)
}

// setPlace settles which pods there are to be.
func (o *kubeCanary) setPlace(copies *kube.Target) (err error) {
	h := &o.header
	node, _ := copies.Hosts()
	effective := node.EffectiveCPUs
	if q := copies.Quota; q != nil {
		effective = min(effective, *q)
	}
	values := o.spec.Procs.For(effective)
	if o.spec.Procs.Auto { // more Ps than CPUs are for a sweep to try, not for users
		values = slices.DeleteFunc(values, func(v *int) bool { return v != nil && float64(*v) > math.Ceil(effective) })
	}
	if h.Canary.Rounds, err = canary.Divide(values, copies.Quota(), o.spec.Replicas[0], copies.Serving.Endpoints(), h.Canary.Share); err != nil {
		return usageError("%w", err)
	}
	pods := copies.Pods(true)
	spec := o.spec.Spec
	spec.Target.Pods = pods
	h.Name, h.TargetHost = spec.Title(), node
	h.Target.Object, h.Target.Namespace, h.Target.Container, h.Target.SHA256 = pods.Object, pods.Namespace, pods.Container, pods.SHA256
	h.Canary.Services, h.Canary.Counting = copies.Serving.Services, append(h.Canary.Counting, copies.Serving.Counting...)
	if o.dir, err = o.blocksDir(h.Name, "canary", h.Started); err != nil {
		return err
	}
	o.place = copies.Canary(kube.CanaryConfig{
		Host: session.ThisHost().Hostname, Ready: o.spec.Target.ReadyTimeout, Quiet: 2*o.slice + o.spec.Load.Warmup + time.Minute,
		Life: podLife(*h, len(h.Canary.Rounds[0])*o.spec.Replicas[0], o.spec.Target.ReadyTimeout),
	})
	return nil
}

// podLife is how long the pods of a round may live: each has its time to be ready, and each slice takes
// longer than it counts, by the calls that ask the pods at its end.
func podLife(h canary.Header, pods int, ready time.Duration) time.Duration {
	const slack, asking = 5 * time.Minute, 2 * time.Second // an API server that is away, and one that is slow
	return h.Lasts()/time.Duration(len(h.Canary.Rounds)) + time.Duration(pods)*ready + time.Duration(h.Slices())*asking + slack
}
