package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// offered is a run as JSON has it.
func offered(r *load.Result, p journal.Phase) journal.Offered {
	return journal.Offered{Schema: journal.LoadSchema, Phase: p, Load: trial.Cost(r)}
}

// print tells of a run.
func (o *loadOptions) print(std stdio, r *load.Result) error {
	p, err := trial.Phase(r)
	if err != nil {
		return err
	}
	cost := trial.Cost(r)
	if o.out.json() {
		e := json.NewEncoder(std.out)
		e.SetIndent("", "  ")
		return e.Encode(offered(r, p))
	}
	how := "closed loop"
	if r.Rate > 0 {
		how = fmt.Sprintf("open loop at %s req/s", number.Count(r.Rate))
		if r.Pace == load.PacePoisson {
			how += ", at random (poisson)"
		}
	}
	fmt.Fprintf(std.out, "%s, %s, %s, %s\n", how, connections(r), r.Protocol, number.Short(number.Duration(r.Duration)))
	fmt.Fprintf(std.out, "  throughput  %s req/s (%d answered, %d failed", number.Count(r.AchievedPerSecond), r.Requests, r.Errors)
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
		fmt.Fprintf(std.out, "  send lag    p99 %s (how late the load generator itself was)\n", seconds(cost.SendLagP99Seconds))
	}
	busiest := "its busiest thread used %.0f%% of a CPU"
	if r.Engine == load.EnginePortable {
		busiest = "it used %.0f%% of the CPUs that it may"
	}
	fmt.Fprintf(std.out, "  engine      %s, %s of CPU per request; "+busiest+"\n",
		r.Engine, number.Seconds(cost.CPUSeconds/float64(max(1, r.Requests))), 100*r.Busiest)
	distribution(std.out, r.Latency)
	o.printParts(std, r, p)
	if r.Redirects > 0 {
		std.notef("%d of %s were redirects, which are not followed: is the URL the one that does the work?", r.Redirects, phrase.Count(r.Requests, "answer"))
	}
	if r.Rate == 0 {
		std.notef("without --rate the latency only follows from the throughput; add --rate to measure a latency to judge by")
	}
	return nil
}

// printParts tells of a run by request, by kind of error and by replica.
func (o *loadOptions) printParts(std stdio, r *load.Result, p journal.Phase) {
	for _, one := range p.ByRequest {
		fmt.Fprintf(std.out, "  %s: %d answered, %d failed", one.Name, one.Requests, one.Errors)
		if l := one.LatencySeconds; l != nil {
			fmt.Fprintf(std.out, ", p50 %s  p99 %s", seconds(l.P50), seconds(l.P99))
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

// connections are those of a run, with their streams.
func connections(r *load.Result) string {
	s := phrase.Count(r.Connections, "connection")
	if r.Streams > 1 {
		s += fmt.Sprintf(" of %d streams", r.Streams)
	}
	return s
}

// seconds is a time that may not be known.
func seconds(s *float64) string { return number.Maybe(s, number.Seconds) }
