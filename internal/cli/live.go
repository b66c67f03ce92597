package cli

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan/field"
)

func newLiveCommand(std stdio) *cobra.Command {
	o := newLiveOptions()
	return o.bind(std, &cobra.Command{
		Use:   "live [flags] PID|NAME|:PORT",
		Short: "Watch a running program, or try values in it under its own traffic",
		Long: `Watch a running Go program under its own traffic, for 10 seconds or --for, and report its
CPU time, the requests that wait unread in its sockets, and how long its goroutines wait.
Nothing is sent or changed. With --rate, procfit sends that many requests per second to
it and measures their latency; by its port they go to http://127.0.0.1:PORT/.

With --procs, try GOMAXPROCS values in the program, for short slices of time in random
order, and report which value is proven better under its traffic. The program needs no
code for this and no restart: procfit has it call runtime.GOMAXPROCS, as procfit set
does, with the same needs (procfit help set). With --metrics, procfit also compares the
latency that the program counts itself, and the CPU time per request.

The program gets its own value back at the end, at Ctrl-C, and if procfit is killed. A
value is left at once if requests, waiting goroutines or throttling pile up beyond what
the program had before. Whatever sized itself when the program started keeps that size:
confirm a better value after a restart.

Exit codes: 0 any answer, also none yet; 1 harm ended the experiment; 2 usage; 3 failure,
also where the program cannot be changed; 130 interrupted.`,
		Example: `  procfit live 4242
  procfit live :8080 --rate 300 --url http://127.0.0.1:8080/orders --connections 16
  procfit live 4242 --procs 1,2
  procfit live :8080 --procs 1..4 --for 1h --yes
  procfit live 4242 --procs 1,2 --metrics :2112/metrics
  procfit live '^api$' --procs 2,4 --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}, o.Fields)
}

func newTrying(name string) *liveOptions {
	o := &liveOptions{measurement: newMeasurement(name), slice: 5 * time.Second, burnIn: 2 * time.Second, baseline: usualBaseline, budget: liveBudget{share: 0.001}}
	o.spec.Load.Duration, o.spec.Parts["for"] = 30*time.Minute, []string{""}
	return o
}

func (o *liveOptions) trying() []field.Field {
	fields := field.Take(o.spec.Fields(),
		field.Field{Name: "procs", Help: "GOMAXPROCS values to try: auto, 1..4, or 1,2 (default none)"},
		field.Field{Name: "margin", Help: "more CPU time, more p99 that still counts as equal (default 5%,p99=20%)"},
		field.Field{Name: "slo", Help: "latency above which requests are slow: p99=100ms (default by the baseline)", More: "Without it, a request is slow if it takes twice as long as the p99 of the baseline."},
		field.Field{Name: "seed", Help: "seed of the random order of values (default from the clock)"})
	own := field.In(field.Compare,
		field.Field{Name: "slice", Holds: "TIME", Help: "how long a value is counted at a time, up to 20% shorter or longer at random", Value: field.Time(&o.slice, 1, "5s")},
		field.Field{Name: "burn-in", Holds: "TIME", Help: "time after each change that is not counted", Value: field.Time(&o.burnIn, 1, "2s")},
		field.Field{Name: "baseline", Holds: "TIME", Help: "time before the first change, for what is usual", Value: field.Time(&o.baseline, 1, "1m")},
		field.Field{
			Name: "budget", Holds: "COST", Often: true, Help: "slow or failed requests that it may cost: 500, or a share as 0.1%",
			More: "A share is of the requests that an objective of 99.9% allows to fail in 30 days, at the rate of the baseline. Only those beyond what the value at start has count.", Value: field.Parsed(&o.budget, "0.1%", parseBudget),
		},
		field.Field{Name: "aa", Help: "compare the value at start with itself, to check the experiment", Value: field.Switch(&o.same), Not: "procs"},
	)
	metrics := field.In(field.Compare, field.Field{
		Name: "metrics", Holds: ":PORT/PATH", Often: true, Help: "the program's own metrics, for its requests: :2112/metrics, or a URL",
		More: "procfit finds the counter of requests and the histogram of their latency by their shape, and prints their names. #NAME behind the address names one.", Value: field.Text(&o.metrics),
	})
	return slices.Concat(fields, []field.Field{o.spec.RunField("how long the experiment takes at most, with its baseline")}, own, metrics)
}
