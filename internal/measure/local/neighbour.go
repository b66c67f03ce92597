package local

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// neighbourStart is how long a neighbour has to start, in addition to the warm-up.
const neighbourStart = 200 * time.Millisecond

type neighbour struct {
	replica
	quota *float64 // nil or 0: it has none
	log   *log
}

// startNeighbour starts the neighbour, if there is to be one, on the CPUs of the target.
// port is that of the target's first copy.
func (r *run) startNeighbour(ctx context.Context, port int) (err error) {
	b := r.spec.Target.Beside
	if b == nil {
		return nil
	}
	logs, err := r.makeLogs(1, "-beside")
	if err != nil {
		return err
	}
	one := &neighbour{log: logs[0], quota: cmp.Or(b.Quota, r.Setting.QuotaCPUs)}
	defer func() {
		if err != nil {
			err = trial.Stopped(err, one.end(0))
		}
	}()
	spec := supervisor.Spec{Command: target.ExpandPort(b.Command, port), Env: r.config.Environ, CPUs: r.targetOn(), Log: one.log.file, LogLimit: trial.LogLimit}
	if one.group, err = r.newGroup("--beside", &spec, b.Shares, one.quota); err != nil {
		return err
	}
	r.Step(plan.StepNeighbour)
	if one.Process, err = supervisor.Start(ctx, spec); err != nil {
		return fmt.Errorf("--beside: %w", err)
	}
	select {
	case <-one.Done():
	case <-ctx.Done():
	case <-time.After(neighbourStart):
	}
	if err = ctx.Err(); err == nil {
		err = one.checkRunning()
	}
	if err == nil {
		r.neighbour = one
	}
	return err
}

// end stops the neighbour and removes its group. There need not be one.
func (n *neighbour) end(grace time.Duration) (err error) {
	if n == nil {
		return nil
	}
	if n.Process != nil {
		_, err = n.Stop(grace)
	}
	if n.group != nil {
		_ = n.group.Remove() // a later run removes what stays
	}
	n.log.file.Close()
	return err
}

// checkRunning fails without a neighbour that is to run: the trial was not what was asked for.
func (n *neighbour) checkRunning() error {
	if n == nil || !n.ended() {
		return nil
	}
	exit, err := n.Wait()
	if err != nil {
		return trial.Invalid(journal.InvalidBeside, "procfit lost the --beside program during the trial: %v", err)
	}
	if err := n.log.kept(exit); err != nil {
		return err
	}
	return trial.Invalid(journal.InvalidBeside, "the --beside program ended before the trial: it %v; it must run until procfit stops it; %s", exit, n.LastWords(supervisor.QuotedLines))
}

// neighbourCPU is the neighbour's CPU time so far, with that of its children that it waited
// for; nil without one, and where this system does not tell.
func (r *run) neighbourCPU() *time.Duration {
	if r.neighbour == nil || r.sampler == nil {
		return nil
	}
	pids := r.neighbour.pids()
	if pids == nil {
		return nil
	}
	return new(observe.TreeCPU(pids))
}

func (r *run) neighbourCPUSince(before *time.Duration) *time.Duration {
	now := r.neighbourCPU()
	if before == nil || now == nil {
		return nil
	}
	return new(max(0, *now-*before))
}
