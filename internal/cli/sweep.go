package cli

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/secret"
)

const sweepLong = `Measure a Go program at every GOMAXPROCS and recommend one.

Without a command, procfit measures its built-in practice server. With --url the
command is a server; {port} in the URL and in the command or --env is a free port. A
trial starts the server and loads it twice: a closed loop for its throughput, then an
open loop at one rate for every setting for its latency, which counts from the time at
which a request should have been sent. Where four or more CPUs can be used, the load
gets some of its own.

Without --url the command is a batch program. A trial runs it again and again until
--trial-time is used, and its throughput is runs per second, or what --metric finds in its
output. 'go test -bench X ./pkg' is understood: procfit compiles the tests once, and the
benchmark lines are the metrics.

With --slo settings are compared by the highest rate that each carries within a latency
objective. With --rate too, procfit names the cheapest setting that carries the rate, the
one with the fewest CPUs in all: give several --limit and --replicas.

Without --procs, the answer is the default or a value from 1 to twice the CPUs, and to at
least 5. The first trials look at a few of them. An HTTP server with at most six values and
no CPU limit is measured in slices after two trials of the default: procfit starts it once,
sets one value after the other while it runs, for 0.2 s each, and gives trials only to the
values that can be the answer. Then blocks of two or three settings follow in random order,
until the answer is proven, the trials of --until trials=N have run, or the time of --for is
over. --repeats measures every setting equally often instead.

Each trial is written to journal.jsonl in the results directory as it ends. The same
command with the same --out resumes a run that has not ended, and a higher --until trials=N
measures more.`

const sweepExample = `  procfit sweep
  procfit sweep --url http://127.0.0.1:{port}/ --limit 1 --procs default,1,2,4,8 -- ./server -addr :{port}
  procfit sweep --procs 1..8 -- ./batch-job --input x
  procfit sweep -- go test -bench Parse ./parser
  procfit sweep --slo p99=50ms --rate 300 --limit 1,0.5 --url http://127.0.0.1:{port}/ -- ./server -addr :{port}
  procfit sweep --prepare 'rm -rf cache' --trial-time 10s -- ./build-cache
  procfit sweep --metric 'throughput=([\d.]+) rows/s' -- ./import data.csv
  procfit sweep --go 1.24,1.26 --build ./cmd/server --url http://127.0.0.1:{port}/ -- -addr :{port}
  procfit sweep --load 'wrk -t2 -c64 -d{duration} --latency {url}' --url http://127.0.0.1:{port}/ -- ./server -addr :{port}`

func newSweep(std stdio) *cobra.Command {
	o := newSweepOptions()
	return o.bind(std, &cobra.Command{
		Use:     "sweep [flags] [-- COMMAND ARG…]",
		Short:   "Measure a program at every GOMAXPROCS and recommend one",
		Long:    sweepLong,
		Example: sweepExample,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.sweep(cmd.Context(), std, args) },
	}, o.Fields)
}

func newSweepOptions() *measurement {
	o := newMeasurement("sweep")
	names := slices.Concat(programFields, []string{"build"}, cpuFields, valueFields, []string{"go", "slo", "vary", "max-memory", "profile"}, loadFields, callFields, stopFields)
	fields := field.Named(names...)
	fields[slices.Index(names, "slo")].Not = "load metric prepare vary max-memory profile"
	o.Fields = slices.Concat(field.Take(o.spec.Fields(), fields...), o.own(), o.fromFile(ofCommand))
	return &o
}

// The fields that the commands which start a program share.
var (
	programFields = []string{"url", "env", "ready", "prepare", "beside", "timeout", "any-program"}
	valueFields   = []string{"procs", "replicas", "metric", "margin", "seed"}
	loadFields    = []string{"connections", "rate", "pace", "trial-time", "header", "body", "requests", "max-errors", "load"}
	callFields    = []string{"streams", "grpc", "proto", "tls"}
	cpuFields     = []string{"limit", "cpus"}
	stopFields    = []string{"until", "for", "repeats"}
)

func (m *measurement) sweep(ctx context.Context, std stdio, args []string) error {
	std = m.printed.std(std)
	m.command = args
	if len(args) > 0 && m.Has("profile") && strings.Contains(args[0], "://") {
		return usageError("--profile %s: write the address with =: --profile=%[1]s", secret.Text(args[0]))
	}
	if err := m.prepare(std); err != nil {
		return err
	}
	s, err := m.resolve(std)
	if err != nil {
		return err
	}
	return m.onThisMachine(ctx, std, s)
}

func (m *measurement) resolve(std stdio) (*session.Session, error) {
	spec, err := m.toSpec(std)
	if err != nil {
		return nil, err
	}
	if err := m.setTarget(&spec, std); err != nil {
		return nil, err
	}
	if err := m.setBudget(&spec); err != nil {
		return nil, err
	}
	return m.here(std, spec)
}

// setTarget settles the program: the user's, a package to build, or the practice server.
func (m *measurement) setTarget(spec *plan.Spec, std stdio) error {
	t := &spec.Target
	var err error
	if t.URL, err = readURLs(m.spec, spec, m.spec.URLs, std); err != nil {
		return err
	}
	t.Command = m.command
	if len(m.command) == 0 && t.Build == "" && t.URL == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		t.BuiltIn = builtIn
		t.Command = []string{self, "lab", "serve", builtIn, "--addr", "127.0.0.1:" + plan.PortPlaceholder}
		t.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/"
		if !m.HasPart("trial-time", "") && len(spec.Quotas) == 0 && spec.Load.Rate == 0 { // else its p99 needs what it takes
			// 40 trials last two minutes, and a p99 has its requests if it answers 11,000 per second.
			spec.Load.Duration, spec.Load.Stretch = 1800*time.Millisecond, false
		}
	}
	if t.IsServer() {
		return nil
	}
	// A long program runs once; a short one often enough to show its time.
	switch {
	case m.HasPart("trial-time", ""):
		t.RunFor = spec.Load.Duration
	case t.IsBatch():
		t.RunFor = time.Second
	}
	if !m.HasPart("trial-time", "warmup") {
		spec.Load.Warmup = 0
	}
	return nil
}

// builtIn is the practice server that a sweep without a command measures.
const builtIn = "cpuserver"

func except(names []string, but ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(but, name) })
}
