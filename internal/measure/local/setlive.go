package local

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/live"
)

// leases are those of a trial's replicas, while their GOMAXPROCS is set in the running
// process.
type leases struct {
	stop context.CancelFunc // nil: there are none
	all  sync.WaitGroup
}

// leaseName is that of a trial's lease: one procfit drives one server at a time.
const leaseName = "70726f6366697420737765657020736574"

// setLive sets GOMAXPROCS in every replica, through its control endpoint, and keeps it set
// until the end of the trial.
func (r *run) setLive(ctx context.Context, procs int) error {
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.leases.stop = stop
	for i, one := range r.fleet {
		c, err := r.control(ctx, one)
		if err == nil {
			_, err = c.Lease(ctx, leaseName, live.LongestLease)
		}
		if err == nil {
			_, err = c.Procs(ctx, leaseName, procs, 1)
		}
		if err != nil {
			return trial.Invalid(journal.InvalidProcs, "GOMAXPROCS cannot be set to %d in the running replica %d: %v", procs, i+1, err)
		}
		r.leases.all.Go(func() {
			for {
				select {
				case <-keep.Done():
					return
				case <-time.After(live.LongestLease / 3):
					_, _ = c.Lease(keep, leaseName, live.LongestLease) // without it the value changes back, which invalidates the trial
				}
			}
		})
	}
	return nil
}

// control is a replica's control endpoint. The process that listens may be a child of the
// one that was started.
func (r *run) control(ctx context.Context, one *replica) (c *meter.Client, err error) {
	err = fmt.Errorf("no process of it has a control socket")
	for _, pid := range one.pids() {
		if c, err = (meter.Target{Name: strconv.Itoa(pid)}).Find(ctx); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (l *leases) end() {
	if l.stop != nil {
		l.stop()
		l.all.Wait()
	}
}
