package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// oneStart is a target that is left running for pilots and slices. The first of these has its output.
type oneStart struct {
	fleet  fleet
	logs   []*log
	leases leases
	sized  bool // a slice has the modules that take a size once
}

// slice is one of these tasks: a trial.Place. A slice proper has its value set while the target runs.
type slice struct {
	*run
	whole context.Context // of all tasks: a target ends with the one that it was started in
	clock *time.Timer     // nil: it has no limit
}

// sliceMost is how long a slice may take that is planned to take a thirtieth of that.
const sliceMost = 15 * time.Second

// inOneStart measures a task in the target that the task before it left running, or in one that
// it starts. A target in which a task was invalid is ended.
func (r *runner) inOneStart(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	spec := r.spec.InOneStart(task)
	if r.one != nil || task.Slice() { // else it is warmed up as a trial is
		spec.Load.Warmup = 0
	}
	told := map[journal.GroupKey]bool{task.Setting.Group(): true} // that p99 is not judged, which is of trials
	one := &slice{run: &run{runner: r, Task: trial.NewTask(journal.OriginLocal, spec, task, observe, told), looked: r.one != nil}, whole: ctx}
	t, err := trial.Run(ctx, one, one.Task)
	if task.Slice() && err == nil && r.one != nil && !r.one.sized {
		r.one.sized = true
		if p, unread := r.reader.Program(r.one.fleet[0].program); unread == nil {
			t.SizedAtStart = p.SizedAtStart()
		}
	}
	if err == nil && t.Valid {
		return t, nil
	}
	left := r.endOneStart()
	if _, lost := errors.AsType[*trial.Failure](trial.Lost(left)); lost && err == nil {
		left = nil // nothing of it is left, and the trial has the reason
	}
	return t, trial.Stopped(err, left)
}

func (s *slice) Start(ctx context.Context) ([]string, error) {
	if s.one == nil {
		if err := s.startOne(ctx); err != nil {
			return nil, err
		}
	}
	s.fleet, s.logs = s.one.fleet, s.one.logs
	if err := s.Check(ctx); err != nil || !s.Slice() {
		return s.fleet.urls(), err
	}
	s.clock = time.AfterFunc(sliceMost, func() {
		s.stop(trial.Invalid(journal.InvalidNoAnswer, "a slice was not over after %s", number.Chosen(sliceMost)))
	})
	return s.fleet.urls(), s.setLive(ctx, *s.Setting.Procs)
}

// startOne starts the target, without GOMAXPROCS. Before a slice it is warmed up: a program under
// load takes a value at once, and one that is new is slower.
func (s *slice) startOne(ctx context.Context) error {
	value := s.Setting.Procs
	s.Setting.Procs = nil
	urls, err := s.run.Start(s.whole)
	if s.Setting.Procs = value; err != nil {
		return err
	}
	s.one = &oneStart{fleet: s.fleet, logs: s.logs, leases: leases{held: map[int]*meter.Program{}}}
	if warmup := s.spec.Load.Warmup; s.Slice() && warmup > 0 {
		s.Step(plan.StepWarmup)
		_, _, err = s.Offer(ctx, s.Task.Spec.LoadOptions(urls, 0, warmup), false)
	}
	return err
}

// Stop implements trial.Place. The target is left running.
func (s *slice) Stop(context.Context) (trial.Ending, error) {
	if s.clock != nil {
		s.clock.Stop()
	}
	if s.back != nil {
		defer s.back()
	}
	if s.one == nil { // it did not start
		closeLogs(s.logs)
		return trial.Ending{}, s.fleet.end(s.spec.Target.Grace)
	}
	s.one.leases.rest()
	return trial.Ending{}, nil
}

// endOneStart ends the target that slices left running, if there is one. With an error something
// of it is left, next to which no trial may run. Its output is of no trial.
func (r *runner) endOneStart() error {
	if r.one == nil {
		return nil
	}
	err := r.one.fleet.end(r.spec.Target.Grace)
	r.one.leases.end()
	closeLogs(r.one.logs)
	r.one = nil
	return err
}

// leases are those of a target's replicas, while their GOMAXPROCS is set in the running process.
// Slices of one start share them: a program under a lease refuses another one.
type leases struct {
	held map[int]*meter.Program // by process
	stop context.CancelFunc     // of their renewal; nil: there was none
	all  sync.WaitGroup
}

// setLive sets GOMAXPROCS in every replica while it runs: by a lease, which is kept until the
// end of the trial, where the program allows it (maxprocs/live), else by a call from outside.
func (s *slice) setLive(ctx context.Context, procs int) error {
	if _, err := s.readServers(); err != nil { // which process it is
		return err
	}
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.one.leases.stop = stop
	for i, one := range s.fleet {
		leased, err := s.lease(ctx, keep, one.program, procs)
		if err == nil && !leased {
			err = one.call(ctx, procs)
		}
		if err != nil {
			return trial.Invalid(journal.InvalidNotSet, "GOMAXPROCS cannot be set to %d in the running replica %d: %v", procs, i+1, err)
		}
	}
	return nil
}

// lease has a program use the value until keep ends; false: it does not allow leases.
func (s *slice) lease(ctx, keep context.Context, pid, procs int) (bool, error) {
	l := &s.one.leases
	p := l.held[pid]
	if p == nil {
		var err error
		if p, err = s.meters.Open(pid); err != nil { // a call says why, if it cannot be read at all
			return false, nil
		}
		l.held[pid] = p
	}
	_, err := p.Lease(ctx, procs, meter.LongestLease)
	if refusal, ok := errors.AsType[*meter.Refusal](err); ok && refusal.Why == meter.NotAllowed {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.all.Go(func() {
		for wait.For(keep, meter.LongestLease/3) == nil {
			_, _ = p.Lease(keep, procs, meter.LongestLease) // without it the value changes back, which invalidates the trial
		}
	})
	return true, nil
}

// call has a program set the value itself. That takes a thread that runs Go code or reads, and
// a server that nobody has loaded yet has none: meanwhile it is asked whether it is ready.
func (one *replica) call(ctx context.Context, procs int) error {
	program, err := steer.Identify(one.program)
	if err != nil {
		return fmt.Errorf("no process of it can be called: %w", err)
	}
	asking, end := context.WithCancel(ctx)
	var asker sync.WaitGroup
	asker.Go(func() {
		for asking.Err() == nil {
			one.ask.Ask(asking)
		}
	})
	called := make(chan error, 1)
	go func() {
		_, err := steer.Set(ctx, steer.Request{Program: program, Value: steer.Value{Procs: procs}})
		called <- err
	}()
	select {
	case err = <-called:
	case <-ctx.Done(): // the program is ended, and the call with it
		err = ctx.Err()
	}
	end()
	asker.Wait()
	return err
}

// rest ends their renewal.
func (l *leases) rest() {
	if l.stop != nil {
		l.stop()
		l.all.Wait()
	}
}

// end lets go of the programs, which keep a value until its lease is over.
func (l *leases) end() {
	l.rest()
	for _, p := range l.held {
		p.Close()
	}
}
