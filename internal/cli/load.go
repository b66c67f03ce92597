package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/load/requests"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// fields are those of a sweep's load, and what a run of the load has of its own.
func (o *loadOptions) fields() []field.Field {
	l := &o.spec.Load
	l.Duration, l.Warmup, o.rates = 10*time.Second, 0, []float64{0}
	o.spec.Parts["timeout"], o.spec.Parts["cpus"] = []string{"request"}, []string{"load"}
	shared := field.Take(o.spec.Fields(), append(field.Named("connections", "pace", "header", "body", "requests", "seed", "streams", "grpc", "proto", "tls"),
		field.Field{Name: "timeout", Help: "how long a request may take (default request=10s)"},
		field.Field{Name: "cpus", Help: "CPUs of the load: load=0-1,3, or load=node0, cores, performance, efficiency"},
		field.Field{Name: "max-errors", Help: "exit with 1 if a greater share of the requests fails (default no limit)"})...)
	own := field.In(field.Load, []field.Field{
		{Name: "rate", Holds: "LIST", Often: true, Help: "req/s of an open loop; 1000,2000 offers both in turn (default a closed loop)", Value: field.Parsed(&o.rates, "", parseRates)},
		{Name: "threads", Holds: "N", Help: "threads of the load on Linux (default by the CPUs and the rate)", Value: field.Number(&o.threads, 0, math.MaxInt)},
	}...)
	return slices.Concat(own, []field.Field{o.spec.RunField("measured time: 10s, or 10s,warmup=1s")}, shared, o.out.fields("print a phase object for each rate, as the journal has it"))
}

func newLoad(std stdio) *cobra.Command {
	o := &loadOptions{spec: plan.NewFlags(), out: printed("text", "json")}
	o.spec.Load.MaxErrors = 0
	return o.bind(std, &cobra.Command{
		Use:   "load [flags] URL…",
		Short: "Send load to a server, and print its throughput and latency",
		Long: `Send requests over connections that are kept open, and print throughput and latency:
HTTP/1.1 at http://, HTTP/1.1 or HTTP/2 over TLS at https://, as the server chooses,
HTTP/2 without TLS at h2c://, and gRPC calls with --grpc.

Without --rate the loop is closed: each connection sends the next request when an answer
has come, which finds the capacity. With --rate it is open: requests are sent at a fixed
pace, and latency counts from the intended send, so that a stall of the server is fully
visible; several rates, one after the other, make a curve. The connections are shared out
to several URLs in turn; URLs with weights are a mix of requests to one server.

Exit codes: 0 fine; 1 more failed than --max-errors allows; 2 usage; 3 no load could be
offered, or, without --max-errors, every request failed; 130 interrupted.`,
		Example: `  procfit load http://127.0.0.1:8080/
  procfit load --rate 1000 --connections 16 --for 10s http://127.0.0.1:8080/
  procfit load --rate 1000,2000,4000 --for 5s http://127.0.0.1:8080/
  procfit load --rate 500 --pace poisson 3=http://127.0.0.1:8080/a 1=http://127.0.0.1:8080/b
  procfit load --connections 4 --streams 16 --tls ca=ca.pem https://127.0.0.1:8443/
  procfit load --grpc grpc.health.v1.Health/Check --body '{"service": ""}' h2c://127.0.0.1:9090`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("load needs a URL; see procfit load --help")
			}
			o.spec.URLs = args
			return o.run(cmd.Context(), o.out.std(std))
		},
	}, o.fields())
}

func (o *loadOptions) run(ctx context.Context, std stdio) error {
	if err := o.resolve(std); err != nil {
		return err
	}
	if others := local.Others(ctx); local.Matter(others) {
		std.notef("other programs use %s, so that the server and the load have less CPU time: on a quieter machine the throughput is higher", others)
	}
	if o.spec.Load.Warmup > 0 {
		if _, err := engine.Run(ctx, o.warmup()); err != nil {
			return err
		}
	}
	show, several := o.print, len(o.rates) > 1
	if several {
		show = o.point
	}
	if several && !o.out.json() {
		fmt.Fprintf(std.out, "open loop, %s, %s each\n", phrase.Count(o.options.Connections, "connection"), number.Chosen(o.options.Duration))
		printLine(std.out, []string{"req/s", "carried", "p50", "p90", "p99", "p99.9", "max", "failed", "sent late"})
	}
	var worst error
	for _, rate := range o.rates { // also past those that the server does not carry: how its latency grows there is what a curve is for
		o.options.Rate = rate
		r, err := o.offer(ctx, std)
		if r == nil || err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		if err := cmp.Or(show(std, r), asInterrupted(err)); err != nil {
			return err
		}
		failed := o.judge(r)
		if worst != nil || failed == nil {
			continue
		}
		if worst = failed; several {
			worst = fmt.Errorf("at %g req/s: %w", rate, failed)
			if coded, ok := errors.AsType[*exitError](failed); ok {
				worst = &exitError{coded.code, worst}
			}
		}
	}
	return worst
}

// warmup is as much load as what is measured begins with, since the server may be in use.
func (o *loadOptions) warmup() load.Options {
	warm := o.options
	warm.Duration, warm.Rate = o.spec.Load.Warmup, o.rates[0]
	return warm
}

func (o *loadOptions) judge(r *load.Result) error {
	if r.Requests == 0 {
		first := ""
		if r.FirstError.Kind != "" {
			first = ": " + r.FirstError.String()
		}
		return fmt.Errorf("no request was answered (%d failed, %d still waiting at the end)%s", r.Errors, r.Unanswered, first)
	}
	p, err := trial.Phase(r)
	if err != nil {
		return err
	}
	if !o.Has("max-errors") {
		if failed := trial.Failed(&p, r.Dropped); failed >= r.Requests {
			return fmt.Errorf("%s: %s; is the URL correct? With --max-errors 100%% the exit code is 0", onlyFailures(r, failed), errorKinds(r))
		}
		return nil
	}
	most := o.spec.Load.MaxErrors
	failing := cmp.Or(trial.TooMany(&p, r.Dropped, most), trial.Hanging(&p, most, o.spec.Load.Places()))
	if failing != "" {
		return &exitError{exitGate, fmt.Errorf("%s, more than --max-errors %g%%", failing, 100*most)}
	}
	return nil
}

// onlyFailures is what a run came to that has as many failed requests as answers, or more. Not
// each request has failed then: a connection can fail after a good answer.
func onlyFailures(r *load.Result, failed int64) string {
	bad := failed + r.Unanswered
	if r.AchievedPerSecond > 0 {
		return fmt.Sprintf("%s for %s", phrase.Count(bad, "failure"), phrase.Count(r.Requests, "answered request"))
	}
	return fmt.Sprintf("all %s failed", phrase.Count(bad, "request"))
}

func errorKinds(r *load.Result) string {
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(r.ErrorKinds)) {
		list = append(list, fmt.Sprintf("%d × %s", r.ErrorKinds[kind], kind.Words()))
	}
	if r.Unanswered > 0 {
		list = append(list, fmt.Sprintf("%d not answered before the end", r.Unanswered))
	}
	return phrase.And(list)
}

func (o *loadOptions) resolve(std stdio) error {
	if err := o.check(); err != nil {
		return err
	}
	spec, err := toSpec(o.spec, std)
	if err != nil {
		return err
	}
	l := spec.Load
	o.options = spec.LoadOptions(o.spec.URLs, 0, l.Duration)
	o.options.Pace, o.options.Threads = l.Pace, o.threads
	if err := o.setRequests(std); err != nil {
		return err
	}
	for _, rate := range o.rates {
		check := o.options
		check.Rate = rate
		if err := check.Check(); err != nil {
			return loadUsage(err)
		}
	}
	if l.Warmup > 0 {
		if err := o.warmup().Check(); err != nil {
			return usageError("--for warmup=%s: %w", number.Typed(l.Warmup), err)
		}
	}
	return nil
}

// setRequests makes a mix of weighted URLs or of a file; other URLs are replicas.
func (o *loadOptions) setRequests(std stdio) (err error) {
	o.options.URLs = slices.Clone(o.options.URLs)
	urls := o.options.URLs
	if len(urls) == 1 {
		o.options.Method, urls[0] = requests.Method(urls[0])
	}
	switch {
	case slices.ContainsFunc(urls, requests.Weighted):
		base, mix, err := readMix("URL", urls, o.spec.Requests, std)
		if err != nil {
			return err
		}
		o.options.URLs, o.options.Requests = []string{base}, mix
	case o.spec.Requests != "":
		if o.options.Requests, err = readRequests(o.spec.Requests, std); err != nil {
			return err
		}
	}
	return nil
}

func loadUsage(err error) error {
	bad, ok := errors.AsType[*load.FieldError](err)
	if !ok {
		return usageError("%w", err)
	}
	name := "--" + string(bad.Field)
	if bad.Field == load.FieldURL || bad.Field == load.FieldMethod {
		name = "URL"
	}
	hint := ""
	if bad.Beyond {
		hint = "; procfit sweep takes another generator by --load, such as 'wrk -c{connections} -d{duration} --latency {url}'"
	}
	reason := bad.Reason
	if bad.Err != nil {
		reason = strings.ReplaceAll(reason, bad.Err.Error(), phrase.Plain(bad.Err))
	}
	return usageError("%s %q: %s%s", name, bad.Value, reason, hint)
}
