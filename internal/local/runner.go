package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/cgroup"
	"github.com/procfit/procfit/internal/gobench"
	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/supervisor"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/internal/toolchain"
)

// Runner measures arms on this machine. It is for one goroutine at a time.
type Runner struct {
	// Phase, when set, is told in a few words what a trial is doing.
	Phase func(string)

	config   Config
	groups   *cgroup.Parent // nil: no arm has a quota; else all run in groups, as the kernel schedules these apart
	sampler  *observe.Sampler
	reader   observe.Reader
	programs map[programKey]program
	keeper   *supervisor.Keeper // nil: nothing was made that must not stay
	builds   string             // temporary directory of what was compiled; empty: none
}

// programKey is what decides which program an arm runs.
type programKey struct{ goVersion, variant string }

// program is a command that is ready to be started.
type program struct {
	argv    []string
	dir     string // empty: procfit's own
	missing error  // why there is none
}

// New makes a Runner; Prepare must follow, and Close at the end.
func New(config Config) (*Runner, error) {
	sampler, err := observe.NewSampler()
	if err != nil {
		return nil, err
	}
	return &Runner{Phase: func(string) {}, config: config, sampler: sampler, programs: map[programKey]program{}}, nil
}

// Prepare does before the first trial what may fail for all: it finds where
// cgroups can be made, removes those of killed runs, and compiles what is to be
// compiled.
func (r *Runner) Prepare(ctx context.Context, plan journal.Plan) error {
	if slices.ContainsFunc(plan.Arms, func(a journal.Arm) bool { return a.QuotaCPUs != nil }) {
		parent, err := cgroup.Find()
		if err != nil {
			return fmt.Errorf("a quota needs a cgroup: %w", err)
		}
		if _, err := parent.RemoveStale(); err != nil {
			return fmt.Errorf("remove the groups of an earlier run: %w", err)
		}
		keeper, err := r.keep()
		if err != nil {
			return err
		}
		parent.Announce = keeper.Group
		r.groups = parent
	}
	for _, arm := range plan.Arms {
		key := programKey{arm.GoVersion, arm.Variant}
		if _, ok := r.programs[key]; ok {
			continue
		}
		p, err := r.prepare(ctx, key)
		if err != nil {
			return err
		}
		r.programs[key] = p
	}
	return nil
}

// prepare makes one program ready.
func (r *Runner) prepare(ctx context.Context, key programKey) (program, error) {
	command := r.config.Command
	if ready, ok := r.config.Ready[key.goVersion]; ok {
		return program{argv: ready.Command, missing: ready.Err}, nil
	}
	if key.variant == sweep.AgainstVariant {
		command = r.config.Against
	}
	if isGoBench(command) {
		return r.compileTest(ctx, command, key)
	}
	if r.config.Build == "" || key.variant != "" {
		return program{argv: command}, nil
	}
	binary, err := r.buildFile(key)
	if err != nil {
		return program{}, err
	}
	r.Phase("compiling " + r.config.Build + " " + key.goVersion)
	tool := toolchain.Go{Path: "go"}
	if _, err := tool.BuildWith(ctx, key.goVersion, r.config.Build, binary); err != nil {
		return program{}, err
	}
	if !slices.ContainsFunc(command, func(w string) bool { return strings.Contains(w, binaryPlaceholder) }) {
		return program{argv: append([]string{binary}, command...)}, nil
	}
	argv := slices.Clone(command)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], binaryPlaceholder, binary)
	}
	return program{argv: argv}, nil
}

// compileTest compiles the benchmarks of a go test command.
func (r *Runner) compileTest(ctx context.Context, command []string, key programKey) (program, error) {
	test, err := gobench.Parse(command)
	if err != nil {
		return program{}, err
	}
	binary, err := r.buildFile(key)
	if err != nil {
		return program{}, err
	}
	r.Phase("compiling the benchmarks")
	argv, dir, err := test.Compile(ctx, "", binary, nil)
	return program{argv: argv, dir: dir}, err
}

func (r *Runner) buildFile(key programKey) (string, error) {
	if r.builds == "" {
		keeper, err := r.keep()
		if err != nil {
			return "", err
		}
		if r.builds, err = keeper.Folder("procfit-build-"); err != nil {
			return "", err
		}
	}
	return filepath.Join(r.builds, clean("program-"+key.goVersion+key.variant)), nil
}

// keep returns the keeper of what must not stay when procfit is killed.
func (r *Runner) keep() (*supervisor.Keeper, error) {
	var err error
	if r.keeper == nil {
		r.keeper, err = supervisor.NewKeeper()
	}
	return r.keeper, err
}

// Close removes what Prepare made.
func (r *Runner) Close() error {
	var err error
	if r.keeper != nil {
		err = r.keeper.Close()
	}
	return errors.Join(err, r.sampler.Close())
}

// invalid says in words why a trial proves nothing.
type invalid struct{ reason string }

func (e *invalid) Error() string { return e.reason }

func invalidf(format string, args ...any) error { return &invalid{fmt.Sprintf(format, args...)} }

// UnkeptError is that a program's output could not be written to its log, for
// want of space as a rule. Figures come from there, and so does why a program
// failed: without it there is no trial, not an invalid one, which would stay so
// when there is space again.
type UnkeptError struct{ why string }

func (e *UnkeptError) Error() string {
	return "the output of a trial could not be kept: " + e.why + "; free space there, then the same command with the same --out completes what is missing"
}

// kept is nil when all the output is in the log that was to have it.
func kept(exit supervisor.Exit) error {
	if exit.LogError == "" {
		return nil
	}
	return &UnkeptError{exit.LogError}
}

// Run measures one arm once.
func (r *Runner) Run(ctx context.Context, task sweep.Task) (journal.Trial, error) {
	t := journal.Trial{Origin: journal.OriginLocal, Started: time.Now()}
	var err error
	if missing := r.programs[programKey{task.Arm.GoVersion, task.Arm.Variant}].missing; missing != nil {
		t.NotStarted, err = true, invalidf("%v", missing)
	} else if r.config.Kind() == Server {
		err = r.serve(ctx, task, &t)
	} else {
		err = r.batch(ctx, task, &t)
	}
	t.DurationSeconds = time.Since(t.Started).Seconds()
	if ctx.Err() != nil {
		return journal.Trial{}, ctx.Err()
	}
	var why *invalid
	var lost *supervisor.LostError
	switch {
	case errors.As(err, &why):
		t.InvalidReason = why.reason
	case errors.As(err, &lost):
		t.InvalidReason = lost.Error()
	case err != nil:
		return journal.Trial{}, err
	default:
		t.Valid = true
	}
	return t, nil
}
