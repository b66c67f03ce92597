package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/halt"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/load/requests"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/terminal"
)

// cpusOfLoad is --cpus of a command whose target has CPUs already.
var cpusOfLoad = field.Field{Name: "cpus", Help: "CPUs of the load: load=0-1,3, or load=node0, cores, performance, efficiency"}

// fields are those of a sweep's load, and what a run of the load has of its own.
func (o *loadOptions) fields() []field.Field {
	l := &o.spec.Load
	l.Duration, l.Warmup, o.rates = 10*time.Second, 0, []float64{0}
	o.spec.Parts["timeout"], o.spec.Parts["cpus"] = []string{"request"}, []string{"load"}
	shared := field.Take(o.spec.Fields(), append(field.Named("connections", "pace", "header", "body", "requests", "seed", "streams", "grpc", "proto", "tls"),
		field.Field{Name: "timeout", Help: "how long a request may take (default request=10s)"},
		cpusOfLoad,
		field.Field{Name: "max-errors", Help: "exit with 1 if a greater share fails or is never sent (default no limit)"})...)
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
visible; several rates, one after the other, make a curve.

A method may come before the URL: 'POST http://127.0.0.1:8080/orders'; without one it is
GET, or POST with --body. The connections are shared out to several URLs in turn. A number
and = in front is a weight, and URLs with weights are a mix of requests to one server.

Exit codes: 0 fine; 1 more failed, or were never sent, than --max-errors allows; 2 usage;
3 no load could be offered, or, without --max-errors, every request failed;
130 interrupted.`,
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
		if r.Good == 0 {
			bad := phrase.Count(trial.Failed(&p, r.Dropped)+r.Unanswered, "request")
			return fmt.Errorf("all %s failed: %s; is the URL correct? With --max-errors 100%% the exit code is 0", bad, errorKinds(r))
		}
		return nil
	}
	most := o.spec.Load.MaxErrors
	failing := cmp.Or(trial.TooMany(&p, r.Dropped, most), trial.Hanging(&p, most, o.spec.Load.Places()))
	// Each request has a latency, whatever became of it.
	if unsent := float64(r.Dropped) / float64(max(1, r.Latency.TotalCount())); failing == "" && unsent > most {
		failing = fmt.Sprintf("%.3g%% of the requests were never sent", 100*unsent)
	}
	if failing != "" {
		return &exitError{exitGate, fmt.Errorf("%s, more than --max-errors %g%%", failing, 100*most)}
	}
	return nil
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

type loadOptions struct {
	fieldFlags
	spec    *plan.Flags
	options load.Options
	rates   []float64 // 0: a closed loop
	threads int
	out     printing
}

// parseRates reads one rate or several; 0 stands for a closed loop.
func parseRates(text string) ([]float64, error) {
	if text == "" {
		return []float64{0}, nil
	}
	var rates []float64
	for item := range strings.SplitSeq(text, ",") {
		rate, err := plan.PerSecond(strings.TrimSpace(item), "")
		if err != nil {
			return nil, err
		}
		if !slices.Contains(rates, rate) {
			rates = append(rates, rate)
		}
	}
	return rates, nil
}

func (o *loadOptions) point(std stdio, r *load.Result) error {
	p, err := trial.Offered(r)
	if err != nil {
		return err
	}
	noteLate(std, r, &p)
	if o.out.json() {
		return json.NewEncoder(std.out).Encode(p)
	}
	cells := []string{fmt.Sprintf("%g", r.Rate), carried(r), "-", "-", "-", "-", "-", fmt.Sprint(r.FailedRequests() + r.Unanswered), inSeconds(p.Load.SendLagP99Seconds)}
	if l := p.LatencySeconds; l != nil {
		for i, v := range []*float64{l.P50, l.P90, l.P99, l.P999, l.Max} {
			cells[2+i] = inSeconds(v)
		}
	}
	printLine(std.out, cells)
	return nil
}

// noteLate warns of a latency that is the load generator's own, as a sweep compares none.
func noteLate(std stdio, r *load.Result, p *foreign.Offered) {
	if trial.Late(p) {
		std.notef("at %g req/s the load generator itself sent late (p99 %s), so its p99 of %s is not the server's; use a quieter machine, a lower --rate or --cpus load=LIST", r.Rate, inSeconds(p.Load.SendLagP99Seconds), inSeconds(p.LatencySeconds.P99))
	}
}

// carried is the share of the offered rate that was answered well; from what a sweep
// calls carried on, all of it.
func carried(r *load.Result) string {
	share := r.AchievedPerSecond / r.Rate
	if share >= trial.Carried {
		return "all"
	}
	return fmt.Sprintf("%.3g%%", 100*share)
}

func printLine(out io.Writer, cells []string) {
	var line strings.Builder
	for _, c := range cells {
		line.WriteString(" " + terminal.Pad(c, 10, false))
	}
	fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
}

func (o *loadOptions) print(std stdio, r *load.Result) error {
	p, err := trial.Offered(r)
	if err != nil {
		return err
	}
	noteLate(std, r, &p)
	if o.out.json() {
		return printJSON(std, p)
	}
	how := "closed loop"
	if r.Rate > 0 {
		how = fmt.Sprintf("open loop at %s req/s", number.Count(r.Rate))
		if r.Pace == load.PacePoisson {
			how += ", at random (poisson)"
		}
	}
	over := phrase.Count(r.Connections, "connection")
	if r.Streams > 1 {
		over += fmt.Sprintf(" of %d streams", r.Streams)
	}
	fmt.Fprintf(std.out, "%s, %s, %s, %s\n", how, over, r.Protocol, number.Short(number.Duration(r.Duration)))
	fmt.Fprintf(std.out, "  throughput  %s req/s (%d answered, %d failed", number.Count(r.AchievedPerSecond), r.Requests, r.FailedRequests())
	if r.Unanswered > 0 {
		fmt.Fprintf(std.out, ", %d unanswered at the end", r.Unanswered)
	}
	if r.Rate > 0 {
		fmt.Fprintf(std.out, ", %d never sent", r.Dropped)
	}
	fmt.Fprintln(std.out, ")")
	if r.FailedConnections > 0 {
		fmt.Fprintf(std.out, "  connections %s in addition: what became of the requests that waited for them is counted above\n", phrase.CountOf(r.FailedConnections, "attempt failed", "attempts failed"))
	}
	if l := p.LatencySeconds; l != nil {
		fmt.Fprintf(std.out, "  latency     p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n", inSeconds(l.P50), inSeconds(l.P90), inSeconds(l.P99), inSeconds(l.P999), inSeconds(l.Max))
	}
	if p.Load.SendLagP99Seconds != nil {
		fmt.Fprintf(std.out, "  send lag    p99 %s (how late the load generator itself was)\n", inSeconds(p.Load.SendLagP99Seconds))
	}
	busiest := "its busiest thread used %.0f%% of a CPU"
	if r.Engine == load.EnginePortable {
		busiest = "it used %.0f%% of the CPUs that it may"
	}
	fmt.Fprintf(std.out, "  engine      %s, %s of CPU per request; "+busiest+"\n",
		r.Engine, number.Seconds(p.Load.CPUSeconds/float64(max(1, r.Requests))), 100*r.Busiest)
	o.printParts(std, r, &p)
	if r.Redirects > 0 {
		std.notef("%d of %s were redirects, which are not followed: is the URL the one that does the work?", r.Redirects, phrase.Count(r.Requests, "answer"))
	}
	if r.Rate == 0 {
		std.notef("without --rate the latency only follows from the throughput; add --rate to measure a latency to judge by")
	}
	return nil
}

func (o *loadOptions) printParts(std stdio, r *load.Result, p *foreign.Offered) {
	for _, one := range p.ByRequest {
		fmt.Fprintf(std.out, "  %s: %d answered, %d failed", one.Name, one.Requests, one.Errors)
		if l := one.LatencySeconds; l != nil {
			fmt.Fprintf(std.out, ", p50 %s  p99 %s", inSeconds(l.P50), inSeconds(l.P99))
		}
		fmt.Fprintln(std.out)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.ErrorKinds)) {
		fmt.Fprintf(std.out, "  errors      %d × %s\n", r.ErrorKinds[kind], kind.Words())
	}
	if len(r.PerURL) > 1 {
		for i, u := range r.PerURL {
			fmt.Fprintf(std.out, "  %s: %d answered, %d failed, %d unanswered at the end\n", secret.Text(o.options.URLs[i]), u.Answered, u.Failed, u.Unanswered)
		}
	}
}

// inSeconds is a time that may not be known.
func inSeconds(s *float64) string { return number.Maybe(s, number.Seconds) }

// offer runs the engine once. The numbers include a time in which procfit itself was stopped.
func (o *loadOptions) offer(ctx context.Context, std stdio) (*load.Result, error) {
	watch := halt.Start()
	defer func() {
		if stopped := watch.End(); stopped > 0 {
			std.notef("procfit itself was stopped for %s, by a signal or because the machine was suspended: the numbers include that", number.Short(number.Duration(stopped)))
		}
	}()
	live := newLive(std, o.options.Duration)
	defer live.screen.clear()
	options := o.options
	options.Each = live.second
	return engine.Run(ctx, options)
}

// loadLive prints on stderr how a run of the load goes: one line that is redrawn every
// second on a terminal, elsewhere a line every few seconds.
type loadLive struct {
	out      io.Writer
	screen   liveScreen
	duration time.Duration
	failed   int64                   // so far
	seconds  int                     // that were counted
	latency  *hdrhistogram.Histogram // of those that are not yet in a line
	pending  int                     // how many these are
}

func newLive(std stdio, duration time.Duration) *loadLive {
	return &loadLive{out: std.err, screen: newScreen(std.err), duration: duration}
}

func (l *loadLive) second(i load.Interval) {
	l.seconds++
	if l.pending == 0 {
		l.latency = i.Latency
	} else {
		l.latency.Merge(i.Latency)
	}
	l.pending++
	l.failed = i.Failed
	if at := time.Duration(l.seconds) * time.Second; at > l.duration || !l.screen.there() && l.pending < 5 { // seconds
		return
	}
	line := l.line()
	l.pending = 0
	if l.screen.there() {
		l.screen.line(line)
		return
	}
	fmt.Fprintln(l.out, "procfit: "+line)
}

func (l *loadLive) line() string {
	at := func(q float64) string { return number.Duration(time.Duration(l.latency.ValueAtQuantile(q))) }
	line := fmt.Sprintf("%s of %s: %s req/s", number.Short(number.Seconds(float64(l.seconds))), number.Chosen(l.duration), number.Count(float64(l.latency.TotalCount())/float64(l.pending)))
	if l.latency.TotalCount() > 0 {
		line += fmt.Sprintf(", p50 %s, p99 %s, max %s", at(50), at(99), at(100))
	}
	if l.failed > 0 {
		line += fmt.Sprintf("; %d failed so far", l.failed)
	}
	return line
}
