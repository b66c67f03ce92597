package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// liveRun is a live experiment whose every question is settled.
type liveRun struct {
	header  judge.Header
	program *liveProgram
	ask     journal.Asker // nil: nothing is asked
	share   float64       // the budget as a share; 0: the header has it
	dir     string
}

// run is procfit live.
func (o *liveOptions) run(ctx context.Context, std stdio, args []string) error {
	o.operands = args
	if err := o.check(); err != nil {
		return err
	}
	std = o.printed.std(std)
	run, err := o.resolve(std, args)
	if err != nil {
		return err
	}
	if o.dryRun {
		_, err := fmt.Fprintln(std.out, run.describe())
		return err
	}
	std.notef("%s", run.describe())
	end, begun, err := run.measure(ctx, std)
	if end == nil {
		return err
	}
	if begun {
		err = errors.Join(report(std, run.dir, o.printed.format(), "", true), err)
	}
	return errors.Join(err, liveEnded(end))
}

// liveEnded is how an experiment ended, as an error where it did not come to its end.
func liveEnded(end *journal.End) error {
	switch end.Code {
	case journal.EndComplete, journal.EndDecided:
		return nil
	case journal.EndInterrupted:
		return interrupted(context.Canceled)
	case journal.EndHarm:
		if end.Harm.Code == journal.HarmBudget {
			return &exitError{exitGate, errors.New("the budget of slow and failed requests ended the experiment")}
		}
		text := fmt.Sprintf("harm with GOMAXPROCS %s ended the experiment", end.Harm.Setting)
		if end.Harm.Detail != "" {
			text += ": " + end.Harm.Detail
		}
		return &exitError{exitGate, errors.New(text)}
	}
	return errors.New(end.Reason)
}

// describe is what will be done, how long it takes at most, and what it may cost.
func (run *liveRun) describe() string {
	h, l := run.header, run.header.Live
	var labels []string
	for _, s := range h.Plan.Settings[1:] {
		labels = append(labels, s.Label)
	}
	cost := fmt.Sprintf("%s requests", number.Count(l.Budget))
	if run.share > 0 {
		cost = fmt.Sprintf("%s of the requests that an objective of 99.9%% allows to fail in 30 days", number.Percent(run.share))
	}
	short := func(s float64) string { return number.Short(number.Seconds(s)) }
	return fmt.Sprintf("process %d runs with GOMAXPROCS %d; for at most %s it tries %s on its own traffic, in slices of %s after a baseline of %s; a block takes %s, and a proof at least %d blocks; it may cost %s; results in %s",
		l.PID, l.Start, number.Minutes(time.Duration(h.Load.DurationSeconds*float64(time.Second))), phrase.And(labels), short(l.SliceSeconds), short(l.BaselineSeconds), short(h.Block().Seconds()), judge.FewestBlocks, cost, run.dir)
}

// measure runs the experiment. begun reports that there is a journal.
func (run *liveRun) measure(ctx context.Context, std stdio) (end *journal.End, begun bool, err error) {
	if err := folder.Try(run.dir); err != nil {
		return nil, false, usageError("--out %s: %w", run.dir, err)
	}
	run.program.lease = hex.EncodeToString(random())
	var dir *folder.Dir
	var w *journal.Writer
	p := &liveProgress{std: std, run: run, began: time.Now()}
	r := &live.Run{Header: run.header, Place: run.program, Ask: run.ask, BucketEnd: maxlive.BucketEnd, Quantile: quantile, Share: run.share, Tell: p.tell}
	r.Begin = func(h judge.Header) (err error) {
		run.header = h
		if dir, err = folder.Make(run.dir); err == nil {
			w, err = journal.Create(dir, h.Header, std.secrets.Quoted)
		}
		return err
	}
	r.Append = func(t journal.Trial) error { return w.Append(t) }
	end = r.Run(ctx)
	if dir != nil {
		defer dir.Close()
	}
	if w == nil {
		return end, false, nil
	}
	defer w.Close()
	return end, true, w.AppendEnd(*end)
}

func quantile(was, is live.Histogram, q float64) time.Duration {
	return maxlive.Histogram(is).Since(maxlive.Histogram(was)).Quantile(q)
}

// random is the name of a lease, which nobody else can guess.
func random() []byte {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return b
}

// liveProgram is the program of a live experiment, through its control endpoint.
type liveProgram struct {
	client      *meter.Client
	state       maxlive.State // before the experiment
	lease       string
	sets        atomic.Int64 // changes that the program has confirmed
	after       int          // GOMAXPROCS when the lease was released
	first, past maxlive.Metrics
}

// Lease implements live.Place. A renewal that comes after the end of the lease begins another
// one, in which the program has changed nothing yet.
func (p *liveProgram) Lease(ctx context.Context) error {
	sets := p.sets.Load()
	s, err := p.client.Lease(ctx, p.lease, live.LeaseFor)
	switch {
	case err != nil:
		return p.ended(ctx, err)
	case s.Started != p.state.Started:
		return cmp.Or(p.another(ctx), stopped(restarted))
	case int64(s.Switches) < sets:
		return &live.EndError{End: journal.End{Code: journal.EndTaken, Reason: "the lease had ended before it was renewed, so the program no longer ran with the value that was tried"}}
	}
	return nil
}

// Set implements live.Place. A change whose answer was lost has the same number again, and is
// not made twice.
func (p *liveProgram) Set(ctx context.Context, procs int) (time.Duration, error) {
	s, err := p.client.Procs(ctx, p.lease, procs, p.sets.Load()+1)
	switch {
	case err != nil:
		return 0, p.ended(ctx, err)
	case s.Procs != procs:
		return 0, liveFailed(fmt.Sprintf("the program was asked for GOMAXPROCS %d, and answers that it is %d", procs, s.Procs))
	}
	p.sets.Add(1)
	return time.Duration(s.CallNS), nil
}

// Read implements live.Place.
func (p *liveProgram) Read(ctx context.Context) (live.Reading, error) {
	m, err := p.client.Metrics(ctx)
	if err != nil {
		return live.Reading{}, p.ended(ctx, err)
	}
	if p.first.At == 0 {
		p.first, p.past = m, m
	} else if _, err := meter.Since(p.past, m, p.state); errors.Is(err, meter.ErrRestarted) {
		return live.Reading{}, cmp.Or(p.another(ctx), stopped(restarted))
	} else if _, sum := meter.Since(p.first, m, p.state); cmp.Or(err, sum) != nil { // a look is short, and allows more
		return live.Reading{}, cmp.Or(p.another(ctx), liveFailed(cmp.Or(err, sum).Error()))
	}
	p.past = m
	histogram := func(h maxlive.Histogram) live.Histogram { return live.Histogram{Counts: h.Counts, Sum: h.Sum} }
	return live.Reading{
		At: time.Unix(0, m.At), Requests: m.Requests, Failed: m.Failed, Panics: m.Panics, InFlight: m.InFlight,
		CPU: m.CPU, Arrival: histogram(m.Arrival), Handler: histogram(m.Handler),
	}, nil
}

// Release implements live.Place.
func (p *liveProgram) Release(ctx context.Context) error {
	s, err := p.client.Release(ctx, p.lease)
	p.after = s.Procs
	return err
}

// restarted is that another process has the endpoint.
const restarted = "the program was restarted, or ended"

// stopped is that the process does not keep running.
func stopped(reason string) error {
	return &live.EndError{End: journal.End{Code: journal.EndHarm, Reason: reason, Harm: &journal.Harm{Code: journal.HarmEnded, Detail: reason}}}
}

// liveFailed is that nothing can be compared.
func liveFailed(reason string) error {
	return &live.EndError{End: journal.End{Code: journal.EndFailed, Reason: reason}}
}

// another is how an experiment ends in which another process answers: it was started again,
// or the address leads to several. nil: none does.
func (p *liveProgram) another(ctx context.Context) error {
	switch another, several := p.client.Answering(ctx, p.state.Started); {
	case several:
		return liveFailed(p.client.Name() + " leads to several programs in turn: name a single one by the address of its pod, or by localhost after kubectl port-forward pod/NAME PORT")
	case another:
		return stopped(restarted)
	}
	return nil
}

// ended is an error of the client, which ends the experiment if the program answers or is
// gone.
func (p *liveProgram) ended(ctx context.Context, err error) error {
	if _, gone := errors.AsType[*meter.GoneError](err); gone {
		return stopped("the program ended, or closed its control socket")
	}
	no, refused := errors.AsType[*meter.RefusedError](err)
	if !refused {
		return err
	}
	end := journal.End{Code: journal.EndTaken, Reason: phrase.Clean(no.Detail)}
	switch no.Code {
	case "no_lease":
		if end := p.another(ctx); end != nil {
			return end
		}
	case "off", "refused":
		end.Reason = "the program refused: " + end.Reason
	case "set_by_other":
	case "leased":
		end.Code = journal.EndFailed
	default:
		end.Code, end.Reason = journal.EndFailed, err.Error()
	}
	return &live.EndError{End: end}
}

// forecast is how long it takes to find a difference, in half of all experiments. What
// fewer than a quarter find in the time that there is is unlikely.
func forecast(f judge.Forecast) string {
	minutes := func(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Minutes()))) }
	var likely, unlikely []string
	for _, x := range f.Expected {
		less := number.Percent(x.Less) + " less"
		switch from, to := minutes(x.From), minutes(x.To); {
		case x.From == 0:
			unlikely = append(unlikely, less)
		case x.To == 0:
			likely = append(likely, from+" min or more for "+less)
		case from == to:
			likely = append(likely, "about "+to+" min for "+less)
		default:
			likely = append(likely, from+" to "+to+" min for "+less)
		}
	}
	text := fmt.Sprintf("CPU time per request varies by %s from slice to slice: ", number.Percent(f.Noise))
	if len(likely) > 0 {
		text += "a proof usually takes " + phrase.And(likely)
	}
	if len(unlikely) == 0 {
		return text
	}
	if len(likely) > 0 {
		text += "; "
	}
	text += "in " + minutes(f.Within) + " min a proof is unlikely for " + phrase.And(unlikely)
	if f.Longer {
		return text
	}
	return text + " (use a longer --duration)"
}

// liveProgress prints how far an experiment is, a line for each block and what is special.
type liveProgress struct {
	std   stdio
	run   *liveRun
	began time.Time
	block int
}

func (p *liveProgress) tell(e live.Event) {
	l := p.run.header.Live
	switch e.Kind {
	case live.EventBaseline:
		p.std.notef("[baseline] GOMAXPROCS %d alone, for %s", l.Start, number.Short(number.Seconds(l.BaselineSeconds)))
		if l.BaselineSeconds < usualBaseline.Seconds() {
			p.std.notef("[baseline] a burst that a baseline of less than %s misses looks like harm later", number.Short(number.Seconds(usualBaseline.Seconds())))
		}
	case live.EventBegin:
		p.std.notef("[baseline] %s req/s, at most %s in the system; slow is longer than %s; it may cost %s requests", number.Count(l.RequestsPerSecond), number.Count(math.Round(l.InSystemMax)), number.Short(number.Seconds(l.SlowSeconds)), number.Count(l.Budget))
		if e.Noise > 0 {
			p.std.notef("[baseline] %s", forecast(e.Forecast))
		}
		if l.LatencyBy != judge.ByArrival {
			p.std.notef("no request came through the Meter's Listener, so that latency does not decide: a value can be proven cheaper or worse, and not better")
		}
		if n := l.RequestsPerSecond * l.SliceSeconds; n < judge.FewRequests {
			p.std.notef("%s in a slice of %s: latency does not decide below %d", phrase.Count(int(n), "request"), number.Short(number.Seconds(l.SliceSeconds)), judge.FewRequests)
		}
		if l.LimitCPUs > 0 && l.CPUs > 0.9*l.LimitCPUs {
			p.std.notef("the program uses %s of its CPU limit of %s: values below %d can only lose", number.CPUs(l.CPUs), number.BareCPUs(l.LimitCPUs), l.Start)
		}
	case live.EventSlice:
		if t := e.Trial; t.InvalidCode == journal.InvalidLeft {
			p.std.notef("GOMAXPROCS %s: left after %s, with %s requests in the system", t.Setting.Label, number.Short(number.Seconds(t.DurationSeconds)), number.Count(math.Round(t.Live.InSystemMax)))
		}
	case live.EventBlock:
		p.block++
		var list []string
		for i, v := range e.Look.Values {
			list = append(list, p.run.header.Plan.Settings[i+1].Label+" "+string(v.Outcome))
		}
		left := time.Duration(p.run.header.Load.DurationSeconds*float64(time.Second)) - time.Since(p.began)
		p.std.notef("[block %d] %s; used %s of the budget; elapsed %s, at most %s left", p.block, phrase.And(list), number.Percent(e.Spent/l.Budget), number.Clock(time.Since(p.began)), number.Clock(max(0, left)))
	case live.EventCarried:
		p.std.notef("what one value leaves behind reaches into the next slice: from here on the burn-in is %s, and the slices so far are not used", number.Chosen(e.Burn))
	case live.EventRelease:
		p.std.notef("%s", released(l.Start, p.run.program.after))
	}
}

// released is what GOMAXPROCS is after the experiment. The program keeps what something else
// has set, and a default of the Go runtime may have changed with the CPU limit.
func released(start, now int) string {
	if now == start {
		return fmt.Sprintf("GOMAXPROCS is %d again", now)
	}
	return fmt.Sprintf("GOMAXPROCS is %d now, and was %d at start: something else has set it, or the Go runtime follows another CPU limit", now, start)
}
