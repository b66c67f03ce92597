package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/trial"
)

// loadOptions are the flags of procfit load.
type loadOptions struct {
	options        load.Options
	protocol       protocol
	rate           string
	warmup         time.Duration
	body, bodyFile string
	cpus           string
	json           bool
}

func newLoad(std stdio) *cobra.Command {
	var o loadOptions
	cmd := &cobra.Command{
		Use:   "load [flags] URL…",
		Short: "The load engine alone: HTTP and gRPC in a closed or an open loop",
		Long: `Offer load over connections that are kept open and print what came back: plain
HTTP/1.1 at http://, HTTP/1.1 or HTTP/2 over TLS at https://, as the server
chooses, HTTP/2 without TLS at h2c://, and calls of gRPC with --grpc.

Without --rate the loop is closed: each connection sends when its answer has come,
which finds the capacity. With --rate it is open: requests are sent at a fixed pace
and latency counts from the intended send, so that a stall of the server shows in
full. Connections are dealt to several URLs in turn.`,
		Example: `  procfit load http://127.0.0.1:8080/
  procfit load --rate 1000 --connections 16 --duration 10s http://127.0.0.1:8080/
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
	f.StringVar(&o.rate, "rate", "", "requests a second of an open loop (default a closed loop)")
	f.DurationVar(&o.options.Duration, "duration", 10*time.Second, "measured time")
	f.DurationVar(&o.warmup, "warmup", 0, "load before the measured time")
	f.DurationVar(&o.options.Timeout, "request-timeout", load.DefaultTimeout, "a request that takes longer is an error")
	f.StringVar(&o.options.Method, "method", "", "HTTP method (default GET, or POST with a body)")
	f.StringArrayVar(&o.options.Headers, "header", nil, "`'Name: value'` to send; may be repeated")
	f.StringVar(&o.body, "body", "", "`text` to send as the body")
	f.StringVar(&o.bodyFile, "body-file", "", "`file` to send as the body; - is standard input")
	o.protocol.flags(f)
	f.IntVar(&o.options.Threads, "threads", 0, "threads of the raw engine (default chosen by the CPUs and the rate)")
	f.StringVar(&o.cpus, "load-cpuset", "", "`CPUs` that the engine runs on: 0-1,3")
	f.BoolVar(&o.json, "json", false, "print one phase object, as the journal of a sweep has it")
	return cmd
}

func (o *loadOptions) run(ctx context.Context, std stdio) error {
	if o.rate != "" {
		rate, err := parseRate(o.rate)
		if err != nil {
			return err
		}
		if rate == 0 {
			return usageError("--rate auto is for sweeps, which find the capacity first: give a number")
		}
		o.options.Rate = rate
	}
	var err error
	if o.options.Body, err = body(o.body, o.bodyFile, std); err != nil {
		return err
	}
	if o.options.CPUs, err = parseCPUs("load-cpuset", o.cpus); err != nil {
		return err
	}
	p := &o.protocol
	o.options.Streams, o.options.TLS, o.options.Engine = p.streams, p.tls, p.engine
	if o.options.GRPC, err = p.call(std); err != nil {
		return err
	}
	if err := o.options.Check(); err != nil {
		return loadUsage(err)
	}
	if o.warmup > 0 {
		warm := o.options
		warm.Duration, warm.Rate = o.warmup, 0
		if _, err := load.Run(ctx, warm); err != nil {
			return err
		}
	}
	result, err := load.Run(ctx, o.options)
	if result == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if perr := o.print(std, result); perr != nil {
		return perr
	}
	if err != nil {
		return interrupted(err)
	}
	if result.Requests == 0 {
		first := ""
		if result.FirstError.Kind != "" {
			first = ": " + result.FirstError.String()
		}
		return fmt.Errorf("no request was answered (%d failed, %d still waiting at the end)%s", result.Errors, result.Unanswered, first)
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

// loadJSON is the phase of a journal with the engine's own cost beside it.
type loadJSON struct {
	journal.Phase
	Load journal.LoadCost `json:"load"`
}

func (o *loadOptions) print(std stdio, r *load.Result) error {
	p, err := trial.Phase(r)
	if err != nil {
		return err
	}
	cost := trial.Cost(r)
	if o.json {
		e := json.NewEncoder(std.out)
		e.SetIndent("", "  ")
		return e.Encode(loadJSON{p, cost})
	}
	how := "closed loop"
	if r.Rate > 0 {
		how = fmt.Sprintf("open loop at %g requests/s", r.Rate)
	}
	fmt.Fprintf(std.out, "%s, %s, %s, %s\n", how, connections(r), r.Protocol, r.Duration.Round(time.Millisecond))
	fmt.Fprintf(std.out, "  throughput  %.6g requests/s (%d answered, %d failed", r.AchievedPerSecond, r.Requests, r.Errors)
	if r.Unanswered > 0 {
		fmt.Fprintf(std.out, ", %d unanswered at the end", r.Unanswered)
	}
	if r.Rate > 0 {
		fmt.Fprintf(std.out, ", %d never sent", r.Dropped)
	}
	fmt.Fprintln(std.out, ")")
	if l := p.LatencySeconds; l != nil {
		fmt.Fprintf(std.out, "  latency     p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n", seconds(l.P50), seconds(l.P90), seconds(l.P99), seconds(l.P999), seconds(l.Max))
	}
	if cost.SendLagP99Seconds != nil {
		fmt.Fprintf(std.out, "  send lag    p99 %s (how late the engine itself was)\n", seconds(cost.SendLagP99Seconds))
	}
	busiest := "its busiest thread used %.0f %% of a CPU"
	if r.Engine == load.EnginePortable {
		busiest = "it used %.0f %% of the CPUs that it may"
	}
	fmt.Fprintf(std.out, "  engine      %s, %.3g µs of CPU a request; "+busiest+"\n",
		r.Engine, 1e6*cost.CPUSeconds/float64(max(1, r.Requests)), 100*r.Busiest)
	for _, kind := range slices.Sorted(maps.Keys(r.ErrorKinds)) {
		fmt.Fprintf(std.out, "  errors      %d × %s\n", r.ErrorKinds[kind], kind.Words())
	}
	if len(r.PerURL) > 1 {
		for i, u := range r.PerURL {
			fmt.Fprintf(std.out, "  %s: %d answered, %d failed, %d unanswered at the end\n", o.options.URLs[i], u.Answered, u.Failed, u.Unanswered)
		}
	}
	if r.Redirects > 0 {
		std.notef("%d of %s were redirects, which are not followed: is the URL the one that does the work?", r.Redirects, phrase.Count(r.Requests, "answer"))
	}
	if r.Rate == 0 {
		std.notef("a closed loop's latency restates its throughput; for a latency to judge by, give --rate")
	}
	return nil
}

// connections are those of a run, with their streams.
func connections(r *load.Result) string {
	s := phrase.Count(r.Connections, "connection")
	if r.Streams > 1 {
		s += fmt.Sprintf(" of %d streams", r.Streams)
	}
	return s
}

func seconds(s *float64) string {
	if s == nil {
		return "unknown"
	}
	d := time.Duration(*s * float64(time.Second))
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Nanosecond).String()
}
