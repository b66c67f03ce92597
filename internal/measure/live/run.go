// Package live runs a live experiment, as package verdict/live describes and judges one: it
// sets the values of a running program slice by slice, looks at what the program does, and
// ends at the first harm.
package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/paired"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// Place is the program whose values are tried. An *EndError of it ends the experiment,
// and so does every other error that lasts as long as the lease.
type Place interface {
	// Lease sees that the program is still this experiment's.
	Lease(context.Context) error
	// Set sets GOMAXPROCS and returns how long that took. After an error it may be called again.
	Set(ctx context.Context, procs int) (time.Duration, error)
	// Read reads what the program has counted since it began.
	Read(context.Context) (Reading, error)
	// Release gives the value at start back.
	Release(context.Context) error
}

// EndError is how an experiment ends before its time.
type EndError struct{ journal.End }

func (e *EndError) Error() string { return e.Reason }

func endFor(code journal.EndCode, format string, args ...any) *EndError {
	return &EndError{journal.End{Code: code, Reason: fmt.Sprintf(format, args...)}}
}

// eventKind is a step of a Run.
type eventKind string

const (
	EventBaseline eventKind = "baseline" // begins
	EventBegin    eventKind = "begin"    // the first block does: the baseline is known
	EventSlice    eventKind = "slice"    // is over
	EventBlock    eventKind = "block"    // is over
	EventCarried  eventKind = "carried"  // the burn-in is twice as long from here on
	EventRelease  eventKind = "release"  // it is over, and the program has its own value, or Err is why not
)

// Event is reported as a Run continues.
type Event struct {
	Kind            eventKind
	Trial           journal.Trial // of EventSlice
	Look            paired.Look   // of EventBlock
	Spent           float64       // of the budget
	Burn            time.Duration // of EventCarried
	Err             error         // of EventRelease
	paired.Forecast               // of EventBegin
}

// Run is one experiment at work.
type Run struct {
	Header judge.Header
	Place  Place
	// BucketEnd is the upper end of a bucket of a Reading's histograms.
	BucketEnd func(bucket int) time.Duration
	// Quantile is of the requests that are in the second of two histograms, and not yet in
	// the first.
	Quantile func(was, is Histogram, q float64) time.Duration
	Ask      journal.Asker // nil where the header has no queries
	// Share is the budget as a share of what an objective of 99.9% allows in 30 days; 0: the
	// header has it.
	Share  float64
	Begin  func(judge.Header) error  // keeps the header, when the baseline is known
	Append func(journal.Trial) error // keeps a slice before anything else is done
	Tell   func(Event)

	random   *rand.Rand
	wire     wire
	budget   *budget
	panicked bool // in the baseline
	burn     time.Duration
	last     int  // GOMAXPROCS of the slice before
	running  int  // the value now, by its place in the plan
	changed  bool // another value than the start's was tried
	slices   []paired.Slice
}

// Into runs it on a program, with a journal in a folder from when the baseline is known. quote
// takes the credentials out of what others said. begun reports that there is a journal.
func (r *Run) Into(ctx context.Context, p *Program, dir string, quote func(string) string) (end *journal.End, begun bool, err error) {
	var made *folder.Dir
	var w *journal.Writer
	r.Place, r.BucketEnd, r.Quantile = p, maxlive.BucketEnd, quantile
	if p.Metrics != nil {
		r.BucketEnd, r.Quantile = p.Metrics.bucketEnd, p.Metrics.quantile
	}
	r.Begin = func(h judge.Header) (err error) {
		if made, err = folder.Make(dir); err == nil {
			w, err = journal.Create(made, h.Header, quote)
		}
		return err
	}
	r.Append = func(t journal.Trial) error { return w.Append(t) }
	end = r.Run(ctx)
	if made != nil {
		defer made.Close()
	}
	if w == nil {
		return end, false, nil
	}
	defer w.Close()
	return end, true, w.AppendEnd(*end)
}

const (
	// LeaseFor is how long what the program does not answer is asked for again.
	LeaseFor = 5 * time.Second
	// releaseWithin is how long the end waits until the old value is back. It comes back
	// later, too: a program that has nothing to do for 10 s cannot be called meanwhile.
	releaseWithin = 15 * time.Second
	// between is how long between two looks at the program.
	between = 250 * time.Millisecond
	// longestDrain is how long is waited for what a value left behind.
	longestDrain = time.Minute
	// mostDoublings of the burn-in: what a value leaves behind must end.
	mostDoublings = 3
)

// Run does the whole experiment, and returns how it ended. The start value is back then, or
// the last Event has why it is not.
func (r *Run) Run(outer context.Context) *journal.End {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	err := r.Place.Lease(ctx)
	if err == nil {
		var keeping sync.WaitGroup
		keeping.Go(func() { r.keep(ctx, cancel) })
		if err = r.experiment(ctx); ctx.Err() != nil && outer.Err() == nil {
			err = context.Cause(ctx)
		}
		cancel(nil)
		keeping.Wait()
		r.release(outer)
	}
	return r.ended(outer, err)
}

// release does not depend on the context, which has ended where the user ends it.
func (r *Run) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	r.Tell(Event{Kind: EventRelease, Err: r.Place.Release(ctx)})
}

// ended is the End that an error comes to.
func (r *Run) ended(ctx context.Context, err error) *journal.End {
	var end *EndError
	out := &journal.End{Code: journal.EndComplete}
	switch {
	case errors.As(err, &end):
		out = &end.End
		switch h := out.Harm; {
		case h == nil:
		case h.Code == journal.HarmEnded && !r.changed:
			out = &journal.End{Code: journal.EndFailed, Reason: out.Reason + ", before the first change; no other value was tried"}
		case h.Setting == "":
			h.Setting = r.Header.Plan.Settings[r.running].Label
		}
	case ctx.Err() != nil:
		out.Code = journal.EndInterrupted
	case err != nil:
		out.Code, out.Reason = journal.EndFailed, err.Error()
	}
	out.Time = time.Now()
	return out
}

// keep looks after the program until the experiment is over.
func (r *Run) keep(ctx context.Context, lost func(error)) {
	for good := time.Now(); ; {
		if wait(ctx, LeaseFor/3) != nil {
			return
		}
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, LeaseFor/3)
		err := r.Place.Lease(within)
		cancel()
		if err == nil {
			good = asked
		} else if end := (*EndError)(nil); errors.As(err, &end) || time.Since(good) >= LeaseFor {
			lost(err)
			return
		}
	}
}

// again asks the program. An answer that is lost is asked for again, as long as the lease.
func again[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for from := time.Now(); ; {
		x, err := ask()
		var end *EndError
		if err == nil || ctx.Err() != nil || errors.As(err, &end) || time.Since(from) >= LeaseFor {
			return x, err
		}
		if err := wait(ctx, between); err != nil {
			return x, err
		}
	}
}

// read reads what the program has counted.
func (r *Run) read(ctx context.Context) (Reading, error) {
	return again(ctx, func() (Reading, error) { return r.Place.Read(ctx) })
}

// set sets GOMAXPROCS and returns how long that took.
func (r *Run) set(ctx context.Context, procs int) (time.Duration, error) {
	return again(ctx, func() (time.Duration, error) { return r.Place.Set(ctx, procs) })
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// experiment is the baseline and the blocks. It returns nil at the end of its time.
func (r *Run) experiment(ctx context.Context) error {
	h := &r.Header
	until := time.Now().Add(seconds(h.Load.DurationSeconds))
	r.random = rand.New(rand.NewPCG(h.Plan.Seed, h.Plan.Seed))
	r.burn = seconds(h.Live.BurnInSeconds)
	if err := r.baseline(ctx); err != nil {
		return err
	}
	look, doublings := paired.Judge(h.Rules(), nil), 0
	for n := 0; ; n++ {
		values := h.Next(look)
		if values == nil {
			return endFor(journal.EndDecided, "")
		}
		if takes := time.Duration(len(values)) * (r.burn + seconds(h.Live.SliceSeconds)); time.Now().Add(takes).After(until) {
			return nil
		}
		r.random.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		for order, v := range values {
			if err := r.visit(ctx, n, order, v); err != nil {
				return err
			}
		}
		if harm := h.Harm(r.slices); harm != nil {
			return &EndError{journal.End{Code: journal.EndHarm, Harm: harm}}
		}
		look = paired.Judge(h.Rules(), r.slices)
		r.Tell(Event{Kind: EventBlock, Look: look, Spent: r.budget.Spent()})
		if look.Carried {
			if doublings++; doublings == mostDoublings {
				return endFor(journal.EndCarryOver, "what one value leaves behind does not end within %s", number.Chosen(r.burn))
			}
			r.burn *= 2
			paired.CarriedOver(r.slices)
			r.Tell(Event{Kind: EventCarried, Burn: r.burn})
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
