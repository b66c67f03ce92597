package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/local"
	"github.com/procfit/procfit/internal/stat"
	"github.com/procfit/procfit/internal/sweep"
)

// sweepOptions are the flags of procfit sweep, as given.
type sweepOptions struct {
	procs, quota         string
	replicas             int
	goVersions           []string
	build                string
	url                  string
	connections          int
	rate                 string
	duration, warmup     time.Duration
	method               string
	headers              []string
	body, bodyFile       string
	load                 string
	metrics              []string
	repeats              int
	margin, marginP99    string
	seed                 uint64
	serverCPUs, loadCPUs string
	out                  string
	against, baseline    string
	gate                 bool
	readyTimeout, grace  time.Duration
	requestTimeout       time.Duration
	maxErrors            string
	trialTimeout         time.Duration
	dryRun, json         bool
	seedGiven            bool
	args                 []string // procfit's own, for reproduce.sh
	command              []string
	practice             *practice // what lab run measures instead of a command
}

// defaultSweep is a sweep without any flag.
func defaultSweep() sweepOptions {
	return sweepOptions{
		procs: "auto", replicas: 1, connections: 64, rate: "auto", duration: 3 * time.Second, warmup: 500 * time.Millisecond,
		repeats: 6, margin: "5%", marginP99: "20%", readyTimeout: 30 * time.Second, grace: 5 * time.Second,
		requestTimeout: 10 * time.Second, maxErrors: "1%",
	}
}

const sweepLong = `Measure a Go program at every GOMAXPROCS and say which one to run it with.

Without a command, procfit sweeps its built-in practice service. A server is a
command with --url; {port} in the command and the URL gives it a free port. Each
trial loads it twice: a closed loop for throughput, then an open loop at one rate
for every arm, whose latency counts from the intended send. A command without
--url is a batch program: its throughput is runs a second, or what --metric finds
in its output. 'go test -bench X ./pkg' is understood: it is compiled once and its
benchmark lines are the metrics.

The arms run in random order in each of --repeats blocks, and one arm runs twice
in each block, so that the noise of the machine is known. The trials go one by one
into --out/journal.jsonl; the same command with the same --out completes what is
missing. --dry-run prints the plan and its cost.`

const sweepExample = `  procfit sweep
  procfit sweep --url http://127.0.0.1:{port}/ --quota 1 --procs unset,1,2,4,8 -- ./server -addr :{port}
  procfit sweep --procs 1..8 -- ./batch-job --input x
  procfit sweep --metric 'throughput=([\d.]+) rows/s' -- ./import data.csv
  procfit sweep -- go test -bench Parse ./parser
  procfit sweep --go 1.24,1.26 --build ./cmd/server --url http://127.0.0.1:{port}/ -- -addr :{port}
  procfit sweep --load 'wrk -t2 -c64 -d{duration} --latency {url}' --url http://127.0.0.1:{port}/ -- ./server -addr :{port}
  procfit sweep --gate --against './server.old -addr :{port}' --url http://127.0.0.1:{port}/ -- ./server -addr :{port}`

func newSweep(io stdio) *cobra.Command {
	o := defaultSweep()
	cmd := &cobra.Command{
		Use:     "sweep [flags] [-- command args…]",
		Short:   "Measure a program at every GOMAXPROCS and recommend one",
		Long:    sweepLong,
		Example: sweepExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.command, o.args = args, io.args
			o.seedGiven = cmd.Flags().Changed("seed")
			return o.run(cmd.Context(), io)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.procs, "procs", o.procs, "`values` of GOMAXPROCS: unset,1,2,4 or 1..8 or auto")
	f.StringVar(&o.quota, "quota", "", "CPU `limits` to run under, by the kernel's CFS quota: none,0.5,2")
	f.IntVar(&o.replicas, "replicas", o.replicas, "copies of the target behind one load, each in its own cgroup")
	f.StringSliceVar(&o.goVersions, "go", nil, "Go `versions` to compile --build with, each an arm: 1.24,1.26")
	f.StringVar(&o.build, "build", "", "compile this `package` and run it; the words after -- are its arguments")
	f.StringVar(&o.url, "url", "", "the server's `URL`: it is ready when this answers, and load goes there")
	f.IntVar(&o.connections, "connections", o.connections, "connections of the load, as in production (not as GOMAXPROCS)")
	f.StringVar(&o.rate, "rate", o.rate, "requests a second of the open loop; a `number` asks for the smallest arm that carries it")
	f.DurationVar(&o.duration, "duration", o.duration, "measured time of a trial, half of it for each loop")
	f.DurationVar(&o.warmup, "warmup", o.warmup, "load before the measured time")
	f.StringVar(&o.method, "method", "", "HTTP method (default GET, or POST with a body)")
	f.StringArrayVar(&o.headers, "header", nil, "`'Name: value'` to send; may be repeated")
	f.StringVar(&o.body, "body", "", "`text` to send as the body")
	f.StringVar(&o.bodyFile, "body-file", "", "`file` to send as the body; - is standard input")
	f.StringVar(&o.load, "load", "", "offer load by this `command` instead: wrk, hey, or any whose figures --metric names; {url} {duration} {connections} {rate} are filled in")
	f.StringArrayVar(&o.metrics, "metric", nil, "`NAME[:lower|:higher]=REGEXP`: a figure in the output of the program or of --load; may be repeated")
	f.IntVar(&o.repeats, "repeats", o.repeats, "blocks, each of which runs every arm once; intervals need six")
	f.StringVar(&o.margin, "margin", o.margin, "how much less throughput still counts as good")
	f.StringVar(&o.marginP99, "margin-p99", o.marginP99, "how much more p99 latency still counts as good")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the arms' random order (default from the clock)")
	f.StringVar(&o.serverCPUs, "server-cpuset", "", "`CPUs` that the target may run on: 0-1,3")
	f.StringVar(&o.loadCPUs, "load-cpuset", "", "`CPUs` that the load runs on")
	f.StringVar(&o.out, "out", "", "results `directory` (default results/NAME-TIME); one with an unfinished journal is completed")
	f.StringVar(&o.against, "against", "", "the old `command`: every arm runs old and new, interleaved")
	f.StringVar(&o.baseline, "baseline", "", "results `directory` of an earlier sweep on this host, to compare ratios with")
	f.BoolVar(&o.gate, "gate", false, "with --against or --baseline: exit 1 when worse than the margins with confidence")
	f.DurationVar(&o.readyTimeout, "ready-timeout", o.readyTimeout, "how long the URL may take to answer first")
	f.DurationVar(&o.grace, "grace", o.grace, "time from SIGTERM to SIGKILL when stopping the target")
	f.DurationVar(&o.requestTimeout, "request-timeout", o.requestTimeout, "a request that takes longer is an error")
	f.StringVar(&o.maxErrors, "max-errors", o.maxErrors, "share of failed requests above which a trial is invalid")
	f.DurationVar(&o.trialTimeout, "trial-timeout", 0, "a run of a batch program that takes longer is ended, and invalid")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the plan and its cost, and stop")
	f.BoolVar(&o.json, "json", false, "print result.json instead of the report")
	return cmd
}

// run is procfit sweep.
func (o *sweepOptions) run(ctx context.Context, io stdio) error {
	s, err := o.resolve(io)
	if err != nil {
		return err
	}
	if o.dryRun {
		_, err := fmt.Fprintln(io.out, s.describe())
		return err
	}
	var bar *progress
	started, err := s.measure(ctx, io, func() *progress {
		io.notef("%s", s.describe())
		bar = newProgress(io.err, time.Now)
		return bar
	})
	if !started {
		return err
	}
	bar.finish()
	return o.conclude(io, s, err)
}

// measure carries out what the journal lacks. begin is called when all is ready
// for the first trial; started says whether it came to that.
func (s *session) measure(ctx context.Context, io stdio, begin func() *progress) (started bool, err error) {
	runner, err := local.New(s.config)
	if err != nil {
		return false, err
	}
	defer runner.Close()
	runner.Phase = func(what string) { io.notef("%s", what) }
	if err := runner.Prepare(ctx, s.plan); err != nil {
		return false, err
	}
	w, have, err := s.openJournal(io)
	if err != nil {
		return false, &journalError{err}
	}
	defer w.Close()
	if err := os.MkdirAll(s.config.LogDir, 0o755); err != nil {
		return false, &journalError{err}
	}
	bar := begin()
	runner.Phase = bar.phase
	execution := sweep.Execution{
		Plan: s.plan, Have: have, Runner: runner, Rate: s.rate, Each: s.each(), Undaunted: s.undaunted,
		Report: bar.report, Now: time.Now,
		Append: func(t journal.Trial) error {
			if err := w.Append(t); err != nil {
				return &journalError{err}
			}
			return nil
		},
	}
	err = execution.Run(ctx)
	if unkept := (*local.UnkeptError)(nil); errors.As(err, &unkept) {
		err = &journalError{err}
	}
	return true, err
}

// journalError is that the journal, or the logs beside it, cannot be used: nothing
// measured would be kept.
type journalError struct{ error }

func (e *journalError) Unwrap() error { return e.error }

// conclude reports what the journal holds, whether or not the run came to its
// end, since a finished trial is never lost.
func (o *sweepOptions) conclude(io stdio, s *session, runErr error) error {
	contents, err := journal.ReadFile(filepath.Join(s.dir, journalName))
	if err != nil {
		return errors.Join(runErr, err)
	}
	if runErr != nil {
		defer s.advise(io, runErr, len(contents.Trials))
	}
	if len(contents.Trials) == 0 {
		return interrupted(runErr)
	}
	result, paths, err := renderDirectory(s.dir, contents, o.baseline)
	// On a disk that is full the terminal still has the result.
	if err = errors.Join(show(io, result, paths, o.json), err); err != nil {
		return errors.Join(interrupted(runErr), err)
	}
	if runErr != nil {
		return interrupted(runErr)
	}
	if o.gate {
		return gateError(result.Gate)
	}
	return nil
}

// gateError is the gate's answer as an exit code: a gate that could not be judged
// is a failure, not a pass.
func gateError(g *stat.Gate) error {
	switch {
	case g == nil:
		return errors.New("the gate cannot be judged: nothing was compared")
	case slices.ContainsFunc(g.Checks, func(c stat.GateCheck) bool { return c.Worse }):
		return &exitError{exitGate, errors.New("the gate is not met: worse than the margin, with confidence")}
	case !g.Pass:
		return fmt.Errorf("the gate cannot be judged: %s", g.Unjudged)
	}
	return nil
}

// interrupted words the error of a run that Ctrl-C ended.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	return err
}

// advise says what is left of a run that did not come to its end, and how to go
// on.
func (s *session) advise(io stdio, err error, trials int) {
	if errors.Is(err, sweep.ErrHopeless) {
		io.notef("the trials and their logs are in %s; mend what made them invalid, then begin anew with another --out", s.dir)
		return
	}
	io.notef("finished trials kept in %s: %d; the same command with --out %s completes what is missing", s.dir, trials, s.dir)
}
