package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
)

const sweepLong = `Measure a Go program at every GOMAXPROCS and say which one to run it with.

Without a command, procfit sweeps its built-in practice service. A server is a
command with --url; {port} in the URL and in the command or --env gives it a free
port. Each trial loads it twice: a closed loop for throughput, then an open loop at one
rate for every setting, whose latency counts from the intended send. Where four or more CPUs
can be used, the load gets some of its own, unless --shared-cpus is given. A command
without --url is a batch program: a trial runs it again and again until --duration is
used (1s, where that is not given), and its throughput is runs a second, or what
--metric finds in its output. 'go test -bench X ./pkg' is understood: it is compiled
once and its benchmark lines are the metrics.

What decides is measured again and what is settled is not: a first look at a few
values from 1 to twice the CPUs, then blocks of two or three settings in random order,
until the answer is proven (--until), or --max-trials or --max-time are used up. A value
that --procs names is measured three times at least. With --against, pairs of old and
new run until they are told apart, or shown to be alike. --grid measures every setting
equally often instead, in --repeats blocks, and one of them twice in each.

With --attach a server that runs already is offered --rate and looked at as it stands:
which GOMAXPROCS it runs with, its latency at that rate, its CPU time and throttling.

With --kube pods like those of an object in a cluster are measured, and with --canary
they serve beside the object's own: a few pods, each at one value and one unset, under
the traffic that its Service gets anyway, until the first harm. --query NAME=QUERY
compares figures of a --prometheus too.

With --slo p99=20ms settings are compared by the highest rate that each carries within
that latency; with --rate too, the cheapest of all limits and replicas is named.

Each trial is written to --out/journal.jsonl as it ends. The same command with the same
--out completes what is missing, and with a higher --max-trials it measures more.
--dry-run prints the plan and its cost. --live serves the report while it runs, renewed
after each trial, to browsers on this machine.`

const sweepExample = `  procfit sweep
  procfit sweep --url http://127.0.0.1:{port}/ --quota 1 --procs unset,1,2,4,8 -- ./server -addr :{port}
  procfit sweep --procs 1..8 -- ./batch-job --input x
  procfit sweep --prepare 'rm -rf cache' --duration 10s -- ./build-cache
  procfit sweep --metric 'throughput=([\d.]+) rows/s' -- ./import data.csv
  procfit sweep -- go test -bench Parse ./parser
  procfit sweep --go 1.24,1.26 --build ./cmd/server --url http://127.0.0.1:{port}/ -- -addr :{port}
  procfit sweep --load 'wrk -t2 -c64 -d{duration} --latency {url}' --url http://127.0.0.1:{port}/ -- ./server -addr :{port}
  procfit sweep --slo p99=50ms --rate 300 --quota 1,0.5 --url http://127.0.0.1:{port}/ -- ./server -addr :{port}
  procfit sweep --attach :8080 --rate 300
  procfit sweep --kube deployment/api --namespace shop --image registry.example/tools/procfit:v1 --canary --procs 1,2
  procfit sweep --gate --against './server.old -addr :{port}' --url http://127.0.0.1:{port}/ -- ./server -addr :{port}`

func newSweep(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sweep [flags] [-- command args…]",
		Short:   "Measure a program at every GOMAXPROCS and recommend one",
		Long:    sweepLong,
		Example: sweepExample,
	}
	o := newSweepOptions(std, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.command = args
		return o.run(cmd.Context(), std)
	}
	return cmd
}

// run is procfit sweep.
func (o *sweepOptions) run(ctx context.Context, std stdio) error {
	if o.kube.clean || o.kube.on == "--clean" { // as in --kube --clean: the flag takes the next word for its value
		return o.kube.cleanKube(ctx, std)
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.kube.canary.on {
		return o.runCanary(ctx, std)
	}
	s, err := o.resolve(ctx, std)
	if err != nil {
		return err
	}
	if o.kube.copies != nil {
		if err := o.consent(ctx, std, o.kube.copies, s.Plan, func() { o.kube.tell(std, s) }); err != nil {
			return err
		}
	}
	if s.Spec.Target.Attach != nil {
		tellAttached(std, s)
	}
	if o.dryRun {
		_, err := fmt.Fprintln(std.out, describe(s))
		return err
	}
	document, err := openLive(ctx, std, s, o.live)
	if err != nil {
		return err
	}
	defer document.end(ctx)
	runner, err := o.runner(s)
	if err != nil {
		return err
	}
	defer func() {
		if err := runner.Close(); err != nil && o.kube.copies != nil {
			std.notef("%v", err)
		}
	}()
	var bar *progress
	events := sweepEvents(std, s, &bar)
	document.follow(&events)
	begun, err := s.Run(ctx, runner, events)
	if !begun {
		return refusal(err)
	}
	bar.finish()
	return o.conclude(std, s, err)
}

// sweepEvents tells on stderr what a run does; its progress line begins with the first
// trial.
func sweepEvents(std stdio, s *session.Session, bar **progress) session.Events {
	return session.Events{
		Torn: std.torn,
		Begin: func() {
			std.notef("%s", describe(s))
			*bar = newProgress(std.err, time.Now)
			(*bar).resume(s.Journal().Trials)
		},
		Activity: func(a plan.Activity) {
			switch {
			case *bar == nil:
				std.notef("%s", activity(a))
			case a.Step == plan.StepUnjudged:
				(*bar).say("procfit: " + activity(a))
			default:
				(*bar).activity(a)
			}
		},
		Progress: func(p plan.Progress) { (*bar).report(p) },
	}
}

// runner is that of this machine, or of a cluster.
func (o *sweepOptions) runner(s *session.Session) (plan.Runner, error) {
	if o.kube.copies == nil {
		return local.New(s.Spec, local.Config{Environ: os.Environ(), CreateLog: s.CreateLog})
	}
	return o.kube.runner(s), nil
}

func (s stdio) torn(path string, bytes int64) {
	s.notef("%s: its last line was torn (%d bytes) and is left out", path, bytes)
}

// refusal makes a wrong Spec, and a results folder that is not to be used, usage
// errors.
func refusal(err error) error {
	var refused *session.Refusal
	var wrong *plan.FieldError
	switch {
	case errors.As(err, &refused):
		return usageError("%w", refused)
	case errors.As(err, &wrong):
		return usageError("%w", wrong)
	}
	return err
}

// conclude reports what the journal holds, whether or not the run came to its
// end, since a finished trial is never lost.
func (o *sweepOptions) conclude(std stdio, s *session.Session, runErr error) error {
	contents := s.Journal()
	if f := page.NewFailure(s.Dir, contents); f != nil {
		return failed(std, s.Dir, f, runErr)
	}
	if runErr != nil {
		defer remind(std, s, runErr, len(contents.Trials))
	}
	if len(contents.Trials) == 0 {
		return interrupted(runErr)
	}
	r, paths, err := publish(s.Dir, contents, o.baseline)
	// On a disk that is full the terminal still has the result.
	if err = errors.Join(show(std, r, paths, o.json), err); err != nil {
		return errors.Join(interrupted(runErr), err)
	}
	if runErr != nil {
		return interrupted(runErr)
	}
	if o.gate {
		return gateError(r.Gate)
	}
	return nil
}

// failed writes the page of a sweep that has no verdict, and is its error. It explains why
// the run ended, unless something else ended it.
func failed(std stdio, dir string, f *page.Failure, runErr error) error {
	paths, err := page.WriteFailure(dir, f)
	text := f.Text()
	for _, path := range paths {
		text += "\n→ " + path
	}
	why := errors.Join(errors.New(text), err)
	switch {
	case runErr == nil || errors.Is(runErr, plan.ErrHopeless):
		return why
	case errors.Is(runErr, context.Canceled):
		std.notef("%v", why)
		return interrupted(runErr)
	}
	return errors.Join(why, runErr)
}

// gateError is the gate's answer as an exit code: a gate that could not be judged
// is a failure, not a pass.
func gateError(g *verdict.Gate) error {
	switch {
	case g == nil:
		return errors.New("the gate cannot be judged: nothing was compared")
	case slices.ContainsFunc(g.Checks, func(c verdict.GateCheck) bool { return c.Worse }):
		return &exitError{exitGate, errors.New("the gate failed: proven worse by more than the margin")}
	case !g.Pass:
		return fmt.Errorf("the gate cannot be judged: %s", page.Unjudged(g))
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

// remind says what is left of a run that did not come to its end, and how to go
// on.
func remind(std stdio, s *session.Session, err error, trials int) {
	if errors.Is(err, plan.ErrHopeless) {
		std.notef("the trials and their logs are in %s; fix the cause, then start over with another --out", s.Dir)
		return
	}
	var over *plan.OverBudgetError
	if errors.As(err, &over) {
		std.notef("finished trials kept in %s: %d", s.Dir, trials) // the error says how to go on
		return
	}
	std.notef("finished trials kept in %s: %d; the same command with --out %s completes what is missing", s.Dir, trials, s.Dir)
}
