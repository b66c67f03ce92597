package run

import (
	"context"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/lab"
)

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

// decide adds blocks where a hypothesis is open, of the settings that it is about: always to the
// one that takes least time, until all are decided or none can be in what the budget leaves.
func (r *Run) decide(ctx context.Context, on Events, c *compilers, began time.Time) error {
	var given []string // more blocks, which said nothing
	for {
		left := r.budget - r.options.Now().Sub(began)
		next := r.nearest(left, given)
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
			if now.ID == next.Hypothesis && now.Measured.N <= next.Had {
				given = append(given, next.name())
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

// nearest is the open hypothesis that least time decides, of those that are decided in what is
// left; nil: there is none.
func (r *Run) nearest(left time.Duration, but []string) (best *open) {
	for i, x := range r.items {
		ran := r.Outcome.Ran(x.ID)
		if ran == nil {
			continue
		}
		for _, m := range ran.More() {
			o := &open{More: m, item: x, number: i + 1}
			if x.runs(m) && !slices.Contains(but, o.name()) && o.takes() <= left && (best == nil || o.takes() < best.takes()) {
				best = o
			}
		}
	}
	return best
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
