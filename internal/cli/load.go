package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/load/requests"
)

// loadOptions are the flags of procfit load.
type loadOptions struct {
	options        load.Options
	protocol       protocol
	rate           string
	requests       string
	hdr            string
	errors         string
	maxErrors      *float64 // nil: any
	warmup         time.Duration
	body, bodyFile string
	cpus           string
	json           bool
}

func newLoad(std stdio) *cobra.Command {
	var o loadOptions
	cmd := &cobra.Command{
		Use:   "load [flags] URL…",
		Short: "The load generator alone: HTTP and gRPC in a closed or an open loop",
		Long: `Offer load over connections that are kept open and print what came back: plain
HTTP/1.1 at http://, HTTP/1.1 or HTTP/2 over TLS at https://, as the server
chooses, HTTP/2 without TLS at h2c://, and calls of gRPC with --grpc.

Without --rate the loop is closed: each connection sends when its answer has come,
which finds the capacity. With --rate it is open: requests are sent at a fixed pace
and latency counts from the intended send, so that a stall of the server shows in
full; several rates, one after the other, make a curve. Connections are dealt to
several URLs in turn; URLs with weights are a mix of requests to one server.

Exit codes: 0 fine; 1 more failed than --max-errors; 2 usage; 3 nothing was answered,
or no load could be offered.`,
		Example: `  procfit load http://127.0.0.1:8080/
  procfit load --rate 1000 --connections 16 --duration 10s http://127.0.0.1:8080/
  procfit load --rate 1000,2000,4000 --duration 5s http://127.0.0.1:8080/
  procfit load --rate 500 --pace poisson --hdr latency.hlog 3=http://127.0.0.1:8080/a 1=http://127.0.0.1:8080/b
  procfit load --connections 4 --streams 16 --cacert ca.pem https://127.0.0.1:8443/
  procfit load --grpc grpc.health.v1.Health/Check --data '{"service": ""}' h2c://127.0.0.1:9090`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("load needs a URL; see procfit load --help")
			}
			o.options.URLs = args
			return o.run(cmd.Context(), std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.options.Connections, "connections", 64, "connections to keep open")
	f.StringVar(&o.rate, "rate", "", "requests a second of an open loop (default a closed loop); several, `1000,2000,4000`, one after the other")
	f.StringVar(&o.options.Pace, "pace", "", "how they are spaced: `constant` (default) or poisson, at random as users come")
	f.DurationVar(&o.options.Duration, "duration", 10*time.Second, "measured time")
	f.DurationVar(&o.warmup, "warmup", 0, "load before the measured time")
	f.DurationVar(&o.options.Timeout, "request-timeout", load.DefaultTimeout, "a request that takes longer is an error")
	f.StringVar(&o.options.Method, "method", "", "HTTP method (default GET, or POST with a body)")
	f.StringArrayVar(&o.options.Headers, "header", nil, "`'Name: value'` to send; may be repeated")
	f.StringVar(&o.body, "body", "", "`text` to send as the body")
	f.StringVar(&o.bodyFile, "body-file", "", "`file` to send as the body; - is standard input")
	f.StringVar(&o.requests, "requests", "", "send the requests of this `file` instead, in random order: vegeta's plain or JSON format; - is standard input")
	f.Uint64Var(&o.options.Seed, "seed", 0, "seed of what is random: the order of requests, --pace poisson")
	o.protocol.flags(f)
	f.IntVar(&o.options.Threads, "threads", 0, "threads of the raw engine (default chosen by the CPUs and the rate)")
	f.StringVar(&o.cpus, "load-cpuset", "", "`CPUs` that the load generator runs on: 0-1,3")
	f.StringVar(&o.hdr, "hdr", "", "write the latency of each second to this `file`, as an HdrHistogram log")
	f.StringVar(&o.errors, "max-errors", "", "exit 1 when a greater `share` of the requests failed: 1%")
	f.BoolVar(&o.json, "json", false, "print a phase object, as the journal of a sweep has it, for each rate")
	return cmd
}

// run offers the load, once or at one rate after the other.
func (o *loadOptions) run(ctx context.Context, std stdio) error {
	rates, err := o.parse(std)
	if err != nil {
		return err
	}
	if o.warmup > 0 {
		warm := o.options
		warm.Duration, warm.Rate, warm.Pace = o.warmup, 0, ""
		if _, err := engine.Run(ctx, warm); err != nil {
			return err
		}
	}
	if len(rates) > 1 {
		return o.curve(ctx, std, rates)
	}
	o.options.Rate = rates[0]
	result, err := o.offer(ctx, std)
	if result == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if perr := o.print(std, result); perr != nil {
		return perr
	}
	if err != nil {
		return interrupted(err)
	}
	return o.judge(result)
}

// offer runs the engine once, with its progress on standard error and the log of its
// seconds.
func (o *loadOptions) offer(ctx context.Context, std stdio) (*load.Result, error) {
	live := newLive(std, o.options.Duration)
	options := o.options
	options.Each, options.Progress = live.second, live.progress
	if o.hdr != "" {
		f, err := os.Create(o.hdr)
		if err != nil {
			return nil, fmt.Errorf("--hdr: %w", err)
		}
		defer f.Close()
		log := &secondsLog{to: hdrhistogram.NewHistogramLogWriter(f)}
		options.Each = func(i load.Interval) { live.second(i); log.second(i) }
		result, err := engine.Run(ctx, options)
		live.finish()
		if err := errors.Join(log.err, f.Close()); err != nil {
			return result, fmt.Errorf("--hdr %s: %w", o.hdr, err)
		}
		return result, err
	}
	result, err := engine.Run(ctx, options)
	live.finish()
	return result, err
}

// judge is whether the load was answered as it was to be.
func (o *loadOptions) judge(r *load.Result) error {
	if r.Requests == 0 {
		first := ""
		if r.FirstError.Kind != "" {
			first = ": " + r.FirstError.String()
		}
		return fmt.Errorf("no request was answered (%d failed, %d still waiting at the end)%s", r.Errors, r.Unanswered, first)
	}
	if o.maxErrors == nil {
		return nil
	}
	bad := r.Errors + r.Unanswered
	if share := float64(bad) / float64(max(bad, r.Requests+r.Unanswered)); share > *o.maxErrors {
		return &exitError{exitGate, fmt.Errorf("%.3g %% of the requests failed, more than --max-errors %g %%", 100*share, 100**o.maxErrors)}
	}
	return nil
}

// parse reads the flags whose values are lists and texts, and returns the rates.
func (o *loadOptions) parse(std stdio) (rates []float64, err error) {
	if rates, err = parseRates(o.rate); err != nil {
		return nil, err
	}
	if o.hdr != "" && len(rates) > 1 {
		return nil, usageError("--hdr is the log of one run: give one --rate")
	}
	if o.options.Body, err = body(o.body, o.bodyFile, std); err != nil {
		return nil, err
	}
	if o.options.CPUs, err = parseCPUs("load-cpuset", o.cpus, std); err != nil {
		return nil, err
	}
	if o.errors != "" {
		share, err := parseRatio("max-errors", o.errors)
		if err != nil {
			return nil, err
		}
		o.maxErrors = &share
	}
	if err := o.setRequests(std); err != nil {
		return nil, err
	}
	p := &o.protocol
	o.options.Streams, o.options.TLS, o.options.Engine = p.streams, p.tls, p.engine
	if o.options.GRPC, err = p.call(std); err != nil {
		return nil, err
	}
	for _, rate := range rates {
		check := o.options
		check.Rate = rate
		if err := check.Check(); err != nil {
			return nil, loadUsage(err)
		}
	}
	return rates, nil
}

// setRequests makes a mix of weighted URLs or of a file; URLs without weights are
// replicas.
func (o *loadOptions) setRequests(std stdio) (err error) {
	urls := o.options.URLs
	switch {
	case slices.ContainsFunc(urls, requests.Weighted):
		base, mix, err := readMix(urls, o.requests, std)
		if err != nil {
			return err
		}
		o.options.URLs, o.options.Requests = []string{base}, mix
	case o.requests != "":
		if o.options.Requests, err = readRequests(o.requests, std); err != nil {
			return err
		}
	}
	return nil
}

// loadUsage says with which flag an option of the load was given.
func loadUsage(err error) error {
	var bad *load.FieldError
	if !errors.As(err, &bad) {
		return usageError("%w", err)
	}
	name := "--" + string(bad.Field)
	switch bad.Field {
	case load.FieldTimeout:
		name = "--request-timeout"
	case load.FieldCPUs:
		name = "--load-cpuset"
	case load.FieldURL:
		name = "URL"
	}
	hint := ""
	if bad.Beyond {
		hint = "; sweep takes another generator by --load, such as 'wrk -c{connections} -d{duration} --latency {url}'"
	}
	return usageError("%s %q: %s%s", name, bad.Value, bad.Reason, hint)
}
