package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/cgroup"
	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/internal/target"
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
	builds   string // temporary directory of what was compiled; empty: none
}

// programKey is what decides which program an arm runs.
type programKey struct{ goVersion, variant string }

// program is a command that is ready to be started.
type program struct {
	argv []string
	dir  string // empty: procfit's own
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
	if _, err := target.Build(ctx, key.goVersion, "", r.config.Build, binary, nil); err != nil {
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
	test, err := target.ParseGoTest(command)
	if err != nil {
		return program{}, err
	}
	binary, err := r.buildFile(key)
	if err != nil {
		return program{}, err
	}
	r.Phase("compiling the benchmarks")
	argv, dir, err := test.Compile(ctx, "", binary, nil)
	return program{argv, dir}, err
}

func (r *Runner) buildFile(key programKey) (string, error) {
	if r.builds == "" {
		dir, err := os.MkdirTemp("", "procfit-build-")
		if err != nil {
			return "", err
		}
		r.builds = dir
	}
	return filepath.Join(r.builds, clean("program-"+key.goVersion+key.variant)), nil
}

// Close removes what Prepare made.
func (r *Runner) Close() error {
	var err error
	if r.builds != "" {
		err = os.RemoveAll(r.builds)
	}
	return errors.Join(err, r.sampler.Close())
}

// invalid says in words why a trial proves nothing.
type invalid struct{ reason string }

func (e *invalid) Error() string { return e.reason }

func invalidf(format string, args ...any) error { return &invalid{fmt.Sprintf(format, args...)} }

// Run measures one arm once.
func (r *Runner) Run(ctx context.Context, task sweep.Task) (journal.Trial, error) {
	t := journal.Trial{Origin: journal.OriginLocal, Started: time.Now()}
	var err error
	if r.config.Kind() == Server {
		err = r.serve(ctx, task, &t)
	} else {
		err = r.batch(ctx, task, &t)
	}
	t.DurationSeconds = time.Since(t.Started).Seconds()
	if ctx.Err() != nil {
		return journal.Trial{}, ctx.Err()
	}
	var why *invalid
	switch {
	case errors.As(err, &why):
		t.InvalidReason = why.reason
	case err != nil:
		return journal.Trial{}, err
	default:
		t.Valid = true
	}
	return t, nil
}

// replica is one started copy of the target.
type replica struct {
	*target.Process
	group *cgroup.Group // nil: no arm has a quota
	url   string
	port  int // of the URL; 0 where it names none
	log   string
}

// fleet is all replicas of a trial.
type fleet []*replica

// start starts the replicas of a trial. On an error nothing is left running.
func (r *Runner) start(ctx context.Context, task sweep.Task) (f fleet, err error) {
	defer func() {
		if err != nil {
			f.end(0)
		}
	}()
	program := r.programs[programKey{task.Arm.GoVersion, task.Arm.Variant}]
	ports, err := target.FreePorts(task.Arm.Replicas)
	if err != nil {
		return nil, err
	}
	for i, port := range ports {
		one := &replica{url: target.ExpandPort([]string{r.config.URL}, port)[0], log: filepath.Join(r.config.LogDir, logName(task, i))}
		if one.port, err = r.checkPort(one.url); err != nil {
			return f, err
		}
		spec := target.Spec{
			Command: target.ExpandPort(program.argv, port), Dir: program.dir, Env: environment(r.config.Environ, task.Arm.Procs),
			CPUs: r.config.ServerCPUs, LogPath: one.log, LogLimit: logLimit,
		}
		if r.groups != nil {
			if one.group, err = r.groups.New(); err != nil {
				return f, fmt.Errorf("make a cgroup for the quota: %w", err)
			}
			spec.ProcsFiles = []string{one.group.ProcsFile()}
		}
		if task.Arm.QuotaCPUs != nil {
			if err = one.group.SetQuota(*task.Arm.QuotaCPUs); err != nil {
				return append(f, one), err
			}
		}
		one.Process, err = target.Start(ctx, spec)
		f = append(f, one)
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// logLimit is what is kept of a replica's output in one trial.
const logLimit = 4 << 20

// checkPort takes the port out of a URL and sees that nobody has it yet: the
// trial would measure that other program.
func (r *Runner) checkPort(raw string) (int, error) {
	if r.config.Kind() != Server {
		return 0, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return 0, err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0, nil // the scheme's own
	}
	return port, target.PortInUse(u.Host)
}

// environment is the target's, with GOMAXPROCS as the arm says.
func environment(environ []string, procs *int) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, "GOMAXPROCS=") })
	if procs != nil {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(*procs))
	}
	return env
}

func logName(task sweep.Task, replica int) string {
	name := fmt.Sprintf("block%02d-%02d-%s", task.Block+1, task.Order+1, task.Arm.Label)
	if task.Role == journal.RolePilot {
		name = fmt.Sprintf("pilot%d", task.Block+1)
		if task.Arm.QuotaCPUs != nil {
			name += fmt.Sprintf("-quota%g", *task.Arm.QuotaCPUs)
		}
		name += task.Arm.GoVersion
	}
	if task.Arm.Replicas > 1 {
		name += fmt.Sprintf("-replica%d", replica+1)
	}
	return clean(name) + ".log"
}

// end stops every replica, all at once, and removes their groups. It may be
// called again.
func (f fleet) end(grace time.Duration) error {
	failures := make(chan error, len(f))
	for _, one := range f {
		go func() {
			var err error
			if one.Process != nil {
				_, err = one.Stop(grace)
			}
			if one.group != nil {
				err = errors.Join(err, one.group.Remove())
			}
			failures <- err
		}()
	}
	var err error
	for range f {
		err = errors.Join(err, <-failures)
	}
	return err
}

func (f fleet) urls() []string {
	var urls []string
	for _, one := range f {
		urls = append(urls, one.url)
	}
	return urls
}

// pids is every live process of the fleet.
func (f fleet) pids() []int {
	var pids []int
	for _, one := range f {
		pids = append(pids, one.pids()...)
	}
	return pids
}

func (one *replica) pids() []int {
	below, err := observe.Descendants(one.SupervisorPID())
	if err != nil {
		return nil // it has ended
	}
	return below
}

// crashed returns the first replica that has ended by itself, if any.
func (f fleet) crashed() *replica {
	for _, one := range f {
		select {
		case <-one.Done():
			return one
		default:
		}
	}
	return nil
}
