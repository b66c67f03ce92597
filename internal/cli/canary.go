package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/kube/prometheus"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/page"
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
	container := field.Field{Name: "container", Holds: "NAME", Group: field.Kube, Help: "the container whose GOMAXPROCS is set (default as kubectl's)", Value: field.Text(&o.options.Container)}
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
	if why := copies.NoObserver; why != "" && !o.queried() {
		return fmt.Errorf("nothing could be compared: %s, and no --query except requests names a number", why)
	}
	return o.setPlace(copies)
}

// queried reports whether there is another query than that for the requests, which is not compared.
func (o *kubeCanary) queried() bool {
	for _, q := range o.header.Canary.Queries {
		if q.Name != canary.Requests {
			return true
		}
	}
	return false
}

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
	if h.Canary.Rounds, err = canary.Divide(values, copies.Quota, o.spec.Replicas[0], copies.Serving.Endpoints(), h.Canary.Share); err != nil {
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

func newKubeCanary(std stdio) *cobra.Command {
	o := newKubeCanaryOptions()
	return o.bind(std, &cobra.Command{
		Use:   "canary [flags] OBJECT",
		Short: "Compare values on a few pods under the traffic of a Service",
		Long: `Create a few pods like those of an object that serve behind the same Service: some with a
value of GOMAXPROCS, some without one as the control. Compare the CPU time, throttling
and scheduling latency of both under the traffic that the Service gets, what --query
asks a Prometheus, and what a program with the Meter of maxprocs/live counts itself. Your
pods stay as they are.

The canary pods are removed when it is over, at Ctrl-C, and at the first harm: a container
that ends, a pod that is not ready, or a query, p99 or share of failed requests that is
proven worse than the control.

Exit codes: 0 any answer, also that harm ended it; 2 usage; 3 too few requests reached the
pods, the cluster took a pod away, or another failure; 130 interrupted.`,
		Example: `  procfit kube canary deployment/api --namespace shop --image registry.example/tools/procfit:v1 --procs 1,2
  procfit kube canary deployment/api --image registry.example/tools/procfit:v1 --share 25% --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}, o.Fields)
}

func (o *kubeCanary) run(ctx context.Context, std stdio, args []string) (err error) {
	if o.options.Object, err = objectOf(std, o.name, args); err != nil {
		return err
	}
	o.operands = args
	if err := o.check(); err != nil {
		return err
	}
	if err := o.resolve(ctx, std); err != nil {
		return err
	}
	shown := o.printed.before(std, !o.yes && !o.dryRun)
	first := o.header.Plan
	first.Settings = o.header.Canary.Rounds[0]
	warnings, err := o.copies.Rehearse(ctx, first, false)
	tellWarnings(shown, warnings)
	if err != nil {
		return err
	}
	o.tell(shown)
	if err := o.agreed(ctx, shown, o.dryRun); err != nil {
		return err
	}
	std = o.printed.std(std)
	if o.dryRun {
		for _, settings := range o.header.Canary.Rounds {
			if err := std.write(o.place.Manifests(settings)); err != nil {
				return err
			}
		}
		return nil
	}
	begun, err := o.measure(ctx, std)
	if !begun {
		return err
	}
	return errors.Join(sweepReport(std, o.dir, o.printed.format(), ""), asInterrupted(err))
}

// blocksDir is the folder of an experiment in blocks, which cannot be resumed. It can be made.
func (m *measurement) blocksDir(name, kind string, started time.Time) (string, error) {
	dir := m.out
	if dir == "" {
		dir = filepath.Join("results", plan.FileName(name)+"-"+kind+"-"+started.Format("20060102-150405"))
	}
	if err := folder.Try(dir); err != nil {
		return "", usageError("--out %s: %w", dir, err)
	}
	switch exists, err := session.HoldsJournal(dir); {
	case err != nil:
		return "", usageError("%w", err)
	case exists:
		return "", usageError("--out %s has a journal already, which %s cannot resume: choose another directory", dir, m.name)
	}
	return dir, nil
}

// measure has the canary run, and its pods removed. begun reports that there is a journal.
func (o *kubeCanary) measure(ctx context.Context, std stdio) (begun bool, err error) {
	defer func() {
		if err := o.place.Close(); err != nil {
			std.notef("%v", err)
		}
	}()
	h := o.header
	p := &canaryProgress{std: std, header: h, began: time.Now()}
	r := &paired.Run{Place: o.place, Next: h.Next, Every: time.Second, Length: h.Slice(), Queries: h.Canary.Queries, Ask: o.queries.Ask, Tell: p.tell}
	end, begun, err := r.Into(ctx, h.Header, o.dir, std.secrets.Quoted)
	if !begun {
		return false, err
	}
	return true, canary.Outcome(end, err)
}

func (o *kubeCanary) tell(std stdio) {
	h := o.header
	for _, s := range h.Canary.Services {
		std.notef("service %s in namespace %s has %s", s.Name, h.Target.Namespace, phrase.Count(s.Endpoints, "endpoint"))
	}
	std.notef("pods like those of %s, container %s, join them on node %s and serve your users' requests; yours stay as they are", h.Target.Object, h.Target.Container, h.TargetHost.Hostname)
	for i, settings := range h.Canary.Rounds {
		labels := make([]string, len(settings))
		for j, a := range settings {
			labels[j] = a.Label
		}
		n := len(settings) * settings[0].Replicas
		std.notef("  round %d of %d: %s, %s at GOMAXPROCS %s (default is the control): %s of the endpoints, for %s",
			i+1, len(h.Canary.Rounds), phrase.Count(n, "pod"), phrase.Count(settings[0].Replicas, "pod"), phrase.And(labels), number.Percent(float64(n)/float64(n+o.copies.Serving.Endpoints())), number.Minutes(h.Lasts()/time.Duration(len(h.Canary.Rounds))))
	}
	std.notef("  next to each runs a container of %s that observes it; they all belong to the ConfigMap %s", o.options.Image, o.place.Name())
	for _, n := range o.copies.Notes {
		std.notef("%s", n)
	}
	tellTerms(std, o.copies.Terms)
	for _, c := range h.Canary.Counting {
		std.notef("%s %s", c, c.Effect.Words())
	}
	for _, r := range o.copies.Serving.Unseen {
		std.notef("the %s may not be listed: whether any counts them is not known", r.Resource)
	}
	tellLeft(std, o.copies.Left)
	var compared []string
	if o.queried() {
		compared = append(compared, "a query")
	}
	if why := o.copies.NoObserver; why != "" {
		std.notef("nothing on the node watches them (%s): only queries are compared", why)
	} else {
		compared = append(compared, "a Meter's p99", "a Meter's failed requests")
	}
	std.notef("they are removed at the end, at Ctrl-C, and at the first harm: a container that ends, a pod that is not ready for %s, or %s proven above the control's by more than %s",
		number.Short(number.Seconds(canary.UnreadyMost.Seconds())), phrase.Or(compared), number.Percent(h.Plan.MarginP99))
	std.notef("%s of %d slices of %s, about %s in all; results in %s", phrase.Count(len(h.Canary.Rounds), "round"), h.Slices(), number.Short(number.Seconds(h.Canary.SliceSeconds)), number.Minutes(h.Lasts()), o.dir)
}

// canaryProgress prints how far a canary is, a line for each slice.
type canaryProgress struct {
	std    stdio
	header canary.Header
	began  time.Time
	round  canary.Slices // so far
}

func (p *canaryProgress) tell(e paired.Event) {
	h := p.header
	round := e.Block / h.Slices()
	say := func(round int, what string) {
		p.std.notef("round %d of %d: %s", round+1, len(h.Canary.Rounds), what)
	}
	switch e.Kind {
	case paired.EventApply:
		if p.round = nil; round > 0 {
			say(round-1, "the pods are being removed")
		}
		say(round, "the pods are being created")
	case paired.EventRun:
		say(round, "they serve")
	case paired.EventRestore:
		say(round, "the pods are being removed")
	case paired.EventSlice:
		done, all := e.Block+1, len(h.Canary.Rounds)*h.Slices()
		spent := float64(done)*h.Canary.SliceSeconds + float64(round+1)*h.Load.WarmupSeconds
		left := h.Lasts() - time.Duration(spent*float64(time.Second))
		now := h.SoFar(e.Trials)
		p.std.notef("[%d/%d] %s, elapsed %s, %s left", done, all, page.CanarySlice(now), number.Clock(time.Since(p.began)), number.Clock(left))
		if p.round = append(p.round, e.Trials...); done-round*h.Slices() == canary.ToldAfter && canary.Unreached(p.round) {
			what, gets, without := "no request has reached the canary's pods", "no requests", "any request"
			if canary.Counted(p.round) {
				what, gets, without = "fewer than 1 req/s per pod have reached the canary's pods", "few requests", "more requests"
			}
			p.std.notef("%s in %d slices: clients that keep their connections do not reach new pods, or the Service gets %s", what, canary.ToldAfter, gets)
			p.std.notef("  restart the clients, or limit how long a connection lives; without %s it ends after %d slices", without, h.Patience())
		}
	}
}
