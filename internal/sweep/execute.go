package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/journal"
)

// Progress is where a run stands.
type Progress struct {
	Task      Task
	Trial     *journal.Trial // the trial that has just ended; nil when one begins
	Done      int            // trials that are in the journal
	Total     int
	Remaining time.Duration // 0: not known yet
}

// Execution is a run of a plan.
type Execution struct {
	Plan journal.Plan
	// Have is what the journal holds already; these tasks are not run again, but
	// for pilots that were invalid.
	Have   []journal.Trial
	Runner Runner
	// Observe is told what the Runner does; may be nil.
	Observe Observer
	// Append puts a trial into the journal.
	Append func(journal.Trial) error
	// Tolerant goes on where all trials of a block were invalid, or a pilot: that
	// they are is an answer too. A group without a valid pilot has no open loop.
	Tolerant bool
	// Rate is the open loop's rate where the user gave one. Without it, and with
	// pilots in the plan, it is half of the capacity that the pilots found.
	Rate *float64
	// Report is told of every beginning and end; may be nil.
	Report func(Progress)
	// Each is the expected time of a trial, 0 where only a first one can tell.
	Each time.Duration
	// Now is the clock.
	Now func() time.Time
}

// capacityShare is the part of the unset arm's capacity at which the open loop
// runs: high enough for queueing to show, low enough for the smaller arms to
// carry it.
const capacityShare = 0.5

// Run carries out what the journal lacks. It returns when all is done, when ctx
// ends (with its error), when the Runner or the journal fails, or when a pilot
// or a whole block was invalid, since the rest would be too.
func (e Execution) Run(ctx context.Context) error {
	tasks := Schedule(e.Plan)
	missing := Missing(tasks, e.Have)
	trials := slices.Clone(e.Have)
	pace := pace{each: e.Each}
	for i, task := range missing {
		if err := ctx.Err(); err != nil {
			return err
		}
		rate, err := e.rate(task, trials)
		if err != nil {
			return err
		}
		task.RatePerSecond = rate
		progress := Progress{Task: task, Done: len(tasks) - len(missing) + i, Total: len(tasks), Remaining: pace.remaining(len(missing) - i)}
		e.report(progress)
		began := e.Now()
		trial, err := e.Runner.Run(ctx, task, e.Observe)
		if err != nil {
			return err
		}
		pace.add(e.Now().Sub(began))
		trial.Arm, trial.Role, trial.Block, trial.Order = task.Arm, task.Role, task.Block, task.Order
		agreeOnUnit(&trial, trials)
		if err := e.Append(trial); err != nil {
			return fmt.Errorf("a trial could not be kept in the journal, which holds %d: %w", progress.Done, err)
		}
		trials = append(trials, trial)
		progress.Trial, progress.Done, progress.Remaining = &trial, progress.Done+1, pace.remaining(len(missing)-i-1)
		e.report(progress)
		if err := hopeless(e.Plan, trials); err != nil && !e.Tolerant {
			return err
		}
	}
	return nil
}

func (e Execution) report(p Progress) {
	if e.Report != nil {
		e.Report(p)
	}
}

// rate is the open loop's rate for a task: the same for every arm of a group.
func (e Execution) rate(t Task, trials []journal.Trial) (*float64, error) {
	if t.Role == journal.RolePilot {
		return nil, nil
	}
	if e.Rate != nil || e.Plan.Pilots == 0 {
		return e.Rate, nil
	}
	var capacities []float64
	for _, trial := range trials {
		if trial.Role == journal.RolePilot && trial.Valid && trial.Arm.Group() == t.Arm.Group() && trial.ThroughputPerSecond != nil && *trial.ThroughputPerSecond > 0 {
			capacities = append(capacities, *trial.ThroughputPerSecond)
		}
	}
	if len(capacities) == 0 && e.Tolerant {
		return nil, nil
	}
	if len(capacities) == 0 {
		return nil, errors.New("no valid pilot trial to take the rate from: give one with --rate")
	}
	// The mean of the middle one or two is the median.
	slices.Sort(capacities)
	n := len(capacities)
	rate := capacityShare * (capacities[(n-1)/2] + capacities[n/2]) / 2
	return &rate, nil
}

// agreeOnUnit makes a trial invalid whose throughput is in another unit than that of
// its group: compared with each other they would make any figure the best.
func agreeOnUnit(t *journal.Trial, before []journal.Trial) {
	for i := range before {
		b := &before[i]
		if !t.Valid || !b.Valid || b.Arm.Group() != t.Arm.Group() || b.ThroughputUnit == t.ThroughputUnit {
			continue
		}
		t.Valid, t.InvalidCode = false, journal.InvalidUnit
		t.InvalidReason = fmt.Sprintf("its throughput is counted in %s, that of the trials before in %s", t.ThroughputUnit, b.ThroughputUnit)
	}
}

// Missing is the tasks that no trial stands for. An invalid pilot does not stand:
// without a rate nothing can go on. Neither does one for which there was no program.
func Missing(tasks []Task, have []journal.Trial) []Task {
	// A pilot's place is its group's: which arm the group names first may change.
	type place struct {
		role         journal.Role
		block, order int
		group        journal.GroupKey
	}
	placeOf := func(a journal.Arm, role journal.Role, block, order int) place {
		p := place{role: role, block: block, order: order}
		if role == journal.RolePilot {
			p.group = a.Group()
		}
		return p
	}
	done := map[place]bool{}
	for _, t := range have {
		if !t.NotStarted && (t.Role != journal.RolePilot || t.Valid) {
			done[placeOf(t.Arm, t.Role, t.Block, t.Order)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return done[placeOf(t.Arm, t.Role, t.Block, t.Order)] })
}

// ErrHopeless is in the chain of an error that ends a run because its trials
// prove nothing.
var ErrHopeless = errors.New("no valid trial")

// hopeless looks at the last trial: an invalid pilot of a group that has no valid
// one, or the last of a block in which all were invalid, ends the run.
func hopeless(p journal.Plan, trials []journal.Trial) error {
	last := trials[len(trials)-1]
	if last.Valid {
		return nil
	}
	if last.Role == journal.RolePilot {
		if slices.ContainsFunc(trials, func(t journal.Trial) bool {
			return t.Role == journal.RolePilot && t.Valid && t.Arm.Group() == last.Arm.Group()
		}) {
			return nil // the rate comes from that one
		}
		return fmt.Errorf("%w: the pilot was invalid: %s", ErrHopeless, last.InvalidReason)
	}
	n := 0
	for _, t := range trials {
		if t.Role == journal.RolePilot || t.Block != last.Block {
			continue
		}
		if t.Valid {
			return nil
		}
		n++
	}
	if n < len(p.Arms)+len(p.AA) {
		return nil
	}
	return fmt.Errorf("%w: all %d of block %d were invalid, the last one: %s", ErrHopeless, n, last.Block+1, last.InvalidReason)
}

// pace foretells the remaining time from the trials so far.
type pace struct {
	each  time.Duration
	total time.Duration
	n     int
}

func (p *pace) add(d time.Duration) { p.total += d; p.n++ }

func (p *pace) remaining(trials int) time.Duration {
	each := p.each
	if p.n > 0 {
		each = p.total / time.Duration(p.n)
	}
	return each * time.Duration(trials)
}
