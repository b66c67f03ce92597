// Package live has an experiment in a running program, as package verdict/live describes and
// judges one, for package measure/paired to run: it sets the values of the program, looks at
// what the program does, and leaves a value at the first harm.
package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	blocks "github.com/procfit/procfit/internal/verdict/paired"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// process is the program whose values are tried. A *paired.EndError of it ends the experiment,
// and so does every other error that lasts as long as the patience.
type process interface {
	// Set sets GOMAXPROCS and returns how long that took. After an error it may be called again.
	Set(ctx context.Context, procs int) (time.Duration, error)
	// Read reads what the program has counted since it began, and sees that it is still this
	// experiment's.
	Read(context.Context) (Reading, error)
	// Release gives the value at start back.
	Release(context.Context) error
}

func endFor(code journal.EndCode, format string, args ...any) error {
	return &paired.EndError{End: journal.End{Code: code, Reason: fmt.Sprintf(format, args...)}}
}

// Experiment is one at work: a paired.Place with a single process.
type Experiment struct {
	Header  judge.Header
	Program process
	// BucketEnd is the upper end of a bucket of a Reading's histograms.
	BucketEnd func(bucket int) time.Duration
	Quantile  func(h maxlive.Histogram, q float64) time.Duration
	Ask       journal.Asker // nil where the header has no queries
	// Share is the budget as a share of what an objective of 99.9% allows in 30 days; 0: the
	// header has it.
	Share float64
	// What the caller prints: that the baseline is known and what it foretells, that a block is over, with
	// what was spent of the budget and the burn-in from here on where that is longer, and that the
	// program has its own value again, or why not.
	Begun func(blocks.Forecast)
	Block func(look blocks.Look, spent float64, burn time.Duration)
	Over  func(error)

	until    time.Time // it takes at most
	wire     wire
	budget   *budget
	panicked bool // in the baseline
	burn     time.Duration
	changed  bool // another value than the start's was tried
	rare     bool // its sockets are looked at less often than the program is: one look fills several
	changes  int  // calls of another value than the one before
	long     int  // of these, that took longer than longCall
	visit    visit
	ours     bool // the program is this experiment's
}

func Of(p *Program) *Experiment {
	e := &Experiment{Program: p, BucketEnd: maxlive.BucketEnd, Quantile: maxlive.Histogram.Quantile, rare: p.unread != nil && p.unread.apart > between}
	if p.Metrics != nil {
		e.BucketEnd, e.Quantile = p.Metrics.bucketEnd, p.Metrics.quantile
	}
	return e
}

func (e *Experiment) Run(tell func(paired.Event)) *paired.Run {
	l := e.Header.Live
	return &paired.Run{Place: e, Next: e.next, Every: between, Length: seconds(l.SliceSeconds), Jitter: judge.Jitter, Queries: l.Queries, Ask: e.ask, Tell: tell}
}

const (
	// patience is how long what the program does not answer is asked for again.
	patience = 5 * time.Second
	// CallPatience is the same of a change. A program in which no thread stands where a call is
	// safe for 10 s is asked again: it has nothing to do, or the machine has no CPU for it.
	CallPatience = time.Minute
	// releaseWithin is how long the end waits until the old value is back. It comes back
	// later, too: a program that has nothing to do for 10 s cannot be called meanwhile.
	releaseWithin = 15 * time.Second
	// between is how long between two looks at the program.
	between = 250 * time.Millisecond
	// longestDrain is how long is waited for what a value left behind.
	longestDrain = time.Minute
)

// Begin implements paired.Place: it takes the baseline.
func (e *Experiment) Begin(ctx context.Context) ([]*journal.Trial, error) {
	e.until = time.Now().Add(seconds(e.Header.Load.DurationSeconds))
	e.burn = seconds(e.Header.Live.BurnInSeconds)
	if _, err := e.read(ctx); err != nil {
		return nil, err
	}
	e.ours = true
	return e.baseline(ctx)
}

// Restore implements paired.Place. A value that comes back later is no failure of what was
// measured, and the caller reports it.
func (e *Experiment) Restore(ctx context.Context) error {
	if e.ours {
		ctx, cancel := context.WithTimeout(ctx, releaseWithin)
		defer cancel()
		e.Over(e.Program.Release(ctx))
	}
	return nil
}

func (e *Experiment) next(trials []journal.Trial) blocks.Step {
	step, look := e.Header.Next(trials, time.Until(e.until))
	longer := time.Duration(0)
	if step.BurnIn > e.burn {
		e.burn, longer = step.BurnIn, step.BurnIn
	}
	if look != nil && len(trials) > 0 {
		e.Block(*look, e.budget.Spent(), longer)
	}
	return step
}

// ends names the value with which the program ended. One that ended before another value was
// tried did not end of one.
func (e *Experiment) ends(err error) error {
	if end, ok := errors.AsType[*paired.EndError](err); ok && end.Harm != nil {
		if !e.changed {
			return endFor(journal.EndFailed, "%s, before the first change; no other value was tried", end.Reason)
		}
		end.Harm.Setting = e.Header.Plan.Settings[e.visit.value].Label
	}
	return err
}

// harmed is how the experiment ends by a value.
func (e *Experiment) harmed(code journal.HarmCode, value int) error {
	return &paired.EndError{End: journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: code, Setting: e.Header.Plan.Settings[value].Label}}}
}

// again asks the program, for so long: an answer that is lost is asked for again.
func again[T any](ctx context.Context, e *Experiment, limit time.Duration, ask func() (T, error)) (T, error) {
	for from := time.Now(); ; {
		x, err := ask()
		if _, ended := errors.AsType[*paired.EndError](err); err == nil || ended || ctx.Err() != nil || time.Since(from) >= limit {
			return x, e.ends(err)
		}
		if err := wait.For(ctx, between); err != nil {
			return x, err
		}
	}
}

func (e *Experiment) read(ctx context.Context) (Reading, error) {
	return again(ctx, e, patience, func() (Reading, error) { return e.Program.Read(ctx) })
}

func (e *Experiment) set(ctx context.Context, value int) (time.Duration, error) {
	procs := *e.Header.Plan.Settings[value].Procs
	return again(ctx, e, CallPatience, func() (time.Duration, error) { return e.Program.Set(ctx, procs) })
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// longestAnswer is how long a Prometheus may take for a query.
const longestAnswer = 10 * time.Second

// ask asks a query of the slice that ended at a time.
func (e *Experiment) ask(ctx context.Context, name string, _ time.Duration, _ []string, at time.Time) (*float64, error) {
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	return e.Ask(ctx, name, judge.Asked(seconds(e.Header.Live.SliceSeconds)), nil, at)
}

// unanswered is an error if a query has no value in half of the baseline's slices.
func (e *Experiment) unanswered(trials []*journal.Trial) error {
	for _, q := range e.Header.Live.Queries {
		n, why := 0, ""
		for _, t := range trials {
			if _, known := t.Metrics[q.Name]; known {
				n++
			}
			for _, w := range t.Warnings { // of all queries
				if strings.HasPrefix(w.Detail, q.Name+": ") {
					why = " (" + phrase.Clean(w.Detail) + ")"
				}
			}
		}
		if 2*n <= len(trials) {
			return endFor(journal.EndFailed, "--query %s has a value in %d of %s of the baseline%s: %s must hold two scrapes; use a longer --slice", q.Name, n, phrase.Count(len(trials), "slice"), why, number.Chosen(judge.Asked(seconds(e.Header.Live.SliceSeconds))))
		}
	}
	return nil
}
