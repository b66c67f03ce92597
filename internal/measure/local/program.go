package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// programKey is what decides which program a setting runs.
type programKey struct{ goVersion, variant string }

func programOf(a journal.Setting) programKey { return programKey{a.GoVersion, a.Variant} }

// program is a command that is ready to be started.
type program struct {
	argv    []string
	dir     string // empty: procfit's own
	binary  string // that was compiled for it, or tried; empty: none
	test    bool   // which is a test binary
	missing error  // why there is none
	notGo   func() bool
}

// fileNotGo reports whether the file that a command starts is known not to be a Go program, and not to
// start one: it is no script, and its arguments name no other program and no file. The file is read
// when it is asked for the first time.
func fileNotGo(argv []string) func() bool {
	return sync.OnceValue(func() bool {
		path, err := exec.LookPath(argv[0])
		return err == nil && !isScript(path) && observe.NotGo(path) && !slices.ContainsFunc(argv[1:], namesAnother)
	})
}

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // or it may be one
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err != nil || string(head) == "#!"
}

// namesAnother reports whether a word of an argument, such as the text of sh -c, is a program or a file.
func namesAnother(argument string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(argument, func(c rune) bool { return strings.ContainsRune(" \t\n;|&()<>{}'\"`$=", c) }), func(word string) bool {
		_, err := exec.LookPath(word)
		if err != nil {
			_, err = os.Stat(word)
		}
		return err == nil
	})
}

// program makes one ready.
func (r *runner) program(ctx context.Context, key programKey, observe plan.Observer) (program, error) {
	command := r.spec.Target.Command
	if ready, ok := r.config.Programs[key.goVersion]; ok {
		return program{argv: ready.Command, missing: ready.Err}, nil
	}
	if key.variant == journal.VariantAgainst {
		command = r.spec.Target.Against
	}
	test, err := gobench.Parse(command)
	if err != nil {
		return program{}, err
	}
	if test != nil {
		return r.compileTest(ctx, test, key, observe)
	}
	if r.spec.Target.Build == "" || key.variant != "" {
		return program{argv: command}, nil
	}
	binary, err := r.build(ctx, key, observe)
	if err != nil {
		return program{binary: binary}, err // which was tried
	}
	if !slices.ContainsFunc(command, func(w string) bool { return strings.Contains(w, plan.BinaryPlaceholder) }) {
		return program{argv: append([]string{binary}, command...), binary: binary}, nil
	}
	argv := slices.Clone(command)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], plan.BinaryPlaceholder, binary)
	}
	return program{argv: argv, binary: binary}, nil
}

func (r *runner) build(ctx context.Context, key programKey, observe plan.Observer) (string, error) {
	binary, err := r.buildFile(key)
	if err != nil {
		return "", err
	}
	pkg := r.spec.Target.Build
	observe.Tell(plan.Activity{Step: plan.StepCompile, Detail: strings.TrimSpace(pkg + " " + key.goVersion)})
	tool := toolchain.Go{Path: "go"}
	return binary, tool.BuildWith(ctx, key.goVersion, pkg, binary)
}

func (r *runner) compileTest(ctx context.Context, test *gobench.Command, key programKey, observe plan.Observer) (program, error) {
	binary, err := r.buildFile(key)
	if err != nil {
		return program{}, err
	}
	observe.Tell(plan.Activity{Step: plan.StepCompile, Detail: "the benchmarks"})
	argv, dir, err := test.Compile(ctx, "", binary, nil)
	return program{argv: argv, dir: dir, binary: binary, test: true}, err
}

func (r *runner) Compiled() (paths []string) {
	for _, p := range r.programs {
		if p.binary != "" {
			paths = append(paths, p.binary)
		}
	}
	slices.Sort(paths)
	return paths
}

func (r *runner) buildFile(key programKey) (string, error) {
	if r.builds == "" {
		var err error
		if r.builds, err = r.temporary("procfit-build-"); err != nil {
			return "", err
		}
	}
	return filepath.Join(r.builds, plan.FileName("program-"+key.goVersion+key.variant)), nil
}

// Attach finds a server that runs, its GOMAXPROCS and its CPU limit. What is wrong is a *plan.FieldError.
func Attach(pid int) (*plan.Attached, error) {
	found, err := observe.Stand(pid)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, plan.Wrong("command", "a load on a running program needs Linux: only there can procfit identify the process and read its GOMAXPROCS")
	}
	if err != nil {
		return nil, plan.WrongBy("command", fmt.Errorf("%w; to list the Go programs that run: procfit ps", err))
	}
	a := &plan.Attached{PID: found.PID, Started: found.Started, Name: found.Name}
	reader := new(observe.Reader)
	if _, err := reader.Program(found.PID); errors.Is(err, observe.ErrNotGo) {
		return nil, plan.Wrong("command", "process %d (%s) is not a Go program, so it has no GOMAXPROCS; try: procfit load --rate N URL", found.PID, found.Name)
	}
	if live, err := reader.Live(found.PID); err == nil {
		a.Procs = &live.Procs
	}
	f, err := new(facts.Reader).ReadPID(found.PID)
	limit, _ := f.Tightest()
	a.LimitCPUs, a.LimitsUnknown = limit.CPUs, err != nil || !observe.LimitsKnown(f)
	return a, nil
}

// visit finds the server that is already running: it is loaded and looked at, and nothing else.
func (r *run) visit() ([]string, error) {
	a := r.spec.Target.Attach
	one := &replica{attached: &observe.Standing{PID: a.PID, Name: a.Name, Started: a.Started}, url: r.spec.Target.URL}
	if u, err := url.Parse(one.url); err == nil {
		one.port, _ = strconv.Atoi(u.Port())
	}
	if one.ended() {
		return nil, fmt.Errorf("process %d (%s) has ended", a.PID, a.Name)
	}
	one.limits = limitsAround(one.cgroup())
	r.fleet = fleet{one}
	return r.fleet.urls(), nil
}
