package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/inspect/traffic"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/text"
)

// observeOptions are the flags of procfit observe.
type observeOptions struct {
	measurement
	unsafe bool
}

func newObserve(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "observe [flags] PID|:PORT",
		Short: "Measure a running server as it is, at a rate that you choose",
		Long: `Send requests at --rate to a Go server that is already running, and report which
GOMAXPROCS it runs with, its latency at that rate, its CPU time and how often it is
throttled. Nothing of the server is started, changed or stopped.

The server is a process ID, or the port where it listens. By its port the load goes to
http://127.0.0.1:PORT/, unless --url names another address. Requests that may change
what the server holds (POST, PUT, …) are sent only with --allow-unsafe-methods.

Without --rate a program that has the Meter of maxprocs/live is watched under its own
traffic: nothing is sent, and the report has its requests, their latency from arrival and
the CPU time of each.

procfit ps lists the Go programs that run. For a server in another language, use
procfit load.`,
		Example: `  procfit observe :8080 --rate 300
  procfit observe :8080 --rate 300 --url http://127.0.0.1:8080/orders --connections 16
  procfit observe 4711 --trial-time 30s`,
	}
	o := newObserveOptions(std, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) }
	return cmd
}

func newObserveOptions(std stdio, cmd *cobra.Command) *observeOptions {
	o := &observeOptions{measurement: newMeasurement("observe")}
	o.spec.Parts["timeout"], o.spec.Parts["cpus"] = []string{"request"}, []string{"load"}
	names := slices.Concat(except(loadFields, "rate"), callFields, []string{"metric", "seed", "cpus"})
	fields := field.Take(o.spec.Fields(), append(field.Named(names...),
		field.Field{Name: "url", Help: "where the requests go (default http://127.0.0.1:PORT/)"},
		field.Field{Name: "timeout", Help: "how long a request may take (default request=10s)"},
		field.Field{Name: "rate", Help: "requests per second to send (default none)"},
		field.Field{Name: "repeats", Help: "how many trials to measure (default 6)"})...)
	unsafe := field.Field{Name: "allow-unsafe-methods", Help: "send methods that may change data, such as POST and PUT", Value: field.Switch(&o.unsafe), Group: field.Load}
	o.bind(std, cmd, slices.Concat(fields, []field.Field{unsafe}, o.own()))
	return o
}

// run is procfit observe.
func (o *observeOptions) run(ctx context.Context, std stdio, args []string) error {
	if len(args) != 1 {
		return usageError("observe takes one process ID or :PORT, got %d words; try: procfit observe :8080 --rate 100", len(args))
	}
	if strings.Contains(args[0], "://") {
		return usageError("observe %q: expected a process ID or :PORT; for a URL on this machine: procfit observe :PORT --rate 100 --url URL", secret.Text(args[0]))
	}
	std = o.printed.std(std)
	o.operands = args
	if err := o.check(); err != nil {
		return err
	}
	if !o.has("rate") {
		return o.watch(ctx, std)
	}
	s, err := o.resolve(std)
	if err != nil {
		return err
	}
	announce(std, s)
	return o.onThisMachine(ctx, std, s)
}

// watchFor is how long a program is watched under its own traffic, without --trial-time.
const watchFor = 10 * time.Second

// needsRate is what observe asks for unless there is a Meter.
const needsRate = "observe needs --rate, the requests per second to send: a server in use gets the rate that you choose, not the most that it can carry"

// watch observes a program under its own traffic, by its Meter.
func (o *observeOptions) watch(ctx context.Context, std stdio) error {
	a, err := local.Attach(o.operands[0])
	if err != nil {
		return refusal(err)
	}
	for _, name := range o.Names {
		if !slices.Contains([]string{"trial-time", "output", "json", "quiet", "dry-run"}, name) {
			return usageError("--%s: "+needsRate, name)
		}
	}
	d := watchFor
	if o.HasPart("trial-time", "") {
		d = o.spec.Load.Duration
	}
	if o.dryRun {
		_, err := fmt.Fprintf(std.out, "process %d (%s) under its own traffic, for %s, if it has the Meter of maxprocs/live: nothing is sent\n", a.PID, phrase.Clean(a.Name), number.Chosen(d))
		return err
	}
	w, err := traffic.Watch(ctx, a.PID, d, func(procs int) {
		std.notef("process %d runs with GOMAXPROCS %d; its own traffic is watched for %s, nothing of it is changed", a.PID, procs, number.Chosen(d))
	})
	if errors.Is(err, meter.ErrNone) {
		return usageError(needsRate+"; its own traffic is not known: %v", err)
	}
	if err != nil {
		return err
	}
	if o.printed.json() {
		err = w.WriteJSON(std.out)
	} else {
		err = w.WriteText(std.out, text.Options{Width: width(std), Color: std.color()})
	}
	return cmp.Or(err, interrupted(ctx.Err()))
}

func (o *observeOptions) resolve(std stdio) (*session.Session, error) {
	spec, err := o.settled(std)
	if err != nil {
		return nil, err
	}
	if spec.Target.URL, err = readURLs(o.spec, &spec, o.spec.URLs, std); err != nil {
		return nil, err
	}
	if spec.Target.Attach, err = local.Attach(o.operands[0]); err != nil {
		return nil, refusal(err)
	}
	if port, ok := strings.CutPrefix(o.operands[0], ":"); ok && spec.Target.URL == "" {
		spec.Target.URL = "http://127.0.0.1:" + port + "/"
	}
	if m := changing(spec.Load); m != nil && !o.unsafe {
		return nil, usageError("%s may change what the server holds; --allow-unsafe-methods sends it", phrase.And(m))
	}
	if !o.has("rate") || o.spec.Load.Rate == 0 {
		return nil, usageError(needsRate)
	}
	return o.here(std, spec)
}

// changing are the methods of a load that are not safe (RFC 9110, 9.2.1).
func changing(l plan.Load) (list []string) {
	add := func(method string) {
		if !slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE"}, method) && !slices.Contains(list, method) {
			list = append(list, method)
		}
	}
	switch {
	case l.GRPC != nil:
		list = append(list, "a call of "+l.GRPC.Method)
	case len(l.Requests) > 0:
		for _, r := range l.Requests {
			add(r.EffectiveMethod())
		}
	case l.Command != "":
		list = append(list, "the --load command")
	default:
		add(l.EffectiveMethod())
	}
	return list
}

// announce prints what will be done to a server that somebody may be using.
func announce(std stdio, s *session.Session) {
	a, l := s.Spec.Target.Attach, s.Spec.Load
	procs := "a GOMAXPROCS that cannot be read"
	if a.Procs != nil {
		procs = fmt.Sprintf("GOMAXPROCS %d", *a.Procs)
	}
	what := l.EffectiveMethod() + " " + s.Header.Target.URL
	switch {
	case l.GRPC != nil:
		what = "calls of " + l.GRPC.Method
	case l.Command != "":
		what = "what the --load command sends"
	case len(l.Requests) > 0:
		what = phrase.Count(len(l.Requests), "request") + " of a mix"
	}
	std.notef("process %d (%s) runs with %s and gets %s at %s req/s, over %s; nothing of it is stopped or changed",
		a.PID, phrase.Clean(a.Name), procs, what, number.Count(l.Rate), phrase.Count(l.Connections, "connection"))
}
