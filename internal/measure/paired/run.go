// Package paired runs an experiment in blocks, as package verdict/paired judges one: it makes
// the values run, watches them, counts by slices, keeps what was counted, and brings back what
// there was before, whatever happens.
package paired

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/paired"
)

// Place is where the values run. An *EndError of it ends the experiment.
type Place interface {
	// Apply makes settings run that are compared at the same time, in place of those that ran,
	// and returns when they do.
	Apply(context.Context, []journal.Setting) error
	// Watch looks for harm.
	Watch(context.Context) error
	// Slice is what every setting, in the order of Apply, did since the Slice before; with the
	// first one after Apply counting begins.
	Slice(context.Context) ([]journal.Trial, error)
	// Restore brings back what there was before, and returns when it is there. It is called
	// after an Apply that failed too.
	Restore(context.Context) error
}

// EndError is how an experiment ends before its time.
type EndError struct{ journal.End }

func (e *EndError) Error() string { return e.Reason }

// EventKind is a step of a Run.
type EventKind string

const (
	EventApply   EventKind = "apply"   // settings are made to run
	EventRun     EventKind = "run"     // they do
	EventSlice   EventKind = "slice"   // a slice is over
	EventRestore EventKind = "restore" // what there was before is brought back
)

// Event is reported as a Run continues.
type Event struct {
	Kind   EventKind
	Block  int             // the first one with the settings, of EventApply and EventRun
	Trials []journal.Trial // of EventSlice
}

// Run is one experiment at work.
type Run struct {
	Place   Place
	Next    func([]journal.Trial) judge.Step // what the slices so far lead to
	BurnIn  time.Duration                    // of settings that did not run before, until they are compared
	Length  time.Duration                    // of a slice
	Queries []journal.Query
	Ask     journal.Asker             // nil where there are no queries
	Append  func(journal.Trial) error // keeps a setting's slice before anything else is done
	Tell    func(Event)

	trials []journal.Trial
	marked time.Time // when the last slice ended, or counting began
}

// between is how long between two looks at the place.
const between = time.Second

// Into runs it with a journal in a folder. quote takes the credentials out of what others said.
// How it ended is nil where there is no journal.
func (r *Run) Into(ctx context.Context, h journal.Header, dir string, quote func(string) string) (end *journal.End, err error) {
	made, err := folder.Make(dir)
	if err != nil {
		return nil, err
	}
	defer made.Close()
	w, err := journal.Create(made, h, quote)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	r.Append = w.Append
	end, err = r.Run(ctx, h.Plan.Seed)
	return end, errors.Join(err, w.AppendEnd(*end))
}

// Run does all blocks. How it ended is never nil; the error is what else went wrong, with what
// could not be restored among it.
func (r *Run) Run(ctx context.Context, seed uint64) (*journal.End, error) {
	err := r.blocks(ctx, rand.New(rand.NewPCG(seed, seed)))
	r.Tell(Event{Kind: EventRestore, Block: r.block()})
	restored := r.Place.Restore(context.WithoutCancel(ctx))
	end, early := &journal.End{}, (*EndError)(nil)
	switch {
	case errors.As(err, &early):
		end, err = &early.End, nil
	case ctx.Err() != nil:
		end.Code = journal.EndInterrupted
	default:
		end.Code, end.Reason = journal.EndFailed, err.Error()
	}
	if restored != nil && (end.Code == journal.EndComplete || end.Code == journal.EndDecided) {
		*end = journal.End{Code: journal.EndFailed, Reason: restored.Error()}
	}
	end.Time = time.Now()
	return end, errors.Join(err, restored)
}

// block is that of the last slice.
func (r *Run) block() int {
	if len(r.trials) == 0 {
		return 0
	}
	return r.trials[len(r.trials)-1].Block
}

// blocks ends with an error, which is how the experiment ends.
func (r *Run) blocks(ctx context.Context, random *rand.Rand) error {
	var runs []journal.Setting
	for {
		next := r.Next(r.trials)
		if next.End != nil {
			return &EndError{*next.End}
		}
		random.Shuffle(len(next.Settings), func(i, j int) { next.Settings[i], next.Settings[j] = next.Settings[j], next.Settings[i] })
		order := 0
		for _, settings := range next.Settings {
			if !same(runs, settings) {
				if err := r.apply(ctx, next.Block, settings); err != nil {
					return err
				}
				runs = settings
			}
			if err := r.slice(ctx, next.Block, order); err != nil {
				return err
			}
			order += len(settings)
		}
	}
}

func same(a, b []journal.Setting) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Key() != b[i].Key() {
			return false
		}
	}
	return len(a) == len(b)
}

// apply makes settings run, and has them counted after the burn-in.
func (r *Run) apply(ctx context.Context, block int, settings []journal.Setting) error {
	r.Tell(Event{Kind: EventApply, Block: block})
	if err := r.Place.Apply(ctx, settings); err != nil {
		return err
	}
	r.Tell(Event{Kind: EventRun, Block: block})
	if err := r.until(ctx, time.Now().Add(r.BurnIn)); err != nil {
		return err
	}
	_, err := r.Place.Slice(ctx)
	r.marked = time.Now()
	return err
}

// until watches the place up to a time.
func (r *Run) until(ctx context.Context, t time.Time) error {
	for {
		if err := r.Place.Watch(ctx); err != nil {
			return err
		}
		left := time.Until(t)
		if left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(left, between)):
		}
	}
}

// slice keeps what the settings do in a slice: from the end of the one before, however long
// its queries took.
func (r *Run) slice(ctx context.Context, block, order int) error {
	if err := r.until(ctx, r.marked.Add(r.Length)); err != nil {
		return err
	}
	trials, err := r.Place.Slice(ctx)
	if err != nil {
		return err
	}
	started := r.marked
	r.marked = time.Now()
	for i := range trials {
		t := &trials[i]
		t.Role, t.Valid = journal.RoleMeasure, true
		t.Block, t.Order, t.Started, t.DurationSeconds = block, order+i, started, r.marked.Sub(started).Seconds()
	}
	if err := r.ask(ctx, trials); err != nil {
		return err
	}
	for _, t := range trials {
		if err := r.Append(t); err != nil {
			return err
		}
	}
	r.trials = append(r.trials, trials...)
	r.Tell(Event{Kind: EventSlice, Block: block, Trials: trials})
	return nil
}

// ask makes the queries metrics of all settings' slices.
func (r *Run) ask(ctx context.Context, trials []journal.Trial) error {
	n := len(r.Queries)
	answers := journal.Ask(len(trials)*n, func(i int) (*float64, error) {
		var pods []string
		for _, p := range trials[i/n].Pods {
			pods = append(pods, p.Name)
		}
		return r.Ask(ctx, r.Queries[i%n].Name, r.Length, pods, r.marked)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, a := range answers {
		better := "lower"
		if r.Queries[i%n].Name == judge.FigureRequests {
			better = "higher"
		}
		trials[i/n].Keep(r.Queries[i%n], better, a)
	}
	return nil
}
