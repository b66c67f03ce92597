package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// leases are those of a trial's replicas, while their GOMAXPROCS is set in the running
// process.
type leases struct {
	stop context.CancelFunc // nil: there are none
	all  sync.WaitGroup
}

// setLive sets GOMAXPROCS in every replica while it runs: by a lease, which is kept until the
// end of the trial, where the program allows it (maxprocs/live), else by a call from outside.
func (r *run) setLive(ctx context.Context, procs int) error {
	if _, err := r.readServers(); err != nil { // which process it is
		return err
	}
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.leases.stop = stop
	for i, one := range r.fleet {
		leased, err := r.lease(ctx, keep, one.program, procs)
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
func (r *run) lease(ctx, keep context.Context, pid, procs int) (bool, error) {
	p, err := r.meters.Open(pid)
	if err != nil { // a call says why, if it cannot be read at all
		return false, nil
	}
	_, err = p.Lease(ctx, procs, meter.LongestLease)
	if refusal, ok := errors.AsType[*meter.Refusal](err); ok && refusal.Why == meter.NotAllowed {
		err = p.Close()
		return false, err
	}
	if err != nil {
		return false, errors.Join(err, p.Close())
	}
	r.leases.all.Go(func() {
		defer p.Close()
		for {
			select {
			case <-keep.Done():
				return
			case <-time.After(meter.LongestLease / 3):
				_, _ = p.Lease(keep, procs, meter.LongestLease) // without it the value changes back, which invalidates the trial
			}
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
		_, err := steer.Set(steer.Request{Program: program, Value: steer.Value{Procs: procs}})
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

func (l *leases) end() {
	if l.stop != nil {
		l.stop()
		l.all.Wait()
	}
}
