package local

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// programKey is what decides which program a setting runs.
type programKey struct{ goVersion, variant string }

func programOf(a journal.Setting) programKey { return programKey{a.GoVersion, a.Variant} }

// program is a command that is ready to be started.
type program struct {
	argv    []string
	dir     string // empty: procfit's own
	missing error  // why there is none
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
		return program{}, err
	}
	if !slices.ContainsFunc(command, func(w string) bool { return strings.Contains(w, plan.BinaryPlaceholder) }) {
		return program{argv: append([]string{binary}, command...)}, nil
	}
	argv := slices.Clone(command)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], plan.BinaryPlaceholder, binary)
	}
	return program{argv: argv}, nil
}

func (r *runner) build(ctx context.Context, key programKey, observe plan.Observer) (string, error) {
	binary, err := r.buildFile(key)
	if err != nil {
		return "", err
	}
	pkg := r.spec.Target.Build
	observe.Tell(plan.Activity{Step: plan.StepCompile, Detail: strings.TrimSpace(pkg + " " + key.goVersion)})
	tool := toolchain.Go{Path: "go"}
	_, err = tool.BuildWith(ctx, key.goVersion, pkg, binary)
	return binary, err
}

// compileTest compiles the benchmarks of a go test command.
func (r *runner) compileTest(ctx context.Context, test *gobench.Command, key programKey, observe plan.Observer) (program, error) {
	binary, err := r.buildFile(key)
	if err != nil {
		return program{}, err
	}
	observe.Tell(plan.Activity{Step: plan.StepCompile, Detail: "the benchmarks"})
	argv, dir, err := test.Compile(ctx, "", binary, nil)
	return program{argv: argv, dir: dir}, err
}

func (r *runner) buildFile(key programKey) (string, error) {
	if r.builds == "" {
		keeper, err := r.keep()
		if err != nil {
			return "", err
		}
		if r.builds, err = keeper.Folder("procfit-build-"); err != nil {
			return "", err
		}
	}
	return filepath.Join(r.builds, plan.FileName("program-"+key.goVersion+key.variant)), nil
}
