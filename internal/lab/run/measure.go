package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
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
	var refused *session.Refusal
	runner, err := r.options.Machine.Runner(s.Session, s.programs)
	if errors.As(err, &refused) {
		s.ran.NotRun = r.why(err)
		return nil
	}
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
		s.ran.Stopped = r.why(err)
	default:
		s.ran.NotRun = r.why(err)
	}
	return nil
}

// fewestMore is how many blocks are worth the start of a stage.
const fewestMore = 2

// First is the expected time of the first blocks.
func (r *Run) First() (d time.Duration) {
	for _, p := range r.Planned() {
		d += p.Cost()
	}
	return d
}

// Budget is how long the run may take, its first blocks among it; 0: it adds none.
func (r *Run) Budget() time.Duration {
	each, least := 10*time.Second, 5*time.Minute
	if r.options.Chosen.Quick {
		each, least = time.Second, 30*time.Second
	}
	switch {
	case r.options.Fixed:
		return 0
	case r.options.Most > 0:
		return r.options.Most
	}
	return r.First() + max(least, each*time.Duration(r.questions))
}

// mostInVain is how often in turn a hypothesis gets blocks without a valid trial: what slows a
// machine down may be over after the turns of the others.
const mostInVain = 3

// decide adds blocks where a hypothesis is open, of the settings that it is about: always to the
// one that takes least time, of those that were given the fewest in vain, until all are decided or
// none can be in what the budget leaves.
func (r *Run) decide(ctx context.Context, on Events, c *compilers, began time.Time) error {
	inVain := map[string]int{} // in turn, by hypothesis
	for {
		left := r.budget - r.options.Now().Sub(began)
		next := nearest(r.runnable(), left, inVain)
		if next == nil {
			return nil
		}
		if err := r.add(ctx, on, c, next); err != nil {
			return err
		}
		if err := r.Write(); err != nil {
			return err
		}
		for _, now := range r.Outcome.Ran(next.item.ID).Hypotheses {
			if now.ID != next.Hypothesis {
				continue
			}
			if inVain[next.name()]++; now.Measured.N > next.Had {
				inVain[next.name()] = 0
			}
		}
	}
}

// add measures blocks for an open hypothesis, in all of its stages. It has at most as many more as
// it has: what more of them would decide is known better then.
func (r *Run) add(ctx context.Context, on Events, c *compilers, o *open) error {
	blocks := max(fewestMore, min(o.Blocks, o.Had))
	on.More(o.item.ID, o.Hypothesis, blocks)
	for _, s := range o.item.stages {
		settings := o.Settings[s.ID]
		if len(settings) == 0 {
			continue
		}
		s.Session.Grow(settings, blocks)
		s.Trials = s.Session.Missing()
		on.Stage(Turn{Name: s.Session.Header.Name, Number: o.number, Experiments: len(r.items)})
		o.item.changed = true
		if err := r.measure(ctx, o.item, s, c); err != nil {
			return err
		}
	}
	return nil
}

// open is a hypothesis that more blocks may decide.
type open struct {
	lab.More
	item   *item
	number int // of the experiment, from 1
}

func (o *open) name() string { return o.item.ID + "/" + o.Hypothesis }

// takes is how long its blocks take, and the starts of its stages.
func (o *open) takes() time.Duration {
	return time.Duration(o.Seconds*float64(time.Second)) + startStage*time.Duration(len(o.Settings))
}

// runnable are the open hypotheses that blocks can be run for.
func (r *Run) runnable() (list []*open) {
	for i, x := range r.items {
		ran := r.Outcome.Ran(x.ID)
		if ran == nil {
			continue
		}
		for _, m := range ran.More() {
			if x.runs(m) {
				list = append(list, &open{More: m, item: x, number: i + 1})
			}
		}
	}
	return list
}

// nearest is the hypothesis to give blocks to, of those that are decided in what is left; nil: none.
func nearest(list []*open, left time.Duration, inVain map[string]int) *open {
	list = slices.DeleteFunc(list, func(o *open) bool { return o.takes() > left || inVain[o.name()] >= mostInVain })
	if len(list) == 0 {
		return nil
	}
	return slices.MinFunc(list, func(a, b *open) int {
		return cmp.Or(cmp.Compare(inVain[a.name()], inVain[b.name()]), cmp.Compare(a.takes(), b.takes()))
	})
}

// runs reports whether all stages can be run that blocks are for.
func (x *item) runs(m lab.More) bool {
	for id, settings := range m.Settings {
		if len(settings) == 0 || !slices.ContainsFunc(x.stages, func(s *stage) bool { return s.ID == id && s.Session != nil && s.ran.Stopped == "" }) {
			return false
		}
	}
	return len(m.Settings) > 0
}
