// Package local is the plan.Runner of this machine: it starts the target as an
// setting says, inside its cgroup and affinity, offers the load, and gathers what
// package trial judges: at which GOMAXPROCS the target really ran, what the kernel
// counted, and who was the bottleneck.
//
// A server's trial is warm-up, closed loop, open loop. The kernel's counters are
// kept for each loop; those of the closed loop stand for the trial, since there the
// target has all the work that it can take, so that CPU use, switches and throttling
// compare across settings. They are read before the measured time starts, while the
// same load settles for a moment, so that the reading is in no latency.
//
// A batch program's trial is its runs, one after the other until their time is used,
// each counted from exec to exit.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// runner measures settings on this machine. It is for one goroutine at a time.
type runner struct {
	spec     plan.Spec
	config   Config
	cpus     []int            // that the target may use
	groups   *cgroup.Parent   // nil: nothing has a quota; else all run in groups, as the kernel schedules these apart
	sampler  *observe.Sampler // nil: this system does not tell
	reader   observe.Reader
	meters   meter.Reader
	programs map[programKey]program
	keeper   *supervisor.Keeper        // nil: nothing was made that must not stay
	told     map[journal.GroupKey]bool // groups whose p99 is reported as not judged
	speed    float64                   // of one CPU, when it was last known
	builds   string                    // temporary directory of what was compiled; empty: none
	listens  bool                      // whether a batch program listens was asked
	one      *oneStart                 // nil: none is running
}

// New makes a Runner of a valid Spec that was checked.
func New(spec plan.Spec, config Config) (plan.Runner, error) {
	sampler, err := observe.NewSampler()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	r := &runner{spec: spec, config: config, cpus: spec.TargetCPUs(), sampler: sampler, programs: map[programKey]program{}, told: map[journal.GroupKey]bool{}}
	if r.cpus == nil {
		r.cpus = topology.Allowed()
	}
	return r, nil
}

// Prepare finds where cgroups can be created, removes those of killed runs, and compiles.
func (r *runner) Prepare(ctx context.Context, wanted journal.Plan, observe plan.Observer) error {
	if r.spec.NeedsGroups() {
		if err := r.findGroups(); err != nil {
			return err
		}
	}
	for _, setting := range wanted.Settings {
		if r.spec.Target.Attach != nil {
			break // there is nothing to start
		}
		key := programOf(setting)
		if _, ok := r.programs[key]; ok {
			continue
		}
		p, err := r.program(ctx, key, observe)
		if _, failed := errors.AsType[*toolchain.FailedError](err); failed && ctx.Err() == nil {
			p.missing = err // the trials of its settings say so
		} else if err != nil {
			return err
		}
		if len(p.argv) > 0 {
			p.notGo = fileNotGo(p.argv)
		}
		r.programs[key] = p
	}
	if r.sampler == nil {
		observe.Tell(plan.Activity{Step: plan.StepUnseen})
		return nil
	}
	if others := r.Others(ctx); Matter(others) {
		observe.Tell(plan.Activity{Step: plan.StepOthers, Others: others})
	}
	return ctx.Err()
}

// Denied is why this account cannot create the cgroups of a Spec; nil: nothing is known against it.
// It changes nothing.
func Denied(spec plan.Spec) error {
	if !spec.NeedsGroups() {
		return nil
	}
	return needed(spec, cgroup.Denied())
}

// needed says what takes the cgroup that cannot be made.
func needed(spec plan.Spec, err error) error {
	if err == nil {
		return nil
	}
	what := "a CPU limit needs"
	if spec.Target.Shares > 0 {
		what = "CPU shares need"
	}
	return fmt.Errorf("%s a cgroup, which cannot be created: %w", what, err)
}

func (r *runner) findGroups() error {
	parent, err := cgroup.Find()
	if err != nil {
		return needed(r.spec, err)
	}
	if _, err := parent.RemoveStale(); err != nil {
		return fmt.Errorf("cannot remove the cgroups of an earlier run: %w", err)
	}
	keeper, err := r.keep()
	if err != nil {
		return err
	}
	parent.Announce = keeper.Group
	r.groups = parent
	return nil
}

// keep returns the keeper of what must not stay when procfit is killed.
func (r *runner) keep() (*supervisor.Keeper, error) {
	var err error
	if r.keeper == nil {
		r.keeper, err = supervisor.NewKeeper()
	}
	return r.keeper, err
}

// temporary makes a folder that is there until Close, or until procfit is killed.
func (r *runner) temporary(prefix string) (path string, err error) {
	keeper, err := r.keep()
	if err != nil {
		return "", err
	}
	return keeper.Folder(prefix)
}

func (r *runner) Close() error {
	err := r.endOneStart()
	if r.keeper != nil {
		err = errors.Join(err, r.keeper.Close())
	}
	if r.sampler != nil {
		err = errors.Join(err, r.sampler.Close())
	}
	return err
}

func (r *runner) Run(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	if task.OneStart {
		return r.inOneStart(ctx, task, observe)
	}
	if err := r.endOneStart(); err != nil {
		return journal.Trial{}, err
	}
	one := &run{runner: r, Task: trial.NewTask(journal.OriginLocal, r.spec, task, observe, r.told)}
	return trial.Run(ctx, one, one.Task)
}

// run is one trial on this machine: a trial.Place.
type run struct {
	*runner
	*trial.Task
	stop      context.CancelCauseFunc // ends the trial
	back      func()                  // to the CPUs that procfit had before the trial
	logs      []*log
	fleet     fleet           // of a server
	neighbour *neighbour      // nil: nothing runs next to the target, or not yet
	outer     []observe.Limit // around a server, from the first look
	looked    bool
	runs      *runs      // of a batch program; nil: none is measured yet
	profiling *profiling // nil: the trial is not profiled
}

func (r *run) Prepare(_ context.Context, stop context.CancelCauseFunc) (err error) {
	r.stop = stop
	if missing := r.programs[programOf(r.Setting)].missing; missing != nil {
		r.Trial.NotStarted = true
		return trial.Invalid(journal.InvalidNoProgram, "%v", missing)
	}
	if r.spec.Target.IsServer() {
		r.back, err = r.moveToLoadCPUs()
	}
	return err
}

// Config is what a sweep takes on this machine in addition to its Spec.
type Config struct {
	Environ       []string // the target's environment; GOMAXPROCS in it is replaced
	CreateLog     trial.CreateLog
	CreateProfile trial.CreateLog // for a Spec with profiles
	// Programs are ready to be run, by the setting's Go version, instead of the Spec's
	// command, which then only names them. They may be filled in until Prepare.
	Programs map[string]Program
	Host     journal.Host // of a rehearsal: what other programs used on it makes a start doubtful
}

// Program is a command to run as it is, or why the trials of its settings are invalid.
type Program struct {
	Command []string
	Err     error
}

// Check says what of a valid Spec this machine does not have, as a *plan.FieldError: a command, a CPU.
func Check(spec plan.Spec, built bool) error {
	t := spec.Target
	var own, beside, load []string
	if t.Build == "" && !built && t.Attach == nil {
		own = t.Command
	}
	if t.Beside != nil {
		beside = t.Beside.Command
	}
	if spec.Load.Command != "" {
		var err error
		if load, err = spec.LoadCommand(target.ExpandPort([]string{t.URL}, 1), spec.Load.Rate); err != nil {
			return plan.WrongBy("load", err)
		}
	}
	for _, c := range []struct {
		field, prefix string
		command       []string
	}{{"command", "", own}, {"command", "OLD: ", t.Against}, {"prepare", "", t.Prepare}, {"beside", "", beside}, {"ready", "", t.Ready.Command}, {"load", "", load}} {
		if len(c.command) == 0 {
			continue
		}
		if err := supervisor.CheckCommand(c.command[0]); err != nil {
			return plan.WrongBy(c.field, fmt.Errorf("%s%w", c.prefix, err))
		}
	}
	if err := checkCPUs("target", t.CPUs); err != nil {
		return err
	}
	return checkCPUs("load", spec.Load.CPUs)
}

func checkCPUs(whose string, cpus []int) error {
	for _, n := range cpus {
		if _, err := os.Stat(fmt.Sprintf("/sys/devices/system/cpu/cpu%d", n)); runtime.GOOS == "linux" && err != nil {
			return plan.Wrong("cpus", " %s=%d: this machine has no CPU %[2]d", whose, n)
		}
	}
	return nil
}
