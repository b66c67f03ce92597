package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/halt"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/terminal"
)

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
	options.Each, options.Progress = live.second, func(p load.Progress) { live.errors = p.Errors }
	return engine.Run(ctx, options)
}
