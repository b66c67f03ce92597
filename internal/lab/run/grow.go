package run

import (
	"context"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/lab"
)

// More is a stage that is given more blocks.
type More struct {
	Name       string   // the session's
	Have, Want int      // blocks
	Trials     int      // that those take
	Open       []string // the hypotheses, by their ids, whose interval holds a bound
}

const (
	// fewestMore is how many blocks are worth the start of a stage.
	fewestMore = 2
	// mostBlocks is what a stage may have at most; sweep bounds it too.
	mostBlocks = 1000
)

// Cost is about how long the whole of the run takes, whatever its journals hold already.
func (r *Run) Cost() (d time.Duration) {
	for _, p := range r.Planned() {
		if p.Session != nil {
			d += p.Each * time.Duration(p.Session.Trials())
		}
	}
	return d
}

// UntilDecided adds blocks to the stages of hypotheses whose interval holds a bound, as many
// as they have, until all is decided, or each stage was judged as often as its interval
// allows, or the added trials have taken the budget. It follows Measure, in a run whose
// Options let it grow.
func (r *Run) UntilDecided(ctx context.Context, on Events, budget time.Duration) error {
	on = on.orNot()
	c := r.compilers(on)
	defer c.close()
	began, expected := r.options.Now(), time.Duration(0)
	for {
		grown := false
		for _, g := range r.undecided() {
			left := budget - max(expected, r.options.Now().Sub(began))
			want := g.affordable(left)
			if want == 0 {
				continue
			}
			g.stage.session.Grow(want)
			g.stage.trials = g.stage.session.Missing()
			on.More(More{g.stage.session.Header.Name, g.have, want, g.stage.trials, g.open})
			on.Stage(Turn{Name: g.stage.session.Header.Name, Number: g.number, Experiments: len(r.items)})
			expected += g.block * time.Duration(want-g.have)
			grown, g.item.changed = true, true
			if err := r.measure(ctx, g.item, g.stage, c); err != nil {
				return err
			}
		}
		if !grown {
			return nil
		}
		if err := r.Write(); err != nil {
			return err
		}
	}
}

// undecided is a stage whose hypotheses more blocks may decide.
type undecided struct {
	item   *item
	number int // of the experiment, from 1
	stage  *stage
	have   int           // blocks
	block  time.Duration // that one takes; 0: not known
	open   []string
}

// affordable is how many blocks it is to have; 0: as many as it has. Each round doubles
// them, so that a stage is judged only a few times.
func (g undecided) affordable(left time.Duration) int {
	more := min(g.have, mostBlocks-g.have)
	if g.block > 0 {
		more = min(more, int(left/g.block))
	}
	if more < fewestMore || left <= 0 {
		return 0
	}
	return g.have + more
}

// undecided are the stages whose blocks leave a hypothesis open, each once.
func (r *Run) undecided() (list []undecided) {
	for i, x := range r.items {
		at := slices.IndexFunc(r.Outcome.Experiments, func(e lab.Ran) bool { return e.ID == x.ID })
		if at < 0 {
			continue
		}
		ran := r.Outcome.Experiments[at]
		open := ran.Open(x.Experiment)
		for _, s := range x.stages {
			m := ran.Measured[s.ID]
			if s.session == nil || len(open[s.ID]) == 0 || m.Result == nil || m.Rounds+1 >= lab.Rounds || s.ran.Stopped != "" {
				continue
			}
			trials := len(m.Result.Plan.Settings) + len(m.Result.Plan.AA)
			list = append(list, undecided{x, i + 1, s, m.Result.Plan.Blocks, s.each * time.Duration(trials), open[s.ID]})
		}
	}
	return list
}
