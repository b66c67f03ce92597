package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// replica is one copy of the target: one that was started, or one that was running already.
type replica struct {
	*supervisor.Process                   // nil: it was running already
	attached            *observe.Standing // nil: it was started
	group               *cgroup.Group     // nil: no setting has a quota
	limits              around            // as it started
	url                 string
	port                int          // of the URL; 0 where it names none
	free                int          // what {port} stands for
	program             int          // the Go process that is read; 0: none was found
	notGo               lookback     // of a batch program
	ask                 *ready.Asker // whether it can be loaded; nil: a batch program
}

type fleet []*replica

// start starts the replicas of a trial. On an error they have been ended.
func (r *run) start(ctx context.Context, logs []*log) (f fleet, err error) {
	defer func() {
		if err != nil {
			err = trial.Stopped(err, f.end(0))
		}
	}()
	ports, err := target.FreePorts(r.Setting.Replicas)
	if err != nil {
		return nil, err
	}
	for i, port := range ports {
		one := &replica{url: target.ExpandPort([]string{r.spec.Target.URL}, port)[0], free: port}
		f = append(f, one)
		if err = r.address(one); err != nil {
			return f, err
		}
		if err = r.startOne(ctx, one, port, logs[i]); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (r *run) startOne(ctx context.Context, one *replica, port int, output *log) (err error) {
	p := r.programs[programOf(r.Setting)]
	spec := supervisor.Spec{
		Command: target.ExpandPort(p.argv, port), Dir: p.dir, Env: environment(slices.Concat(r.config.Environ, target.ExpandPort(r.spec.Target.Env, port)), r.Setting.Procs, r.Setting.Variables...),
		CPUs: r.targetOn(), Log: output.file, ErrorLog: output.errs, LogLimit: trial.LogLimit,
	}
	if one.group, err = r.newGroup("the CPU limit", &spec, r.spec.Target.Shares, r.Setting.QuotaCPUs); err != nil {
		return err
	}
	one.limits = limitsAround(one.cgroup())
	one.Process, err = supervisor.Start(ctx, spec)
	if _, lost := errors.AsType[*supervisor.LostError](err); err != nil && !lost && ctx.Err() == nil {
		r.Trial.NotStarted = true
		return trial.Invalid(journal.InvalidNoProgram, "the target cannot be started: %v", err)
	}
	return err
}

// address sees that nobody has the address of a server's URL yet, since the trial would
// measure that other program, nor the one that says whether it is ready, since the target
// would look ready before it is. A port that was chosen a moment ago is not looked at
// again: another sweep that looks for one takes it for that moment.
func (r *run) address(one *replica) error {
	if !r.spec.Target.IsServer() {
		return nil
	}
	u, err := url.Parse(one.url)
	if err != nil {
		return err
	}
	if one.port, err = strconv.Atoi(u.Port()); err == nil && !target.HasPort([]string{r.spec.Target.URL}) {
		if err := target.PortInUse(u.Host); err != nil {
			return err
		}
	}
	probe, err := r.spec.Target.Ready.For(one.url)
	if err != nil {
		return err
	}
	if address := probe.Address(); address != "" && address != u.Host {
		if err := target.PortInUse(address); err != nil {
			return err
		}
	}
	one.ask, err = ready.NewAsker(probe, r.config.Environ)
	return err
}

// environment is the target's, with GOMAXPROCS and the variables as the setting says.
func environment(environ []string, procs *int, variables ...journal.Variable) []string {
	own := journal.Variable{Name: "GOMAXPROCS", Value: journal.Unset}
	if procs != nil {
		own.Value = strconv.Itoa(*procs)
	}
	env := slices.Clone(environ)
	for _, v := range append([]journal.Variable{own}, variables...) {
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, v.Name+"=") })
		if v.Value != journal.Unset {
			env = append(env, v.String())
		}
	}
	return env
}

// end stops every replica, all at once, and removes their groups, also if it is called again.
func (f fleet) end(grace time.Duration) error {
	return wait.All(len(f), func(i int) (err error) {
		if one := f[i]; one.Process != nil {
			_, err = one.Stop(grace)
		}
		if g := f[i].group; g != nil {
			err = errors.Join(err, g.Remove())
		}
		return err
	})
}

func (f fleet) urls() []string { return phrase.Each(f, func(one *replica) string { return one.url }) }

func (f fleet) pids() []int {
	var pids []int
	for _, one := range f {
		pids = append(pids, one.pids()...)
	}
	return pids
}

func (one *replica) pids() []int {
	if one.attached != nil {
		return []int{one.attached.PID}
	}
	below, err := one.Descendants()
	if err != nil {
		return nil // it has ended
	}
	return below
}

func (f fleet) crashed() *replica {
	for _, one := range f {
		if one.ended() {
			return one
		}
	}
	return nil
}

func (one *replica) ended() bool {
	if one.attached != nil {
		return one.attached.Gone()
	}
	select {
	case <-one.Done():
		return true
	default:
		return false
	}
}

// anyDone is closed when the first replica that still ran has ended.
func (f fleet) anyDone() <-chan struct{} {
	for _, one := range f {
		if !one.ended() {
			return one.Done()
		}
	}
	return nil
}

// neighbourStart is how long a neighbour has to start, in addition to the warm-up.
const neighbourStart = 200 * time.Millisecond

type neighbour struct {
	replica
	quota *float64 // nil or 0: it has none
	log   *log
}

// startNeighbour starts the neighbour, if any, on the target's CPUs; port is that of the first copy.
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

// neighbourCPU is the neighbour's CPU time so far; nil: there is none, or this system does not tell.
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
