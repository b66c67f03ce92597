// Package paired runs an experiment in blocks, as package verdict/paired judges one: it makes
// the values run, watches them, counts by slices, keeps what was counted, and brings back what
// there was before, whatever happens.
package paired

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/paired"
)

// Place is where the values run. An *EndError of it ends the experiment, and a *Left the slice.
type Place interface {
	// Begin looks at what there is before anything is changed, and returns its trials.
	Begin(context.Context) ([]*journal.Trial, error)
	// Apply makes settings run that are compared at the same time, in place of those that ran,
	// and returns when they do.
	Apply(context.Context, []journal.Setting) error
	// Watch looks for harm.
	Watch(context.Context) error
	// Slice is what every setting, in the order of Apply, did since the Slice before; with the
	// first one after Apply counting begins. Until the next Apply or Slice, Watch may say that a
	// trial is void.
	Slice(context.Context) ([]*journal.Trial, error)
	// Restore brings back what there was before, and returns when it is there. It is called
	// after a Begin and an Apply that failed too.
	Restore(context.Context) error
}

// EndError is how an experiment ends before its time.
type EndError struct{ journal.End }

func (e *EndError) Error() string { return e.Reason }

// Left is that the place has left its settings at the first sign of harm, and is again as it was
// before them: their slice is over, and Trials is what is kept of it.
type Left struct{ Trials []*journal.Trial }

func (l *Left) Error() string { return "the settings were left" }

type EventKind string

const (
	EventApply   EventKind = "apply"   // settings are made to run
	EventRun     EventKind = "run"     // they do
	EventSlice   EventKind = "slice"   // a slice is over
	EventRestore EventKind = "restore" // what there was before is brought back
)

type Event struct {
	Kind   EventKind
	Block  int             // the first one with the settings, of EventApply and EventRun
	Trials []journal.Trial // of EventSlice
}

type Run struct {
	Place   Place
	Next    func([]journal.Trial) judge.Step // what the slices so far lead to
	Every   time.Duration                    // between two looks for harm
	Length  time.Duration                    // of a slice
	Jitter  float64                          // share of the length by which a slice is shorter or longer at most, at random
	Queries []journal.Query
	Ask     journal.Asker             // nil where there are no queries
	Append  func(journal.Trial) error // keeps a setting's slice before anything else is done
	Tell    func(Event)

	open   func() error // the journal, once the place is looked at; nil: there is none
	trials []journal.Trial
	runs   []journal.Setting // now
	marked time.Time         // when the last slice ended, or counting began
	random *rand.Rand
}

// Into runs it with a journal in a folder from when the place was looked at: what Begin found may
// be in its header. quote takes the credentials out of what others said. begun reports that
// there is a journal.
func (r *Run) Into(ctx context.Context, h journal.Header, dir string, quote func(string) string) (end *journal.End, begun bool, err error) {
	var made *folder.Dir
	var w *journal.Writer
	r.open = func() (err error) {
		if made, err = folder.Make(dir); err != nil {
			return err
		}
		w, err = journal.Create(made, h, quote)
		return err
	}
	r.Append = func(t journal.Trial) error { return w.Append(t) }
	end, err = r.Run(ctx, h.Plan.Seed)
	if made != nil {
		defer made.Close()
	}
	if w == nil {
		return end, false, err
	}
	defer w.Close()
	return end, true, errors.Join(err, w.AppendEnd(*end))
}

// Run does all blocks. How it ended is never nil; the error is what else went wrong, with what
// could not be restored among it.
func (r *Run) Run(ctx context.Context, seed uint64) (*journal.End, error) {
	r.random = rand.New(rand.NewPCG(seed, seed))
	err := r.begin(ctx)
	if err == nil {
		err = r.blocks(ctx)
	}
	r.Tell(Event{Kind: EventRestore, Block: r.block()})
	restored := r.Place.Restore(context.WithoutCancel(ctx))
	end := &journal.End{}
	switch early, ended := errors.AsType[*EndError](err); {
	case ended:
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

func (r *Run) block() int {
	if len(r.trials) == 0 {
		return 0
	}
	return r.trials[len(r.trials)-1].Block
}

// begin looks at the place, and keeps what it was like.
func (r *Run) begin(ctx context.Context) error {
	trials, err := r.Place.Begin(ctx)
	if err == nil && r.open != nil {
		err = r.open()
	}
	for _, t := range trials {
		if err == nil {
			err = r.Append(*t)
		}
	}
	return err
}

// blocks ends with an error, which is how the experiment ends.
func (r *Run) blocks(ctx context.Context) error {
	for {
		next := r.Next(r.trials)
		if next.End != nil {
			return &EndError{*next.End}
		}
		r.random.Shuffle(len(next.Settings), func(i, j int) { next.Settings[i], next.Settings[j] = next.Settings[j], next.Settings[i] })
		order := 0
		for _, settings := range next.Settings {
			// Those that take turns begin with the same change, also the one that is first after it was last.
			turns := len(next.Settings) > 1
			if err := r.visit(ctx, next, order, settings, turns || !same(r.runs, settings)); err != nil {
				return err
			}
			order += len(settings)
		}
	}
}

func same(a, b []journal.Setting) bool {
	return slices.EqualFunc(a, b, func(a, b journal.Setting) bool { return a.Key() == b.Key() })
}

// visit keeps what settings do in a slice.
func (r *Run) visit(ctx context.Context, step judge.Step, order int, settings []journal.Setting, apply bool) (err error) {
	if apply {
		err = r.apply(ctx, step, settings)
	}
	var trials []*journal.Trial
	var started time.Time
	if err == nil {
		started = r.marked
		trials, err = r.slice(ctx)
	}
	if left, ok := errors.AsType[*Left](err); ok {
		trials, r.runs, err = left.Trials, nil, nil
	}
	if err != nil {
		return err
	}
	var kept []journal.Trial
	for i, t := range trials {
		if t.Valid, t.Block, t.Order = t.InvalidCode == "", step.Block, order+i; t.Role == "" {
			t.Role = journal.RoleMeasure
		}
		if t.Started.IsZero() {
			t.Started, t.DurationSeconds = started, r.marked.Sub(started).Seconds()
		}
		if err := r.Append(*t); err != nil {
			return err
		}
		kept = append(kept, *t)
	}
	r.trials = append(r.trials, kept...)
	r.Tell(Event{Kind: EventSlice, Block: step.Block, Trials: kept})
	return nil
}

// apply makes settings run, and has them counted after the burn-in.
func (r *Run) apply(ctx context.Context, step judge.Step, settings []journal.Setting) error {
	r.Tell(Event{Kind: EventApply, Block: step.Block})
	if err := r.Place.Apply(ctx, settings); err != nil {
		return err
	}
	r.runs = settings
	r.Tell(Event{Kind: EventRun, Block: step.Block})
	if err := r.until(ctx, time.Now().Add(step.BurnIn)); err != nil {
		return err
	}
	_, err := r.Place.Slice(ctx)
	r.marked = time.Now()
	return err
}

// until watches the place up to a time, by looks that are about as long as one another.
func (r *Run) until(ctx context.Context, t time.Time) error {
	for left := time.Until(t); left > 0; left = time.Until(t) {
		if err := wait.For(ctx, left/((left+r.Every-1)/r.Every)); err != nil {
			return err
		}
		if err := r.Place.Watch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// slice is what the settings do in a slice: from the end of the one before, however long its
// queries took.
func (r *Run) slice(ctx context.Context) ([]*journal.Trial, error) {
	length := r.Length
	if r.Jitter > 0 {
		length = time.Duration(float64(length) * (1 - r.Jitter + 2*r.Jitter*r.random.Float64()))
	}
	if err := r.until(ctx, r.marked.Add(length)); err != nil {
		return nil, err
	}
	trials, err := r.Place.Slice(ctx)
	if err != nil {
		return nil, err
	}
	r.marked = time.Now()
	return trials, r.ask(ctx, trials)
}

// ask makes the queries metrics of all settings' slices, which are watched meanwhile.
func (r *Run) ask(ctx context.Context, trials []*journal.Trial) error {
	n, at := len(r.Queries), r.marked
	answers, err := Meanwhile(ctx, r.Every, r.Place.Watch, len(trials)*n, func(ctx context.Context, i int) (*float64, error) {
		pods := phrase.Each(trials[i/n].Pods, func(p journal.Pod) string { return p.Name })
		return r.Ask(ctx, r.Queries[i%n].Name, r.Length, pods, at)
	})
	for i, a := range answers {
		better := "lower"
		if r.Queries[i%n].Name == judge.FigureRequests {
			better = "higher"
		}
		trials[i/n].Keep(r.Queries[i%n], better, a)
	}
	return err
}

// Meanwhile are the answers to n questions; until all are there, watch is called again and again.
func Meanwhile(ctx context.Context, every time.Duration, watch func(context.Context) error, n int, ask func(ctx context.Context, i int) (*float64, error)) ([]journal.Answer, error) {
	all := make(chan []journal.Answer, 1)
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		all <- journal.Ask(n, func(i int) (*float64, error) { return ask(within, i) })
	}()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case answers := <-all:
			return answers, ctx.Err()
		case <-time.After(every):
			if err := watch(ctx); err != nil {
				return nil, err
			}
		}
	}
}
