// Package entry starts a program with the recommended GOMAXPROCS: as the command procfit
// run, and as procfit-run, a program of its own that is small enough for the image of any
// application. It therefore links no library for command lines, for clusters or for
// terminals.
package entry

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/host/start"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Options are what a user may ask for.
type Options struct {
	Policy                        string
	CPUs                          float64 // left to others
	Force, Verbose, DryRun, Quiet bool
}

// New is the options of a command line that gives none.
func New() *Options { return &Options{Policy: string(facts.PolicyFit)} }

// Fields are the options as flags.
func (o *Options) Fields() []field.Field {
	return slices.Concat([]field.Field{
		Policy(&o.Policy, "which policy decides"),
		Reserve(&o.CPUs),
		{Name: "force", Help: "set GOMAXPROCS even if it is in the environment", Value: field.Switch(&o.Force)},
	}, field.In(field.Output,
		field.Field{Name: "verbose", Help: "print to standard error what was decided, and why", Value: field.Switch(&o.Verbose), Not: "quiet"},
		field.Field{Name: "dry-run", Help: "print the command instead of running it, and how the value was chosen", Value: field.Switch(&o.DryRun)},
		Quiet(&o.Quiet),
	))
}

// Policy is the choice of one policy.
func Policy(p *string, help string) field.Field {
	return field.Field{Name: "policy", Holds: "POLICY", Help: help + ": " + phrase.Or(rule.Policies()), Value: field.Choice(p, rule.Policies()...)}
}

// Reserve is how many CPUs are left to others.
func Reserve(cpus *float64) field.Field {
	return field.Field{Name: "reserve", Holds: "CPUS", Help: "leave CPUs to others in the same limit, such as a sidecar: 0.5 or 500m", Value: field.Parsed(cpus, "", number.ParseCPUs)}
}

// Quiet is -q.
func Quiet(p *bool) field.Field {
	return field.Field{Name: "quiet", Short: "q", Help: "print only the result, without progress and notes", Value: field.Switch(p)}
}

// CheckReserve refuses CPUs for others where the policy leaves none.
func CheckReserve(cpus float64, policy string) error {
	if cpus > 0 && policy != "" && policy != string(facts.PolicyFit) {
		return fmt.Errorf("--reserve and --policy %s: only fit leaves CPUs to others; remove one of them", policy)
	}
	return nil
}

// Check refuses a command line that names no program, or flags that exclude each other;
// name is how the user calls the command.
func (o *Options) Check(name string, command []string, given *field.Given) error {
	if len(command) == 0 {
		return fmt.Errorf("%s needs a command: %[1]s -- ./server", name)
	}
	return cmp.Or(given.Check(), CheckReserve(o.CPUs, o.Policy))
}

// Run starts a program in place of this one. Where that is not possible, or where the
// program is only to be printed, it returns: with the exit code, or with an error.
func (o *Options) Run(command []string, out io.Writer, note func(format string, args ...any)) (code int, err error) {
	path, err := exec.LookPath(command[0])
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		return 0, fmt.Errorf("%w; name the program by its path, as in ./server", err)
	case err != nil: // by its path
		return 0, err
	}
	if o.Quiet {
		note = func(string, ...any) {}
	}
	s := rule.Decide(o.observe(path), o.Policy, o.Force)
	for _, w := range s.Warnings {
		note("%s", w)
	}
	if o.DryRun {
		_, err := out.Write([]byte(printed(s, command)))
		return 0, err
	}
	if o.Verbose {
		note("%s: %s", phrase.Clean(command[0]), did(s))
		for _, step := range s.Steps {
			note("  %s", step)
		}
	}
	env := os.Environ()
	if s.Procs > 0 {
		env = withVariable(env, "GOMAXPROCS", strconv.Itoa(s.Procs))
	}
	return start.Run(path, command, env)
}

// observe is the program as it will find this place. One that cannot be read, a script
// say, may start any runtime. The file is the user's own and about to run, so that it is
// read by Go's own reader: package goproc, which trusts no file, decodes its code too,
// which takes 20 ms.
func (o *Options) observe(path string) rule.Observed {
	seen := rule.Observed{Facts: facts.Read(), Reserve: o.CPUs}
	f := &seen.Facts
	f.GoVersion, f.DefaultGODEBUG, f.GOARCH = "", "", ""
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		seen.ProgramUnknown = err.Error()
		return seen
	}
	f.GoVersion = info.GoVersion
	for _, s := range info.Settings {
		switch s.Key {
		case "DefaultGODEBUG":
			f.DefaultGODEBUG = s.Value
		case "GOARCH":
			f.GOARCH = s.Value
		}
	}
	seen.Automaxprocs = rule.AutomaxprocsIn(info.Deps)
	return seen
}

func did(s rule.Setting) string {
	if s.Procs == 0 {
		return "GOMAXPROCS is left alone: " + s.Why
	}
	return fmt.Sprintf("starts with GOMAXPROCS=%d: %s", s.Procs, s.Why)
}

// printed is what a shell may run, the steps as its comments.
func printed(s rule.Setting, command []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", did(s))
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "#   %s\n", step)
	}
	shown := secret.Words(command)
	if !slices.Equal(shown, command) {
		fmt.Fprintf(&b, "# what may be a credential reads %s here\n", secret.Redacted)
	}
	if s.Procs > 0 {
		fmt.Fprintf(&b, "GOMAXPROCS=%d ", s.Procs)
	}
	return b.String() + phrase.Shell(shown) + "\n"
}

// withVariable is the environment with one variable set, and set once.
func withVariable(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(env, name+"="+value)
}
