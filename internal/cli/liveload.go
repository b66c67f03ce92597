package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/sockets"
	"github.com/procfit/procfit/internal/inspect/traffic"
	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	judge "github.com/procfit/procfit/internal/verdict/live"
)

func (o *liveOptions) offered() []field.Field {
	o.spec.Parts["timeout"], o.spec.Parts["cpus"] = []string{"request"}, []string{"load"}
	names := slices.Concat(except(loadFields, "rate", "trial-time", "header"), callFields, []string{"cpus"})
	fields := field.Take(o.spec.Fields(), append(field.Named(names...),
		field.Field{Name: "url", Help: "where the requests go (default http://127.0.0.1:PORT/)"},
		field.Field{Name: "timeout", Help: "how long a request may take (default request=10s)"},
		field.Field{Name: "trial-time", Help: "how long each trial at --rate takes (default by the rate)"},
		field.Field{Name: "rate", Help: "requests per second to send (default none)"})...)
	fields = append(fields, field.In(field.Load, field.Take(o.spec.Fields(), field.Field{Name: "metric"}, field.Field{Name: "repeats", Help: "how many trials to measure at --rate (default 6)"})...)...)
	unsafe := field.Field{Name: "allow-unsafe-methods", Help: "send methods that may change data, such as POST and PUT", Value: field.Switch(&o.unsafe), Group: field.Load}
	return append(fields, unsafe)
}

// checkWays refuses flags of one way to use live that another one does not have: values are
// tried with --procs or --aa, a load is offered with --rate, and else the program is watched.
func (o *liveOptions) checkWays() error {
	tries, loads := o.tries(), o.Has("rate")
	if tries && loads {
		return o.bothWays()
	}
	for _, name := range o.Names {
		of := func(list ...string) bool { return slices.Contains(list, name) }
		switch {
		case of("slice", "burn-in", "baseline", "budget", "margin", "slo", "metrics", "prometheus", "query", "yes") && !tries:
			return usageError("--%s needs --procs, the values to try; without it the program is watched, and nothing is changed", name)
		case of("header") && !tries && !loads:
			return usageError("--header needs --rate, --metrics or --prometheus: without them nothing is asked")
		case of("header", "rate") || of(tried...):
		case !loads:
			return usageError("--%s needs --rate, the requests per second to send: a server in use gets the rate that you choose, not the most that it can carry", name)
		}
	}
	if loads && o.Has("for") {
		each := o.spec.Load.Duration / time.Duration(max(1, o.spec.Repeats))
		return usageError("--for has no effect with --rate, which measures %s, each by itself; try: --trial-time %s", phrase.Count(o.spec.Repeats, "trial"), number.Typed(max(time.Second, each-each%time.Second)))
	}
	return nil
}

// bothWays is that values are to be tried under a load: two commands, which a shell runs
// together. Each has what it needs, so that it is the last to be typed.
func (o *liveOptions) bothWays() error {
	h := judge.NewHeader(o.slice, o.burnIn, o.baseline, o.spec.Load.Duration)
	var values []int
	for _, n := range o.spec.Procs.Values {
		if n != nil {
			values = append(values, *n)
		}
	}
	if o.spec.Procs.Auto {
		values = []int{1, 2, 3} // the most of a block
	}
	h.Plan.Settings = judge.Settings(0, values, o.same)
	lasts := max(o.spec.Load.Duration, h.Least())
	minutes := func(d time.Duration) string { return fmt.Sprintf("%gm", math.Ceil(d.Minutes())) }
	url := "URL"
	if len(o.spec.URLs) > 0 {
		url = o.spec.URLs[0]
	} else if port, ok := strings.CutPrefix(o.operands[0], ":"); ok {
		url = "http://127.0.0.1:" + port + "/"
	}
	load := spec.Spec{Command: "load", Operands: []string{url}}.With(spec.Set("rate", strconv.FormatFloat(o.spec.Load.Rate, 'g', -1, 64)), spec.Set("for", minutes(lasts+time.Minute)))
	asked, _ := o.Spec(o.name, o.operands, nil)
	try := asked.Only(func(name string) bool { return slices.Contains(tried, name) }).With(spec.Set("for", minutes(lasts)))
	return usageError("--rate and --procs: values are tried under the traffic that the program has, and procfit live sends none meanwhile. Start the load, and then try the values:\n  %s &\n  %s", load.Shell(), try.Shell())
}

var tried = []string{"procs", "aa", "for", "seed", "out", "output", "json", "quiet", "dry-run", "slice", "burn-in", "baseline", "budget", "margin", "slo", "metrics", "prometheus", "query", "yes"}

func (o *liveOptions) tries() bool { return o.Has("procs") || o.same }

func (o *liveOptions) atRate(ctx context.Context, std stdio, pid int) error {
	if !o.HasPart("trial-time", "") {
		o.spec.Load.Duration = plan.Default().Load.Duration
	}
	s, err := o.resolveLoad(std, pid)
	if err != nil {
		return err
	}
	announce(std, s)
	return o.onThisMachine(ctx, std, s)
}

func (o *liveOptions) watch(ctx context.Context, std stdio, c valueChange, program *live.Program) error {
	d := 10 * time.Second
	if o.Has("for") {
		d = o.spec.Load.Duration
	}
	if o.dryRun {
		_, err := fmt.Fprintf(std.out, "process %d (%s) under its own traffic, for %s: nothing is sent, and nothing is changed\n", c.subject.PID, phrase.Clean(c.subject.Name), number.Chosen(d))
		return err
	}
	unseen(std, program)
	from, err := program.Read(ctx)
	if err != nil {
		return err
	}
	w, err := traffic.Watch(ctx, c.subject.PID, d, func(procs int) {
		std.notef("process %d runs with GOMAXPROCS %d; its own traffic is watched for %s, nothing of it is changed", c.subject.PID, procs, number.Chosen(d))
	})
	if err != nil {
		return err
	}
	to, err := program.Read(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	w.Seen = live.Seen(from, to)
	if port, ok := strings.CutPrefix(o.operands[0], ":"); ok {
		w.Port, _ = strconv.Atoi(port)
	} else {
		w.Port = int(sockets.AddressOf(c.subject.PID).Port())
	}
	if o.printed.json() {
		err = w.WriteJSON(std.out)
	} else {
		err = w.WriteText(std.out, std.page(nil))
	}
	return cmp.Or(err, asInterrupted(ctx.Err()))
}

func (o *liveOptions) resolveLoad(std stdio, pid int) (*session.Session, error) {
	spec, err := o.toSpec(std)
	if err != nil {
		return nil, err
	}
	if spec.Target.URL, err = readURLs(o.spec, &spec, o.spec.URLs, std); err != nil {
		return nil, err
	}
	if spec.Target.Attach, err = local.Attach(pid); err != nil {
		return nil, refusal(err)
	}
	if port, ok := strings.CutPrefix(o.operands[0], ":"); ok && spec.Target.URL == "" {
		spec.Target.URL = "http://127.0.0.1:" + port + "/"
	}
	if m := changing(spec.Load); m != nil && !o.unsafe {
		return nil, usageError("%s may change what the server holds; --allow-unsafe-methods sends it", phrase.And(m))
	}
	if o.spec.Load.Rate == 0 {
		return nil, usageError("--rate: expected the requests per second to send: a server in use gets the rate that you choose, not the most that it can carry")
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
