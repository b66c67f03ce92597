package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/phrase"
)

type kubeSweep struct {
	measurement
	clusterOptions
	loadFrom string
	place    placing // where results go, by the node; nil: --out
}

func newKubeSweep(std stdio) *cobra.Command {
	o := newKubeSweepOptions()
	return o.bind(std, &cobra.Command{
		Use:   "sweep [flags] OBJECT",
		Short: "Measure copies of an object's pods, and recommend a GOMAXPROCS",
		Long: `Create pods like those of an object, one setting after the other, load them from another
node, and recommend a value of GOMAXPROCS. OBJECT is deployment/api, statefulset/,
daemonset/, pod/, job/, cronjob/ or a manifest.yaml. A Job gets no load: a trial is one
run of it.

No Service and no controller selects the pods, and they are removed at the end. Before
anything is created, procfit prints what the pods share with the originals, has the API
server try them, and asks.

With --slo settings are compared by the highest rate that each carries within a latency
objective; with --rate too, the cheapest of all limits and replicas is named.`,
		Example: `  procfit kube sweep deployment/api --image registry.example/tools/procfit:v1
  procfit kube sweep deployment/api --namespace shop --image registry.example/tools/procfit:v1 --limit 500m,1,2
  procfit kube sweep deployment/api --load-from local --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}, o.Fields)
}

func newKubeSweepOptions() *kubeSweep {
	o := &kubeSweep{measurement: newMeasurement("kube sweep"), loadFrom: "pod"}
	o.spec.Parts["tls"], o.spec.Parts["timeout"] = []string{"name", "insecure"}, []string{"ready", "request", "run", "stop"}
	names := slices.Concat(valueFields, []string{"any-program"}, except(loadFields, "load"), []string{"streams", "grpc"}, stopFields)
	fields := field.Take(o.spec.Fields(), append(field.Named(names...),
		field.Field{Name: "url", Help: "where the requests go (default http://{pod}:PORT/)", More: plan.MoreOfURL + " {pod} is the address of the pod, and PORT the first port that the container declares."},
		field.Field{Name: "limit", Help: "CPU limits to measure under: 500m, or none,0.5,2", More: "It is limits.cpu of the container."},
		field.Field{Name: "timeout"},
		field.Field{Name: "slo", Help: "find the highest rate within a latency: p99=20ms"},
		field.Field{Name: "tls", Help: "for https: name=HOST of the certificate, or insecure"})...)
	o.Fields = slices.Concat(fields, o.clusterFields(), o.own(), o.fromFile(specfile.Key(objectRow())))
	return o
}

func (o *kubeSweep) clusterFields() []field.Field {
	of := &o.options
	return append(o.clusterOptions.fields(""), field.In(field.Kube,
		field.Field{Name: "container", Holds: "NAME", Help: "the container whose GOMAXPROCS is measured (default as kubectl's)", Value: field.Text(&of.Container)},
		field.Field{
			Name: "load-from", Holds: "PLACE", Help: "where the load comes from: pod, or local, through the API server",
			More: "With local the API server is measured too: it is for a first try without --image.", Value: field.Choice(&o.loadFrom, "pod", "local"),
		},
	)...)
}

func objectOf(std stdio, cmd string, args []string) (object string, err error) {
	switch {
	case len(args) == 0:
		return "", usageError("%s needs an object; try: procfit %[1]s deployment/NAME", cmd)
	case len(args) > 1:
		return "", usageError("%s takes one object, got %d words: a pod runs what its image holds", cmd, len(args))
	}
	object = args[0]
	if err := std.fill(&object); err != nil {
		return "", err
	}
	return object, refusal(kube.CheckObject(object))
}

func (o *kubeSweep) run(ctx context.Context, std stdio, args []string) error {
	o.operands = args
	err := o.prepare(o.printed.std(std))
	if err != nil {
		return err
	}
	if o.options.Object, err = objectOf(std, o.name, o.operands); err != nil {
		return err
	}
	if o.printed.format() == yamlFormat { // which needs no cluster
		return o.printFile(o.printed.std(std))
	}
	o.options.Stdin = std.in
	s, err := o.resolve(ctx, std)
	if err != nil {
		return err
	}
	return o.carryOut(ctx, std, s)
}

// carryOut makes the pods of a session, after what that needs is shown and agreed on.
func (o *kubeSweep) carryOut(ctx context.Context, std stdio, s *session.Session) error {
	shown := o.printed.before(std, !o.yes && !o.dryRun)
	local := o.loadFrom == "local"
	warnings, err := o.copies.Rehearse(ctx, s.Plan, !local)
	tellWarnings(shown, warnings)
	if err != nil {
		return err
	}
	o.tell(shown, s)
	if err := o.agreed(ctx, shown, o.dryRun); err != nil {
		return err
	}
	defer std.pods.Store(false) // the next service of a fleet may be on this machine
	return o.measure(ctx, std, s, func() (plan.Runner, error) {
		spec, err := s.Filled()
		if err != nil {
			return nil, refusal(err)
		}
		return o.copies.Runner(spec, kube.Config{CreateLog: s.CreateLog, Host: session.ThisHost().Hostname, FromHere: local, Image: kube.ImageOf(s.Journal().Trials)}), nil
	})
}

// anyPod is a host that there cannot be (RFC 2606).
const anyPod = "pod.invalid"

func (o *kubeSweep) checkImage() error {
	if o.loadFrom != "local" && o.options.Image == "" {
		return usageError("kube sweep needs --image, a procfit that the nodes can run: procfit kube image creates one; --load-from local needs none, for a first try")
	}
	return nil
}

// resolve settles a sweep in a cluster. Nothing is made yet.
func (o *kubeSweep) resolve(ctx context.Context, std stdio) (*session.Session, error) {
	local := o.loadFrom == "local"
	spec, err := o.toSpec(std)
	if err != nil {
		return nil, err
	}
	if err := o.checkImage(); err != nil {
		return nil, err
	}
	copies, err := o.inspect(ctx, std)
	if err != nil {
		return nil, err
	}
	urls := make([]string, len(o.spec.URLs))
	for i, u := range o.spec.URLs { // a host that parses is in place of the pods meanwhile
		urls[i] = strings.ReplaceAll(u, plan.PodPlaceholder, anyPod)
	}
	url, err := readURLs(o.spec, &spec, urls, std)
	if err != nil {
		return nil, err
	}
	if copies.Batch() {
		if err := o.resolveBatch(&spec); err != nil {
			return nil, err
		}
	}
	spec.Target.Pods, spec.Target.URL = copies.Pods(local), copies.URL()
	if url != "" {
		spec.Target.URL = strings.ReplaceAll(url, anyPod, plan.PodPlaceholder)
	}
	if own := copies.Quota; own != nil && !o.Has("limit") {
		spec.Quotas = []*float64{own}
	}
	if err := o.setBudget(&spec); err != nil {
		return nil, err
	}
	if err := spec.Validate(); err != nil {
		return nil, refusal(err)
	}
	host, loadHost := copies.Hosts()
	if o.place != nil {
		o.out = o.place(host.Hostname)
	}
	so := o.sessionOptions(std)
	so.Host, so.Environ = host, copies.Environ()
	if spec.Target.Pods.LoadElsewhere && !local && !copies.Batch() {
		so.LoadHost = &loadHost
	}
	s := session.New(spec, so)
	return s, checkBudget(s)
}

// resolveBatch makes a trial one run of a Job.
func (o *kubeSweep) resolveBatch(spec *plan.Spec) error {
	switch {
	case o.loadFrom == "local":
		return usageError("--load-from local: a Job gets no load, and it needs --image, a procfit that watches it")
	case !o.HasPart("trial-time", "warmup"):
		spec.Load.Warmup = 0
	}
	if o.HasPart("trial-time", "") {
		spec.Target.RunFor = spec.Load.Duration
	}
	return nil
}

func (o *clusterOptions) tell(std stdio, s *session.Session) {
	host, loadHost := o.copies.Hosts()
	p := s.Spec.Target.Pods
	std.notef("pods like those of %s, container %s, are created in namespace %s on node %s, one trial at a time, and removed", p.Object, p.Container, p.Namespace, host.Hostname)
	for _, n := range o.copies.Notes {
		std.notef("%s", n)
	}
	if o.copies.Dropped != nil {
		std.notef("no Service and no controller selects them: they lack the labels %s", phrase.And(o.copies.Dropped))
	}
	tellTerms(std, o.copies.Terms)
	tellLeft(std, o.copies.Left)
	switch {
	case p.Batch:
		std.notef("each runs once to its end, with a container of procfit next to the program, which sees its processes")
		return
	case p.LoadFromHere:
		std.notef("the load comes through the API server, which is measured too, so a verdict is likely at most")
	case !p.LoadElsewhere:
		std.notef("the load comes from the targets' own node, as there is no other of its architecture: it takes CPU time from them, which shows in the latency")
	default:
		std.notef("the load comes from node %s", loadHost.Hostname)
	}
	if why := o.copies.NoObserver; why != "" {
		std.notef("nothing on the node watches the targets (%s): GOMAXPROCS is known only where they serve go_sched_gomaxprocs_threads, and throttling is not known", why)
	}
}
