package canary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	Mark(context.Context) ([]Seen, error)
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

// Event is told as a Run goes on.
type Event struct {
	Kind  EventKind
	Round int
	Slice *Slice // of EventSlice
}

// Run is one canary at work.
type Run struct {
	Header Header
	Place  Place
	// Ask is a query's value at a time; nil: it has none. It may be nil where the header
	// has no queries.
	Ask    func(ctx context.Context, query string, at time.Time) (*float64, error)
	Record func(Slice) error // keeps a slice before anything else is done
	Tell   func(Event)
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
}

// between is how long between two looks at the pods.
const between = time.Second

// Run goes through all rounds. How it ended is never nil; the error is what else went
// wrong, with pods that are not gone among it.
func (r *Run) Run(ctx context.Context) (*End, error) {
	for round := range r.Header.Rounds {
		end, err := r.round(ctx, round)
		if end != nil || err != nil {
			return r.ended(ctx, end, err)
		}
	}
	return &End{Time: r.Now(), Code: EndComplete}, nil
}

// ended is the End that an error comes to, where there is none yet.
func (r *Run) ended(ctx context.Context, end *End, err error) (*End, error) {
	var not *NotStartedError
	switch {
	case end != nil:
	case ctx.Err() != nil:
		end = &End{Code: EndInterrupted}
	case errors.As(err, &not):
		end = &End{Code: EndNotStarted, Reason: not.Error()}
	default:
		end = &End{Code: EndFailed, Reason: err.Error()}
	}
	end.Time = r.Now()
	return end, err
}

// round has its pods removed whatever happens.
func (r *Run) round(ctx context.Context, n int) (end *End, err error) {
	defer func() {
		r.Tell(Event{Kind: EventEnd, Round: n})
		err = errors.Join(err, r.Place.End(context.WithoutCancel(ctx)))
	}()
	r.Tell(Event{Kind: EventBegin, Round: n})
	if err := r.Place.Begin(ctx, r.Header.Rounds[n]); err != nil {
		return nil, err
	}
	r.Tell(Event{Kind: EventServe, Round: n})
	var w watch
	if end, err := r.until(ctx, &w, r.Now().Add(r.Header.warmup())); end != nil || err != nil {
		return end, err
	}
	if _, err := r.Place.Mark(ctx); err != nil {
		return nil, err
	}
	var list []Slice
	for i := range r.Header.Slices() {
		s := Slice{Round: n, Index: i, Started: r.Now()}
		if end, err := r.until(ctx, &w, s.Started.Add(r.Header.slice())); end != nil || err != nil {
			return end, err
		}
		if err := r.fill(ctx, &s); err != nil {
			return nil, err
		}
		if err := r.Record(s); err != nil {
			return nil, err
		}
		r.Tell(Event{Kind: EventSlice, Round: n, Slice: &s})
		list = append(list, s)
		if h := harmIn(r.Header, list); h != nil {
			return &End{Code: EndHarm, Harm: h}, nil
		}
		if unreached(list) && len(list) == ToldAfter {
			r.Tell(Event{Kind: EventUnreached, Round: n, Slice: &s})
		}
		if unreached(list) && len(list) >= r.Header.Patience() {
			return &End{Code: EndUnreached}, nil
		}
	}
	return nil, nil
}

// until watches the pods up to a time.
func (r *Run) until(ctx context.Context, w *watch, t time.Time) (*End, error) {
	for {
		list, err := r.Place.Conditions(ctx)
		if err != nil {
			return nil, err
		}
		h, taken := w.see(r.Now(), list)
		switch {
		case h != nil:
			return &End{Code: EndHarm, Harm: h}, nil
		case taken != "":
			return &End{Code: EndTaken, Reason: taken}, nil
		}
		left := t.Sub(r.Now())
		if left <= 0 {
			return nil, nil
		}
		if err := r.Sleep(ctx, min(left, between)); err != nil {
			return nil, err
		}
	}
}

// fill is what the settings did in a slice that is over.
func (r *Run) fill(ctx context.Context, s *Slice) (err error) {
	if s.Settings, err = r.Place.Mark(ctx); err != nil {
		return err
	}
	now := r.Now()
	s.Seconds = now.Sub(s.Started).Seconds()
	for i := range s.Settings {
		a := &s.Settings[i]
		a.Queries = map[string]*float64{}
		for _, q := range r.Header.Queries {
			v, err := r.Ask(ctx, q.of(a.Pods, r.Header.slice()), now)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil { // a Prometheus may be away for a while, and a slice has other figures
				why := q.Name + ": " + err.Error()
				if !slices.Contains(a.Unknown, why) {
					a.Unknown = append(a.Unknown, why)
				}
			}
			if q.Name == Requests {
				a.Requests = v
			} else {
				a.Queries[q.Name] = v
			}
		}
	}
	return nil
}

// Wait is a Run's Sleep by the real clock.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
