package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/sockets"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/inspect/traffic"
	"github.com/procfit/procfit/internal/load/requests"
	"github.com/procfit/procfit/internal/measure/kube/prometheus"
	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
	blocks "github.com/procfit/procfit/internal/verdict/paired"
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
order, and report which value is better under its traffic. The program needs no code for
this and no restart: procfit has it call runtime.GOMAXPROCS, as procfit set does, with the
same needs (procfit help set). With --metrics, procfit also compares the latency that the
program counts itself, and the CPU time per request. Which value is better is proven only if
these metrics, or the Meter of maxprocs/live in the program, show which requests fail;
without them it is likely at most.

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
		More: "procfit finds the counter of requests and the histogram of their latency by their shape, and prints their names. #NAME behind the address names one.", Value: field.Parsed(&o.metrics, "", field.Some),
	})
	return slices.Concat(fields, []field.Field{o.spec.RunField("how long the experiment takes at most, with its baseline")}, own, metrics)
}

type liveOptions struct {
	measurement
	queries                 prometheus.Queries
	slice, burnIn, baseline time.Duration
	budget                  liveBudget
	same, yes, unsafe       bool
	metrics                 string // where the program's own metrics are; empty: they are not used
}

// liveBudget is what an experiment may cost: a number of requests, or a share of those that
// an objective of 99.9% allows to fail in 30 days.
type liveBudget struct{ requests, share float64 }

func newLiveOptions() *liveOptions {
	o := newTrying("live")
	header := field.Take(o.spec.Fields(), field.Field{Name: "header", Help: "a header to send, also to --metrics and --prometheus; may be repeated"})
	queries := field.In(field.Compare, o.queries.Fields("$slice is filled in, four fifths of --slice: at least two scrapes of the Prometheus must fit into it. A query that is proven above that of the value at start ends the experiment.", judge.ParseQuery)...)
	o.Fields = slices.Concat(o.trying(), header, queries, o.offered(), o.ofBlocks("live"), field.In(field.Output, toggle("yes", &o.yes, "do not ask")))
	return o
}

func parseBudget(text string) (liveBudget, error) {
	number, share := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(v > 0) || v > 1e12:
		return liveBudget{}, &field.Mistake{Text: text, Reason: "expected a number of requests, or a share", Example: "500 or 0.1%"}
	case share && v > 100:
		return liveBudget{}, &field.Mistake{Text: text, Reason: "expected at most 100%", Example: "0.1%"}
	case share:
		return liveBudget{share: v / 100}, nil
	}
	return liveBudget{requests: v}, nil
}

const (
	shortestSlice  = time.Second
	shortestBurnIn = 100 * time.Millisecond
	usualBaseline  = time.Minute
)

// resolve settles what is done with a program. Nothing is changed yet.
func (o *liveOptions) resolve(std stdio, c valueChange) (*liveRun, error) {
	run := &liveRun{share: o.budget.share, change: c}
	if err := o.liveHeader(std, &run.header); err != nil {
		return nil, err
	}
	known, err := o.spec.Filled(std.secrets.Variable)
	if err != nil {
		return nil, asUsage(err)
	}
	if err := o.tryQueries(std, known.Load.Headers); err != nil {
		return nil, err
	}
	if err := o.findMetrics(std, run, known.Load.Headers); err != nil {
		return nil, err
	}
	s, h := c.subject, &run.header
	l := h.Live
	l.PID, l.Unit, l.Start, l.Uncounted, l.SizedAtStart = s.PID, "request", c.before.Procs, l.Metrics == nil && !c.counted, c.sized
	switch slow, failed := judge.Harmed(l); {
	case o.Has("budget") && !slow && !failed:
		return nil, usageError("--budget needs to know which requests are slow or fail: name a page of metrics that show it, with --metrics")
	case o.Has("slo") && !slow:
		return nil, usageError("--slo needs the latency of the program's requests: name a page of metrics that has a histogram of it, with --metrics")
	}
	if limit, ok := s.Facts.Tightest(); ok {
		l.LimitCPUs = limit.CPUs
	} else {
		l.LimitUnknown = len(s.Facts.Unknown()) > 0
	}
	values, err := o.values(l.Start, l.LimitCPUs, c.most)
	if err != nil {
		return nil, err
	}
	h.Plan.Settings = judge.Settings(l.Start, values, o.same)
	h.Target.GoVersion, h.Target.MainModule = s.Facts.GoVersion, c.module
	h.TargetHost = session.ThisHost()
	h.TargetHost.LimitsUnknown = !observe.LimitsKnown(s.Facts)
	if n := s.Facts.AffinityCPUs(); n > 0 {
		h.TargetHost.AffinityCPUs, h.TargetHost.EffectiveCPUs = n, float64(n)
	}
	h.Name = cmp.Or(o.spec.Name, fmt.Sprintf("process %d", s.PID))
	if err := h.Check(); err != nil {
		return nil, usageError("%w", err)
	}
	run.dir, err = o.blocksDir(h.Name, "live", h.Started)
	return run, err
}

// tryQueries has every query tried: the program runs already, so that it must have a value.
func (o *liveOptions) tryQueries(std stdio, headers []string) error {
	of := judge.Asked(o.slice)
	return refusal(o.queries.Try(std.ctx, std.fill, headers, of, func(name string, v *float64) error {
		if v == nil {
			return usageError("--query %s has no value over the last %s: two scrapes must fit into it, for example with --slice 40s; a query of what may be missing, as errors are, needs 'or vector(0)'", name, number.Chosen(of))
		}
		return nil
	}))
}

func (o *liveOptions) findMetrics(std stdio, run *liveRun, lines []string) error {
	if o.metrics == "" {
		return nil
	}
	headers := http.Header{}
	for _, h := range lines {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return usageError("--header %q: expected a name, a colon and a value", secret.Text(h))
		}
		headers.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	address := o.metrics
	if err := std.fill(&address); err != nil {
		return err
	}
	m, err := live.MetricsAt(address, headers)
	if err != nil {
		return usageError("--metrics %q: %w", secret.Text(o.metrics), err)
	}
	if err := m.Find(std.ctx); err != nil {
		return fmt.Errorf("--metrics: %w", err)
	}
	run.metrics = m
	run.header.Live.Metrics = new(m.Metrics)
	run.header.Live.Metrics.URL = secret.Text(run.header.Live.Metrics.URL)
	return nil
}

// liveHeader is what the flags say by themselves.
func (o *liveOptions) liveHeader(std stdio, h *judge.Header) error {
	spec := o.spec.Spec
	switch {
	case o.slice < shortestSlice:
		return usageError("--slice %s: expected %s or more, since a shorter slice is mostly what a change costs", number.Typed(o.slice), shortestSlice)
	case o.burnIn < shortestBurnIn:
		return usageError("--burn-in %s: expected %s or more", number.Typed(o.burnIn), shortestBurnIn)
	case o.baseline < 2*o.slice:
		return usageError("--baseline %s: expected at least two slices of %s, for example --baseline %s", number.Typed(o.baseline), number.Chosen(o.slice), number.Typed(2*o.slice))
	}
	*h = judge.NewHeader(o.slice, o.burnIn, o.baseline, spec.Load.Duration)
	h.Live.Budget, h.Live.Same = o.budget.requests, o.same
	if spec.Load.SLO != nil {
		h.Live.SlowSeconds = spec.Load.SLO.Seconds
	}
	var err error
	h.Spec = o.asked(std)
	if h.Live.Queries, err = o.queries.Recorded(h.Spec); err != nil {
		return refusal(err)
	}
	h.Live.Prometheus, h.Tool = o.queries.Address(), session.Tool(version())
	h.Plan.Margin, h.Plan.MarginP99, h.Plan.Seed = spec.Margin, spec.MarginP99, uint64(h.Started.UnixNano())
	if o.spec.Seed != nil {
		h.Plan.Seed = *o.spec.Seed
	}
	return nil
}

// values are those that are tried, but for the one at start.
func (o *liveOptions) values(start int, limit float64, most int) (values []int, err error) {
	cpus := float64(start)
	if limit > 0 {
		cpus = min(cpus, limit)
	}
	for _, v := range o.spec.Procs.For(cpus) {
		switch {
		case v == nil || *v == start: // which is always compared
		case o.spec.Procs.Auto && float64(*v) > math.Ceil(cpus): // for a sweep to try, and not for users
		case most > 0 && *v > most:
			return nil, usageError("--procs %d: the program allows 1 to %d; live.Max in its code allows more", *v, most)
		case *v > steer.Most:
			return nil, usageError("--procs %d: expected at most %d", *v, steer.Most)
		default:
			values = append(values, *v)
		}
	}
	if len(values) == 0 && !o.same {
		return nil, usageError("--procs: expected at least one value other than the one at start, %d, for example --procs 1,%d", start, max(start, 2))
	}
	return values, nil
}

// liveRun is a live experiment whose every question is settled.
type liveRun struct {
	header  judge.Header
	change  valueChange // the process, and what it has now
	program *live.Program
	metrics *live.Metrics // nil: the program's requests are not known
	share   float64       // the budget as a share; 0: the header has it
	dir     string
}

func (o *liveOptions) run(ctx context.Context, std stdio, args []string) error {
	o.operands = args
	if err := o.check(); err != nil {
		return err
	}
	std = o.printed.std(std)
	if len(args) != 1 {
		return usageError("live takes one process, got %s; try: procfit live PID --procs 1,2", phrase.Count(len(args), "word"))
	}
	if err := o.checkWays(std); err != nil {
		return err
	}
	pid, err := oneProcess(ctx, "procfit live PID", args[0])
	if err != nil {
		return err
	}
	if o.Has("rate") {
		return o.atRate(ctx, std, pid)
	}
	c, err := identified(pid)
	if err == nil && o.tries() {
		err = c.lendable("an experiment", "")
	}
	if err != nil {
		return err
	}
	before := c.before
	if !o.tries() { // the program may change what it has
		before = steer.Value{}
	}
	program, err := live.Watch(c.program, before)
	if err != nil {
		return err
	}
	defer program.Close()
	if !o.tries() {
		return o.watch(ctx, std, c, program)
	}
	return o.try(ctx, std, c, program)
}

func (o *liveOptions) try(ctx context.Context, std stdio, c valueChange, program *live.Program) error {
	c.counted, c.most = program.Counted, program.Most
	run, err := o.resolve(std, c)
	if err != nil {
		return err
	}
	run.program = program
	if o.dryRun {
		_, err := fmt.Fprintln(std.out, run.describe())
		return err
	}
	std.notef("%s", run.describe())
	unseen(std, program)
	if err := agreed(ctx, std, o.yes, run.header.Spec.Shell(), explain.Process(c.subject)+": "+run.how()); err != nil {
		return err
	}
	if err := c.settled("an experiment"); err != nil {
		return err
	}
	begun, err := o.measure(ctx, std, run)
	if begun {
		err = errors.Join(sweepReport(std, run.dir, o.printed.format(), ""), err)
	}
	return err
}

func unseen(std stdio, program *live.Program) {
	for _, what := range program.Blind {
		std.notef("not seen: %s", phrase.Clean(what))
	}
}

func (run *liveRun) how() string {
	if run.program.Most > 0 {
		return "it allows that and sets the values itself; its own value comes back at the end, and within 10 s if procfit is killed"
	}
	return "procfit has it call runtime.GOMAXPROCS again and again: each time " + heldByCall
}

func (run *liveRun) describe() string {
	h, l := run.header, run.header.Live
	var labels []string
	for _, s := range h.Plan.Settings { // the value at start first
		labels = append(labels, s.Label)
	}
	short := func(s float64) string { return number.Short(number.Seconds(s)) }
	facts := []string{
		fmt.Sprintf("process %d runs with GOMAXPROCS %d", l.PID, l.Start),
		fmt.Sprintf("for at most %s procfit switches it between %s, under its own traffic", number.Minutes(time.Duration(h.Load.DurationSeconds*float64(time.Second))), phrase.And(labels)),
		fmt.Sprintf("first %s with %d alone (the baseline), then slices of %s in random order", short(l.BaselineSeconds), l.Start, short(l.SliceSeconds)),
		fmt.Sprintf("a block, which has a slice of each value, takes %s; a proof takes at least %d blocks", short(h.Block().Seconds()), judge.FewestBlocks),
	}
	switch counted, _ := harmed(h); {
	case counted == "":
	case run.share > 0:
		facts = append(facts, fmt.Sprintf("it ends before the values make more requests %s than arrive in %s (--budget)", counted, short(live.Allowed(run.share))))
	default:
		facts = append(facts, fmt.Sprintf("it ends before the values make more than %s requests %s (--budget)", number.Count(l.Budget), counted))
	}
	if m := l.Metrics; m != nil {
		facts = append(facts, "its requests are counted by "+phrase.And(slices.DeleteFunc([]string{m.Histogram, m.Counter}, func(name string) bool { return name == "" })))
		if m.Handler != "" {
			facts = append(facts, "Caddy counts a request in every handler: those of the handler "+phrase.Clean(m.Handler)+" are used")
		}
	}
	if _, failed := judge.Harmed(l); !failed && !l.Same {
		why, name := "which requests fail is not known", "the program's metrics: --metrics :PORT/PATH"
		if m := l.Metrics; m != nil {
			why, name = "the labels of these metrics do not have the status of every answer", "a metric that has it: --metrics '"+m.URL+"#"+strings.TrimPrefix(m.Histogram+",NAME'", ",")
		}
		facts = append(facts, "no value can be proven better, only likely, because "+why+"; name "+name)
	}
	return factLines(append(facts, "results in "+run.dir))
}

// harmed are words for the requests that count against the budget, and for those that are unknown.
func harmed(h judge.Header) (counted, unknown string) {
	switch slow, failed := judge.Harmed(h.Live); {
	case slow && failed:
		return "become slow or fail", ""
	case slow:
		return "become slow", "failed"
	case failed:
		return "fail", "slow"
	}
	return "", "slow and failed"
}

// measure runs the experiment. begun reports that there is a journal.
func (o *liveOptions) measure(ctx context.Context, std stdio, run *liveRun) (begun bool, err error) {
	program := run.program
	program.Metrics = run.metrics
	// The loan is for a procfit that hangs; the end of one that dies is seen. The last block begins
	// within the time and may take longer: each of its values a drain, calls, and queries.
	program.Spare = 30 * time.Minute
	program.For = time.Duration(run.header.Load.DurationSeconds*float64(time.Second)) + program.Spare
	program.Idle = sync.OnceFunc(run.change.idle(std, live.CallPatience)) // each try finds it idle
	p := &liveProgress{std: std, run: run, began: time.Now()}
	std.notef("[baseline] GOMAXPROCS %d alone, for %s", run.header.Live.Start, number.Chosen(o.baseline))
	if o.baseline < usualBaseline {
		std.notef("[baseline] a burst that a baseline of less than %s misses looks like harm later", number.Chosen(usualBaseline))
	}
	e := live.Of(program)
	e.Header, e.Ask, e.Share, e.Begun, e.Block, e.Over = run.header, o.queries.Ask, run.share, p.begin, p.block, p.over
	end, begun, err := e.Run(p.slice).Into(ctx, run.header.Header, run.dir, std.secrets.Quoted)
	return begun, liveError(judge.Outcome(end, err))
}

func liveError(err error) error {
	if harm := (*judge.HarmError)(nil); errors.As(err, &harm) {
		err = &exitError{exitGate, err}
	}
	return asInterrupted(err)
}

// forecast is how long it takes to find a difference, in half of all experiments. What
// fewer than a quarter find in the time that there is is unlikely.
func forecast(what string, f blocks.Forecast) string {
	minutes := func(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Minutes()))) }
	var likely, unlikely []string
	for i, x := range f.Expected {
		less := number.Percent(x.Less) + " less"
		if i == 0 {
			less += " CPU time"
		}
		switch from, to := minutes(x.From), minutes(x.To); {
		case x.From == 0:
			unlikely = append(unlikely, less)
		case x.To == 0:
			likely = append(likely, from+" min or more to prove "+less)
		case from == to:
			likely = append(likely, "about "+to+" min to prove "+less)
		default:
			likely = append(likely, from+" to "+to+" min to prove "+less)
		}
	}
	text := fmt.Sprintf("%s varies by %s from slice to slice: ", what, number.Percent(f.Noise))
	if len(likely) > 0 {
		text += "it usually takes " + phrase.And(likely)
	}
	if len(unlikely) == 0 {
		return text
	}
	if len(likely) > 0 {
		text += "; "
	}
	text += "in " + minutes(f.Within) + " min a proof is unlikely of " + phrase.And(unlikely)
	if f.Longer {
		return text
	}
	return text + " (use a longer --for)"
}

// liveProgress prints how far an experiment is, a line for each block and what is special.
type liveProgress struct {
	std    stdio
	run    *liveRun
	began  time.Time
	blocks int
}

func (p *liveProgress) slice(e paired.Event) {
	for _, t := range e.Trials {
		if judge.Left(&t) {
			p.std.notef("GOMAXPROCS %s: left after %s, with %s", t.Setting.Label, number.Short(number.Seconds(t.DurationSeconds)), page.Beyond(t.Live.Beyond, t.Live.InSystemMax))
		}
	}
}

// soFar is what a value came to until now, as its result will word it.
func soFar(o blocks.Outcome) string {
	switch o {
	case blocks.Undecided:
		return "undecided"
	case blocks.Cheaper:
		return "less CPU time, the rest undecided"
	case blocks.Mixed:
		return "better and worse"
	case blocks.Same:
		return "no difference"
	}
	return string(o)
}

func (p *liveProgress) block(look blocks.Look, spent float64, burn time.Duration) {
	p.blocks++
	var list []string
	for i, v := range look.Values {
		list = append(list, fmt.Sprintf("GOMAXPROCS %s: %s", p.run.header.Plan.Settings[i+1].Label, soFar(v.Outcome)))
	}
	used := ""
	l := p.run.header.Live
	if counted, _ := harmed(p.run.header); counted != "" {
		used = "; used " + number.Percent(spent/l.Budget) + " of the budget"
	}
	left := time.Duration(p.run.header.Load.DurationSeconds*float64(time.Second)) - time.Since(p.began)
	p.std.notef("[block %d] %s%s; elapsed %s, at most %s left", p.blocks, phrase.And(list), used, number.Clock(time.Since(p.began)), number.Clock(max(0, left)))
	if burn > 0 {
		p.std.notef("what one value leaves behind reaches into the next slice: from here on the burn-in is %s, and the slices so far are not used", number.Chosen(burn))
	}
}

func (p *liveProgress) over(err error) {
	if err != nil {
		p.std.notef("%v", err)
		return
	}
	p.std.notef("%s", released(p.run.header.Live.Start, p.run.program.After))
}

func (p *liveProgress) begin(f blocks.Forecast) {
	l := p.run.header.Live // which the baseline has filled in
	what := "CPU time per second"
	if l.Uncounted {
		p.std.notef("[baseline] %s used; its requests are not known, so CPU time is compared per second", number.CPUsUsed(l.CPUs))
	} else {
		what = "CPU time per request"
		slow := ""
		if l.SlowSeconds > 0 {
			slow = "; slow means longer than " + number.Short(number.Seconds(l.SlowSeconds))
		}
		at := ""
		if l.LatencyBy != judge.ByNone { // by which it is known
			at = ", fewer than 1 at a time"
			if most := math.Round(l.InSystemMax); most >= 1 {
				at = ", at most " + number.Count(most) + " at a time"
			}
		}
		counted, unknown := harmed(p.run.header)
		if counted != "" {
			slow += fmt.Sprintf("; at most %s requests may %s", number.Count(l.Budget), counted)
		}
		if unknown != "" {
			slow += fmt.Sprintf("; %s requests are not known", unknown)
		}
		p.std.notef("[baseline] %s req/s%s%s", number.Count(l.RequestsPerSecond), at, slow)
		if l.LatencyBy == judge.ByMetrics && !slices.Contains(l.Seen, judge.FigureLatencyP99) {
			p.std.notef("[baseline] no p99: the buckets of %s do not show it; their mean is compared", l.Metrics.Histogram)
		}
	}
	var others plan.Others
	if others.CPUs, others.OfCPUs = p.run.program.OtherCPUs(); local.Matter(others) {
		p.std.notef("[baseline] other programs use %s that the program may use: on a quieter machine, less time proves as much", others)
	}
	if f.Noise > 0 {
		p.std.notef("[baseline] %s", forecast(what, f))
	}
	if run := p.run; run.metrics == nil && run.program.Counted && l.LatencyBy != judge.ByArrival {
		p.std.notef("no request came through the Meter's Listener, so that its latency does not decide")
	}
	if n := l.RequestsPerSecond * l.SliceSeconds; !l.Uncounted && n < judge.FewRequests {
		p.std.notef("%s in a slice of %s: latency does not decide below %d", phrase.Count(int(n), "request"), number.Short(number.Seconds(l.SliceSeconds)), judge.FewRequests)
	}
	// Of two values next to a limit either may be better: of 2.5 CPUs, 2 is not throttled.
	fewest := int(min(math.Ceil(l.CPUs), math.Floor(l.LimitCPUs)))
	below := false
	for _, s := range p.run.header.Plan.Settings {
		below = below || *s.Procs < fewest
	}
	if below && l.CPUs > 0.9*l.LimitCPUs {
		p.std.notef("the program uses %s of its CPU limit of %s: values below %d can only lose", number.CPUsUsed(l.CPUs), number.BareCPUs(l.LimitCPUs), fewest)
	}
}

func (o *liveOptions) offered() []field.Field {
	o.spec.Parts["timeout"], o.spec.Parts["cpus"] = []string{"request"}, []string{"load"}
	names := slices.Concat(except(loadFields, "rate", "trial-time", "header"), callFields)
	fields := field.Take(o.spec.Fields(), append(field.Named(names...),
		field.Field{Name: "url", Help: "where the requests go (default http://127.0.0.1:PORT/ of :PORT)", More: plan.MoreOfURL},
		cpusOfLoad,
		field.Field{Name: "timeout", Help: "how long a request may take (default request=10s)"},
		field.Field{Name: "trial-time", Help: "how long each trial at --rate takes (default by the rate)"},
		field.Field{Name: "rate", Help: "requests per second to send (default none)"})...)
	fields = append(fields, field.In(field.Load, field.Take(o.spec.Fields(), field.Field{Name: "metric"}, field.Field{Name: "repeats", Help: "how many trials to measure at --rate (default 6)"})...)...)
	unsafe := field.Field{Name: "allow-unsafe-methods", Help: "send methods that may change data, such as POST and PUT", Value: field.Switch(&o.unsafe), Group: field.Load}
	return append(fields, unsafe)
}

// checkWays refuses flags of one way to use live that another one does not have: values are
// tried with --procs or --aa, a load is offered with --rate, and else the program is watched.
func (o *liveOptions) checkWays(std stdio) error {
	tries, loads := o.tries(), o.Has("rate")
	if tries && loads {
		return o.bothWays(std)
	}
	for _, name := range o.Names {
		of := func(list ...string) bool { return slices.Contains(list, name) }
		switch {
		case of("slice", "burn-in", "baseline", "budget", "margin", "slo", "metrics", "prometheus", "query", "yes") && !tries:
			return usageError("--%s needs --procs, the values to try; without it the program is watched, and nothing is changed", name)
		case of("header") && !loads && !o.asks():
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
func (o *liveOptions) bothWays(std stdio) error {
	if _, err := o.offeredLoad(std); err != nil {
		return err
	}
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
	asked, _ := o.Spec(o.name, o.operands, nil)
	load := asked.Only(func(name string) bool { return slices.Contains(sent, name) }).With(spec.Set("for", minutes(lasts+time.Minute)))
	load.Command, load.Operands = "load", []string{"URL"}
	if urls := asked.Get("url"); len(urls) > 0 {
		load.Operands = slices.Clone(urls)
	} else if port, ok := strings.CutPrefix(o.operands[0], ":"); ok {
		load.Operands = []string{"http://127.0.0.1:" + port + "/"}
	}
	if len(load.Operands) > 1 && !slices.ContainsFunc(load.Operands, requests.Weighted) { // for procfit load they would be several servers
		load.Operands[0] = "1=" + load.Operands[0]
	}
	start := "Start the load, and then try the values:\n  " + load.Shell() + " &"
	if o.Has("load") {
		start = "Start your load generator, and then try the values:"
	}
	try := asked.Only(func(name string) bool { return slices.Contains(tried, name) || name == "header" && o.asks() }).With(spec.Set("for", minutes(lasts)))
	return usageError("--rate and --procs: values are tried under the traffic that the program has, and procfit live sends none meanwhile. %s\n  %s", start, try.Shell())
}

// asks reports whether an experiment asks a server for numbers, with the headers that are given.
func (o *liveOptions) asks() bool { return o.Has("metrics") || o.Has("prometheus") }

// sent is what procfit load takes of a load that is offered, tried what an experiment takes.
var sent = slices.Concat(except(loadFields, "trial-time", "load"), callFields, []string{"timeout", "cpus"})
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

// offeredLoad is the load of the flags: at a rate, and with methods that are safe or allowed.
func (o *liveOptions) offeredLoad(std stdio) (plan.Spec, error) {
	spec, err := o.toSpec(std)
	if err != nil {
		return spec, err
	}
	if spec.Target.URL, err = readURLs(o.spec, &spec, o.spec.URLs, std); err != nil {
		return spec, err
	}
	if m := changing(spec.Load); m != nil && !o.unsafe {
		return spec, usageError("%s may change what the server holds; --allow-unsafe-methods sends it", phrase.And(m))
	}
	if spec.Load.Rate == 0 {
		return spec, usageError("--rate: expected the requests per second to send: a server in use gets the rate that you choose, not the most that it can carry")
	}
	return spec, nil
}

func (o *liveOptions) resolveLoad(std stdio, pid int) (*session.Session, error) {
	spec, err := o.offeredLoad(std)
	if err != nil {
		return nil, err
	}
	if spec.Target.Attach, err = local.Attach(pid); err != nil {
		return nil, refusal(err)
	}
	if port, ok := strings.CutPrefix(o.operands[0], ":"); ok && spec.Target.URL == "" {
		spec.Target.URL = "http://127.0.0.1:" + port + "/"
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
