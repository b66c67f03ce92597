package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/verdict/journal"
)

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
