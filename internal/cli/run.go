package cli

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/start"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/maxprocs/facts"
)

// runOptions are the flags of procfit run.
type runOptions struct {
	flags
	out                    printing
	policy                 string
	reserve                float64
	force, verbose, dryRun bool
}

func newRun(std stdio) *cobra.Command {
	o := runOptions{policy: string(facts.PolicyFit), out: printed()}
	cmd := &cobra.Command{
		Use:   "run [flags] -- command [args…]",
		Short: "Start a program with the recommended GOMAXPROCS",
		Long: `Start a program with the GOMAXPROCS that it should use under its CPU limits and its CPU
affinity: for Go programs that nobody can build again, and for Go before 1.21, which the
library maxprocs does not support. As the entry point of a container:

  ENTRYPOINT ["procfit", "run", "--", "/app/server"]

procfit becomes the program: process ID, signals, terminal and exit code are the
program's. If it cannot be started, the exit code is 3. (On Windows procfit stays as its
parent, passes Ctrl-C on and ends with its exit code.)

A GOMAXPROCS in the environment stays, unless --force is given. procfit sets nothing if
the program's runtime chooses the same value, so that Go 1.25 and later keep following
their limit. If nothing is known of the CPUs, procfit prints a notice and starts the
program without a value.`,
		Example: `  procfit run -- ./server -addr :8080
  procfit run --verbose --reserve 0.5 -- ./server
  procfit run --dry-run -- ./server`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("run needs a command: procfit run -- ./server")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(std, args) },
	}
	o.bind(std, cmd, slices.Concat([]field.Field{
		policyField(&o.policy, "which policy decides"),
		{Name: "reserve", Holds: "CPUS", Help: reserveHelp, Value: field.Parsed(&o.reserve, "", number.ParseCPUs)},
		toggle("force", &o.force, "set GOMAXPROCS even if it is in the environment", ""),
	}, field.In(field.Output,
		field.Field{Name: "verbose", Help: "print to standard error what was decided, and why", Value: field.Switch(&o.verbose), Not: "quiet"},
		toggle("dry-run", &o.dryRun, "print the command instead of running it, and how the value was chosen", ""),
	), o.out.fields("")))
	cmd.Flags().SetInterspersed(false) // the command's flags are its own, also without --
	return cmd
}

func (o *runOptions) run(std stdio, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := checkReserve(o.reserve, o.policy); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("%w; name the program by its path, as in ./server", err)
	}
	std = o.out.std(std)
	s := rule.Settle(o.observe(path), o.policy, o.force)
	for _, w := range s.Warnings {
		std.notef("%s", w)
	}
	if o.dryRun {
		return o.print(std, s, args)
	}
	if o.verbose {
		std.notef("%s: %s", phrase.Clean(args[0]), did(s))
		for _, step := range s.Steps {
			std.notef("  %s", step)
		}
	}
	env := os.Environ()
	if s.Procs > 0 {
		env = withVariable(env, "GOMAXPROCS", strconv.Itoa(s.Procs))
	}
	code, err := start.Run(path, args, env)
	if err == nil && code != 0 {
		return &exitError{code: code}
	}
	return err
}

// observe is the program as it will find this place. One that cannot be read, a
// script say, may start any runtime.
func (o *runOptions) observe(path string) rule.Observed {
	seen := rule.Observed{Facts: facts.Read(), Reserve: o.reserve}
	f := &seen.Facts
	f.GoVersion, f.DefaultGODEBUG, f.GOARCH = "", "", ""
	p, err := goproc.Open(path)
	if err != nil {
		seen.ProgramUnknown = err.Error()
		return seen
	}
	f.GoVersion, f.DefaultGODEBUG, f.GOARCH = p.GoVersion, p.DefaultGODEBUG, p.GOARCH
	seen.Automaxprocs = rule.AutomaxprocsIn(p.Deps)
	return seen
}

// did is what was decided, in words.
func did(s rule.Setting) string {
	if s.Procs == 0 {
		return "GOMAXPROCS is left alone: " + s.Why
	}
	return fmt.Sprintf("starts with GOMAXPROCS=%d: %s", s.Procs, s.Why)
}

// print writes what a shell may run, the steps as its comments.
func (o *runOptions) print(std stdio, s rule.Setting, args []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", did(s))
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "#   %s\n", step)
	}
	shown := secret.Words(args)
	if !slices.Equal(shown, args) {
		fmt.Fprintf(&b, "# what may be a credential reads %s here\n", secret.Redacted)
	}
	if s.Procs > 0 {
		fmt.Fprintf(&b, "GOMAXPROCS=%d ", s.Procs)
	}
	fmt.Fprintln(&b, phrase.Shell(shown))
	_, err := std.out.Write([]byte(b.String()))
	return err
}

// withVariable is the environment with one variable set, and set once.
func withVariable(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(env, name+"="+value)
}
