// Package canary runs a canary, as package verdict/canary describes and judges one: it makes
// the pods of each round, counts by slices of time, and ends at the first harm.
package canary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan"
	judge "github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Place is where the pods are.
type Place interface {
	// Begin makes the pods of some settings and returns when all of them serve. A
	// *NotStartedError is that one of them does not come to.
	Begin(context.Context, []journal.Setting) error
	// Conditions are all pods as they are now.
	Conditions(context.Context) ([]Condition, error)
	// Mark is what every setting, in the order of Begin, did since the Mark before;
	// with the first counting begins.
	Mark(context.Context) ([]journal.Trial, error)
	// End removes the pods, and returns when they are gone. It is called after a Begin
	// that failed too.
	End(context.Context) error
}

// NotStartedError is that a pod does not come to serve.
type NotStartedError struct {
	Setting string
	Reason  string
}

func (e *NotStartedError) Error() string {
	return fmt.Sprintf("GOMAXPROCS %s: %s", e.Setting, e.Reason)
}

// EventKind is a step of a Run.
type EventKind string

const (
	EventBegin EventKind = "begin" // the pods of a round are made
	EventServe EventKind = "serve" // they serve
	EventSlice EventKind = "slice" // a slice is over
	EventEnd   EventKind = "end"   // the pods of a round are removed

	EventUnreached EventKind = "unreached" // no request has come in ToldAfter slices
)

// Event is reported as a Run continues.
type Event struct {
	Kind  EventKind
	Round int
	Slice judge.Slice // of EventSlice
}

// Run is one canary at work.
type Run struct {
	Header judge.Header
	Place  Place
	Ask    journal.Asker             // nil where the header has no queries
	Append func(journal.Trial) error // keeps a setting's slice before anything else is done
	Tell   func(Event)
}

// Pods is a Place whose run begins before the first round, and ends after the last.
type Pods interface {
	Place
	Prepare(context.Context, journal.Plan, plan.Observer) error
	Close() error
}

// Into runs it with a journal in a folder. quote takes the credentials out of what others said;
// left gets what could not be removed. How it ended is nil where there is no journal.
func (r *Run) Into(ctx context.Context, pods Pods, dir string, quote func(string) string, left func(error)) (end *journal.End, err error) {
	made, err := folder.Make(dir)
	if err != nil {
		return nil, err
	}
	defer made.Close()
	defer func() {
		if err := pods.Close(); err != nil {
			left(err)
		}
	}()
	if err := pods.Prepare(ctx, journal.Plan{}, nil); err != nil {
		return nil, err
	}
	w, err := journal.Create(made, r.Header.Header, quote)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	r.Place, r.Append = pods, w.Append
	end, err = r.Run(ctx)
	return end, errors.Join(err, w.AppendEnd(*end))
}

// between is how long between two looks at the pods.
const between = time.Second

// Run goes through all rounds. How it ended is never nil; the error is what else went
// wrong, with pods that are not gone among it.
func (r *Run) Run(ctx context.Context) (*journal.End, error) {
	for round := range r.Header.Canary.Rounds {
		end, err := r.round(ctx, round)
		if end != nil || err != nil {
			return r.ended(ctx, end, err)
		}
	}
	return &journal.End{Time: time.Now(), Code: journal.EndComplete}, nil
}

// ended is the End that an error comes to, where there is none yet.
func (r *Run) ended(ctx context.Context, end *journal.End, err error) (*journal.End, error) {
	var not *NotStartedError
	switch {
	case end != nil:
	case ctx.Err() != nil:
		end = &journal.End{Code: journal.EndInterrupted}
	case errors.As(err, &not):
		end = &journal.End{Code: journal.EndNotStarted, Reason: not.Error()}
	default:
		end = &journal.End{Code: journal.EndFailed, Reason: err.Error()}
	}
	end.Time = time.Now()
	return end, err
}

// round has its pods removed whatever happens.
func (r *Run) round(ctx context.Context, n int) (end *journal.End, err error) {
	defer func() {
		r.Tell(Event{Kind: EventEnd, Round: n})
		err = errors.Join(err, r.Place.End(context.WithoutCancel(ctx)))
	}()
	r.Tell(Event{Kind: EventBegin, Round: n})
	if err := r.Place.Begin(ctx, r.Header.Canary.Rounds[n]); err != nil {
		return nil, err
	}
	r.Tell(Event{Kind: EventServe, Round: n})
	var w watch
	if end, err := r.until(ctx, &w, time.Now().Add(r.Header.Warmup())); end != nil || err != nil {
		return end, err
	}
	if _, err := r.Place.Mark(ctx); err != nil {
		return nil, err
	}
	marked := time.Now() // a slice is from one Mark to the next, however long its queries take
	var list []judge.Slice
	for i := range r.Header.Slices() {
		if end, err := r.until(ctx, &w, marked.Add(r.Header.Slice())); end != nil || err != nil {
			return end, err
		}
		s, now, err := r.slice(ctx, n*r.Header.Slices()+i, marked)
		if err != nil {
			return nil, err
		}
		marked = now
		r.Tell(Event{Kind: EventSlice, Round: n, Slice: s})
		list = append(list, s)
		if h := r.Header.Harm(slices.Concat(list...)); h != nil {
			return &journal.End{Code: journal.EndHarm, Harm: h}, nil
		}
		if judge.Unreached(list) && len(list) == judge.ToldAfter {
			r.Tell(Event{Kind: EventUnreached, Round: n})
		}
		if judge.Unreached(list) && len(list) >= r.Header.Patience() {
			return &journal.End{Code: journal.EndUnreached}, nil
		}
	}
	return nil, nil
}

// until watches the pods up to a time.
func (r *Run) until(ctx context.Context, w *watch, t time.Time) (*journal.End, error) {
	for {
		list, err := r.Place.Conditions(ctx)
		if err != nil {
			return nil, err
		}
		h, taken := w.see(time.Now(), list)
		switch {
		case h != nil:
			return &journal.End{Code: journal.EndHarm, Harm: h}, nil
		case taken != "":
			return &journal.End{Code: journal.EndTaken, Reason: taken}, nil
		}
		left := time.Until(t)
		if left <= 0 {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(left, between)):
		}
	}
}

// slice is what the settings did in a slice that is over, and when it was.
func (r *Run) slice(ctx context.Context, block int, started time.Time) (judge.Slice, time.Time, error) {
	trials, err := r.Place.Mark(ctx)
	if err != nil {
		return nil, started, err
	}
	now := time.Now()
	for order := range trials {
		t := &trials[order]
		t.Role, t.Origin, t.Valid = journal.RoleMeasure, journal.OriginKube, true
		t.Block, t.Order, t.Started, t.DurationSeconds = block, order, started, now.Sub(started).Seconds()
	}
	if err := r.ask(ctx, trials, now); err != nil {
		return nil, now, err
	}
	for _, t := range trials {
		if err := r.Append(t); err != nil {
			return nil, now, err
		}
	}
	return trials, now, nil
}

// ask makes the queries metrics of all settings' slices.
func (r *Run) ask(ctx context.Context, trials []journal.Trial, now time.Time) error {
	queries := r.Header.Canary.Queries
	answers := journal.Ask(len(trials)*len(queries), func(i int) (*float64, error) {
		var pods []string
		for _, p := range trials[i/len(queries)].Pods {
			pods = append(pods, p.Name)
		}
		return r.Ask(ctx, queries[i%len(queries)].Name, r.Header.Slice(), pods, now)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, a := range answers {
		better := "lower"
		if queries[i%len(queries)].Name == judge.Requests {
			better = "higher"
		}
		trials[i/len(queries)].Keep(queries[i%len(queries)], better, a)
	}
	return nil
}

// Condition is one pod as it is.
type Condition struct {
	Setting, Pod string
	Ended        string // how a container ended; empty: all run, for the first time
	Taken        string // by whom the pod was taken away; empty: it is there
	Ready        bool
	Detail       string // what it says of not being ready
}

// watch looks for harm in what pods are from time to time.
type watch struct{ unready map[string]time.Time }

// see is the harm, or by whom a pod was taken away, which is none of the setting's.
func (w *watch) see(now time.Time, list []Condition) (*journal.Harm, string) {
	if w.unready == nil {
		w.unready = map[string]time.Time{}
	}
	for _, c := range list {
		switch {
		case c.Taken != "":
			return nil, c.Taken
		case c.Ended != "":
			return &journal.Harm{Code: journal.HarmEnded, Setting: c.Setting, Pod: c.Pod, Detail: c.Ended}, ""
		case c.Ready:
			delete(w.unready, c.Pod)
			continue
		}
		since, ok := w.unready[c.Pod]
		if !ok {
			w.unready[c.Pod] = now
		} else if now.Sub(since) >= judge.UnreadyMost {
			return &journal.Harm{Code: journal.HarmUnready, Setting: c.Setting, Pod: c.Pod, Detail: c.Detail}, ""
		}
	}
	return nil, ""
}
