package run

import (
	"context"
	"errors"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Events are called as a run continues. All must return at once.
type Events struct {
	Stage    func(Turn) // a stage is next
	NotRun   func(experiment, stage, why string)
	Fetch    func(version string) // a toolchain
	Compile  func(program, version string)
	Trouble  func(err error)                // what was to be looked at could not be, or what a stage started could not be removed
	Torn     func(path string, bytes int64) // of a resumed journal the last line is left out
	Activity plan.Observer                  // what the Runner does
	Progress func(plan.Progress)            // a trial starts or has ended
	More     func(experiment, hypothesis string, blocks int)
}

// Turn is a stage's, among all.
type Turn struct {
	Name        string        // the session's
	Number      int           // of the experiment, from 1
	Experiments int           // that there are
	Later       time.Duration // what the stages after this one are expected to take
}

// Measure runs every stage, in the folder that is open, and then adds blocks. The error ends the run: the
// end of ctx, a journal that cannot be written, or, with a *session.Refusal in its
// chain, one of another plan; what is wrong with one stage is reported of that stage.
func (r *Run) Measure(ctx context.Context, on Events) error {
	c, began := r.compilers(on), r.options.Now()
	defer c.close()
	r.budget = r.Budget()
	for i, x := range r.items {
		x.changed = true
		for j, s := range x.stages {
			if s.Session != nil {
				on.Stage(Turn{Name: s.Session.Header.Name, Number: i + 1, Experiments: len(r.items), Later: r.after(i, j)})
				if err := r.measure(ctx, x, s, c); err != nil {
					return err
				}
			}
			if s.ran.NotRun != "" {
				on.NotRun(x.ID, s.ID, s.ran.NotRun)
			}
		}
		if x.Trace != "" || r.options.Machine.Look != nil && x.files == nil { // which makes pods, once
			files, err := r.look(ctx, x.Experiment)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				on.Trouble(err)
			}
			x.files = files
		}
		if err := r.Write(); err != nil {
			return err
		}
	}
	return r.decide(ctx, on, c, began)
}

func (r *Run) measure(ctx context.Context, x *item, s *stage, c *compilers) error {
	if err := s.prepare(ctx, c, x.Experiment, r.options.Tool.GoVersion); err != nil {
		return err
	}
	runner, err := r.options.Machine.Runner(s.Session, s.programs)
	if err != nil {
		return err
	}
	defer func() {
		if err := runner.Close(); err != nil {
			c.on.Trouble(err)
		}
	}()
	if r.waited && s.Session.Spec.Patience > 0 { // 0 would measure next to the other programs
		s.Session.Spec.Patience = time.Millisecond
	}
	begun, err := s.Session.Run(ctx, runner, session.Events{Torn: c.on.Torn, Activity: c.on.Activity, Progress: c.on.Progress})
	var unwritten *session.JournalError
	var refused *session.Refusal
	var busy *plan.BusyError
	settled := errors.As(err, &busy) && busy.Settled
	r.waited = r.waited || busy != nil && !settled
	switch {
	case err == nil || settled:
		return nil
	case ctx.Err() != nil:
		return err
	case errors.As(err, &unwritten) && (begun || errors.As(err, &refused)):
		return err
	case begun:
		s.ran.Stopped = phrase.Plain(err)
	default:
		s.ran.NotRun = phrase.Plain(err)
	}
	return nil
}
