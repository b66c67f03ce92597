package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
	blocks "github.com/procfit/procfit/internal/verdict/paired"
)

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
	if err := o.checkWays(); err != nil {
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
		if m.FailuresUnknown {
			facts = append(facts, "the labels of these do not have the status of every answer, so that failed requests are not known, and no value can be proven better; name a metric that has it: --metrics '"+m.URL+"#"+strings.TrimPrefix(m.Histogram+",NAME'", ","))
		}
		if m.Handler != "" {
			facts = append(facts, "Caddy counts a request in every handler: those of the handler "+phrase.Clean(m.Handler)+" are used")
		}
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
