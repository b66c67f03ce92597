package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// sweepOptions are the flags of procfit sweep. Those that are typed as they are
// given stand in the Spec already.
type sweepOptions struct {
	spec plan.Spec

	procs, quota         string
	goVersions, urls     []string
	rate                 string
	protocol             protocol
	body, bodyFile       string
	metrics              []string
	margin, marginP99    string
	maxErrors            string
	seed                 uint64
	serverCPUs, loadCPUs string
	against, prepare     string
	beside, besideQuota  string
	ready, readyStatus   string
	requests             string
	slo, price           string
	out, baseline, live  string
	until                string
	maxTrials            int
	maxTime              time.Duration
	grid                 bool
	attach               string
	gate, dryRun, json   bool
	kube                 kubeOptions
	yes                  bool
	command              []string
	given                func(flag string) bool
	named                []string // the flags that are given
}

func newSweepOptions() *sweepOptions {
	return &sweepOptions{spec: plan.Default(), procs: "auto", rate: "auto", until: string(journal.GoalProven), margin: "5%", marginP99: "20%", maxErrors: "1%"}
}

func (o *sweepOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	t, l := &o.spec.Target, &o.spec.Load
	f.StringVar(&o.procs, "procs", o.procs, "`values` of GOMAXPROCS: unset,1,2,4 or 1..8 or auto")
	f.StringVar(&o.spec.Name, "name", "", "`title` of the report, and of its folder (default the program's name)")
	f.StringArrayVar(&t.Env, "env", nil, "`NAME=VALUE` in the program's environment, with {port} filled in; may be repeated")
	f.StringVar(&o.quota, "quota", "", "CPU `limits` to run under, by the kernel's CFS quota: none,0.5,2")
	f.IntSliceVar(&o.spec.Replicas, "replicas", o.spec.Replicas, "`copies` of the target behind one load, each in its own cgroup: 2, or 1,2,4")
	f.StringSliceVar(&o.goVersions, "go", nil, "Go `versions` to compile --build with, each a setting: 1.24,1.26")
	f.StringVar(&t.Build, "build", "", "compile this `package` and run it; the words after -- are its arguments")
	f.StringArrayVar(&o.urls, "url", nil, "the server's `URL`: it is ready when this answers, and load goes there; given several times, a mix of requests: 3=http://…/a with a weight")
	f.StringVar(&o.attach, "attach", "", "measure a server that runs already, as it stands, at --rate: a `PID`, or :8080 where it listens; nothing of it is stopped")
	f.StringVar(&o.requests, "requests", "", "send the requests of this `file` instead, in random order: vegeta's plain or JSON format; - is standard input")
	f.IntVar(&l.Connections, "connections", l.Connections, "connections of the load, as in production (not as GOMAXPROCS)")
	f.StringVar(&o.rate, "rate", o.rate, "requests a second of the open loop; a `number` asks for the smallest value that carries it")
	f.StringVar(&l.Pace, "pace", "", "how the open loop spaces its requests: `constant` (default) or poisson, at random as users come")
	f.StringVar(&o.slo, "slo", "", "compare settings by the highest rate that keeps this `latency`: p99=20ms")
	f.StringVar(&o.price, "price", "", "with --slo and --rate: what a setting costs, `cpu=0.04,replica=0.01` (default: its CPU limits)")
	f.DurationVar(&l.Duration, "duration", l.Duration, "measured time of a trial, half of it for each loop (by default the second is as long as its p99 needs); a batch program is run again and again for this long (default 1s)")
	f.DurationVar(&l.Warmup, "warmup", l.Warmup, "load before the measured time; of a batch program (default 0s) runs")
	f.StringVar(&o.prepare, "prepare", "", "run this `command` before each run of a batch program, unmeasured")
	f.StringVar(&o.beside, "beside", "", "run this `command` beside the target in every trial, a sidecar or another tenant: on its CPUs, its CPU time told apart; {port} is the target's")
	f.StringVar(&o.besideQuota, "beside-quota", "", "its own CPU `limit`: 0.5, or none (default: as the target's)")
	f.StringVar(&l.Method, "method", "", "HTTP method (default GET, or POST with a body)")
	f.StringArrayVar(&l.Headers, "header", nil, "`'Name: value'` to send; may be repeated")
	f.StringVar(&o.body, "body", "", "`text` to send as the body")
	f.StringVar(&o.bodyFile, "body-file", "", "`file` to send as the body; - is standard input")
	o.protocol.flags(f)
	f.StringVar(&l.Command, "load", "", "generate the load with this `command` instead: wrk, wrk2, hey, oha, vegeta, fortio, k6, ghz, h2load, procfit load --json, or any whose figures --metric names; {url} {host} {port} {duration} {connections} {rate} are filled in")
	f.StringArrayVar(&o.metrics, "metric", nil, "`NAME[:lower|:higher]=REGEXP`: a figure in the output of the program or of --load; may be repeated")
	f.StringVar(&o.until, "until", o.until, "measure until the answer is `proven`, or only likely")
	f.IntVar(&o.maxTrials, "max-trials", 0, "trials at most (default 40 to 96, by the values to choose from)")
	f.DurationVar(&o.maxTime, "max-time", 0, "time that the trials take at most: 10m")
	f.BoolVar(&o.grid, "grid", false, "measure every setting equally often, in --repeats blocks, whatever they show")
	f.IntVar(&o.spec.Repeats, "repeats", o.spec.Repeats, "measure a grid of so many blocks, each with every setting once; intervals need six")
	f.StringVar(&o.margin, "margin", o.margin, "how much less throughput still counts as good")
	f.StringVar(&o.marginP99, "margin-p99", o.marginP99, "how much more p99 latency still counts as good")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the settings' random order (default from the clock), and of what is random in the load")
	f.StringVar(&o.serverCPUs, "server-cpuset", "", "`CPUs` that the target may run on: 0-1,3, or node0, cores (a thread of each), performance, efficiency")
	f.StringVar(&o.loadCPUs, "load-cpuset", "", "`CPUs` that the load runs on, named likewise")
	f.BoolVar(&l.Shared, "shared-cpus", false, "leave the load on the target's CPUs; otherwise it gets some of its own where there are four or more")
	f.StringVar(&o.out, "out", "", "results `directory` (default results/NAME-TIME); one with an unfinished journal is completed")
	f.StringVar(&o.live, "live", "", "serve the report at this `address` while the sweep runs: :0 is a free port, for this machine alone; HOST:PORT is for others too")
	f.StringVar(&o.against, "against", "", "the old `command`: every setting runs old and new, interleaved")
	f.StringVar(&o.baseline, "baseline", "", "results `directory` of an earlier sweep on this host, to compare ratios with")
	f.BoolVar(&o.gate, "gate", false, "with --against or --baseline: exit 1 when proven worse by more than the margins")
	f.StringVar(&o.ready, "ready", "", "load the server when this `URL` answers, or: tcp, grpc (its health service), or a command with exit code 0 (default: when --url answers below 500)")
	f.StringVar(&o.readyStatus, "ready-status", "", "`statuses` of that answer that count: 200-399 or 200,401")
	f.DurationVar(&t.ReadyTimeout, "ready-timeout", t.ReadyTimeout, "how long that may take")
	f.DurationVar(&t.Grace, "grace", t.Grace, "time from SIGTERM to SIGKILL when stopping the target")
	f.DurationVar(&l.RequestTimeout, "request-timeout", l.RequestTimeout, "a request that takes longer is an error")
	f.StringVar(&o.maxErrors, "max-errors", o.maxErrors, "share of failed requests above which a trial is invalid")
	f.DurationVar(&t.RunTimeout, "trial-timeout", 0, "a run of a batch program that takes longer is ended, and invalid")
	o.kube.flags(f)
	f.BoolVar(&o.yes, "yes", false, "with --kube: make the pods without asking; with --attach: send another method than GET or HEAD")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the plan and its cost, and stop")
	f.BoolVar(&o.json, "json", false, "print result.json instead of the report")
}

// resolve turns the flags into a session, or says which of them is wrong.
func (o *sweepOptions) resolve(ctx context.Context, std stdio) (*session.Session, error) {
	spec, err := o.parse(std)
	if err != nil {
		return nil, err
	}
	if o.given("kube") {
		return o.resolveKube(ctx, std, spec)
	}
	if err := o.setTarget(&spec, std); err != nil {
		return nil, err
	}
	if err := o.setAttached(&spec); err != nil {
		return nil, err
	}
	if err := o.setBudget(&spec); err != nil {
		return nil, err
	}
	err = spec.Validate()
	if err == nil {
		err = local.Check(spec, false)
	}
	if err != nil {
		return nil, refusal(err)
	}
	s := session.New(spec, session.Options{
		Dir: o.out, Tool: tool(std.args), Host: session.ThisHost(), Baseline: o.baseline, Environ: os.Environ(), Started: time.Now(),
	})
	if err := checkBudget(s); err != nil {
		return nil, err
	}
	return s, o.checkGate(s, std)
}

// tool is this procfit, as it was called.
func tool(args []string) journal.Tool {
	return journal.Tool{Version: version(), GoVersion: runtime.Version(), Args: args}
}

// parse reads the flags whose values are lists, shares and texts.
func (o *sweepOptions) parse(std stdio) (spec plan.Spec, err error) {
	spec = o.spec
	spec.Load.Stretch = !o.given("duration")
	parse := func(of func() error) {
		if err == nil {
			err = of()
		}
	}
	parse(func() (err error) {
		if spec.Procs, err = plan.ParseProcs(o.procs); err != nil {
			return usageError("--procs: %w", err)
		}
		return nil
	})
	parse(func() (err error) { spec.GoVersions, err = parseGoVersions(o.goVersions); return })
	parse(func() (err error) { spec.Quotas, err = parseQuotas(o.quota); return })
	parse(func() (err error) { spec.Target.CPUs, err = parseCPUs("server-cpuset", o.serverCPUs, std); return })
	parse(func() (err error) { spec.Load.CPUs, err = parseCPUs("load-cpuset", o.loadCPUs, std); return })
	parse(func() (err error) { spec.Load.MaxErrors, err = parseRatio("max-errors", o.maxErrors); return })
	parse(func() (err error) { spec.Load.Rate, err = parseRate(o.rate); return })
	parse(func() (err error) { spec.Load.Body, err = body(o.body, o.bodyFile, std); return })
	parse(func() (err error) { spec.Load.GRPC, err = o.protocol.call(std); return })
	spec.Load.Streams, spec.Load.TLS, spec.Load.Engine = o.protocol.streams, o.protocol.tls, o.protocol.engine
	parse(func() (err error) { spec.Load.Metrics, err = parseMetrics(o.metrics); return })
	parse(func() (err error) { spec.Margin, err = parseRatio("margin", o.margin); return })
	parse(func() (err error) { spec.MarginP99, err = parseRatio("margin-p99", o.marginP99); return })
	parse(func() (err error) { spec.Target.Against, err = parseCommand("against", o.against); return })
	parse(func() (err error) { spec.Target.Prepare, err = parseCommand("prepare", o.prepare); return })
	parse(func() (err error) { spec.Target.Beside, err = parseBeside(o.beside, o.besideQuota); return })
	parse(func() (err error) { spec.Target.Ready, err = parseReady(o.ready, o.readyStatus); return })
	parse(func() (err error) { return o.parseObjective(&spec.Load) })
	if o.given("seed") {
		spec.Seed = &o.seed
	}
	return spec, err
}

// setTarget settles the program: the user's, a package to build, or the built-in
// service.
func (o *sweepOptions) setTarget(spec *plan.Spec, std stdio) error {
	t := &spec.Target
	var err error
	if t.URL, spec.Load.Requests, err = readMix(o.urls, o.requests, std); err != nil {
		return err
	}
	t.Command = o.command
	if o.given("attach") {
		return nil // which says itself what is wrong with it
	}
	if len(o.command) == 0 && t.Build == "" && t.URL == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		t.BuiltIn = builtIn
		t.Command = []string{self, "lab", "serve", builtIn, "--addr", "127.0.0.1:" + plan.PortPlaceholder}
		t.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/"
	}
	if t.Kind() == journal.KindServer {
		return nil
	}
	// A long program runs once; a short one often enough to tell its time.
	switch {
	case o.given("duration"):
		t.RunFor = spec.Load.Duration
	case t.Kind() == journal.KindBatch:
		t.RunFor = batchTime
	}
	if !o.given("warmup") {
		spec.Load.Warmup = 0
	}
	return nil
}

const (
	// builtIn is the practice service that a sweep without a command measures.
	builtIn = "cpuserver"
	// batchTime is what the runs of one trial use where --duration is not given.
	batchTime = time.Second
	// fewestBlocks is what a gate needs to be judged at all.
	fewestBlocks = 3
)

// checkGate looks at what the sweep is to be compared with, before it takes its
// time.
func (o *sweepOptions) checkGate(s *session.Session, std stdio) error {
	switch {
	case o.gate && o.against == "" && o.baseline == "":
		return usageError("--gate needs something to compare with: --against 'OLD COMMAND' or --baseline DIR")
	case o.gate && s.Spec.Budget == nil && o.spec.Repeats < fewestBlocks:
		return usageError("--gate with --repeats %d: fewer than %d blocks prove nothing", o.spec.Repeats, fewestBlocks)
	case o.against != "" && o.baseline != "":
		return usageError("--against and --baseline exclude each other")
	case o.baseline == "":
		return nil
	}
	old, notes, err := s.CheckBaseline()
	if errors.Is(err, os.ErrNotExist) {
		return usageError("--baseline: %w; name the results directory of an earlier sweep", err)
	}
	if err != nil {
		return refusal(err)
	}
	for _, n := range notes {
		switch n {
		case session.BaselineCommand:
			std.notef("the baseline measured another command: %q, now %q", old.Target.Command, s.Header.Target.Command)
		case session.BaselineLoad:
			std.notef("the baseline was measured under another load")
		case session.BaselineBeside:
			std.notef("beside the baseline another program ran, or none: --beside is not the same")
		}
	}
	return nil
}

// parseObjective reads what --slo and --price say.
func (o *sweepOptions) parseObjective(l *plan.Load) error {
	if o.given("slo") {
		objective, err := slo.Parse(o.slo)
		if err != nil {
			return usageError("--slo %w", err)
		}
		l.SLO = &objective
	}
	if o.given("price") {
		price, err := slo.ParsePrice(o.price)
		if err != nil {
			return usageError("--price %w", err)
		}
		l.Price = &price
	}
	return nil
}

func parseMetrics(flags []string) ([]load.Metric, error) {
	var metrics []load.Metric
	for _, m := range flags {
		metric, err := load.ParseMetric(m)
		if err != nil {
			return nil, usageError("--metric: %w", err)
		}
		metrics = append(metrics, metric)
	}
	return metrics, nil
}

// fieldError says what is wrong with a field of a Spec by the flag that sets it. The
// command has no flag.
func fieldError(e *plan.FieldError) error {
	if e.Field == plan.FieldCommand {
		return usageError("%s", e.Of(""))
	}
	return usageError("%s", e.Of("--"+string(e.Field)))
}
