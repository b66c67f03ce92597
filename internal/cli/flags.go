package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
)

// fieldFlags are the fields of a subcommand as its flags, and which of them the user gave.
type fieldFlags struct{ field.Given }

// shownDefault is what the help adds to a text that does not name the default itself.
func shownDefault(f field.Field) string {
	if f.Holds == "" || strings.Contains(f.Help, "(default") {
		return ""
	}
	if v := f.Value.String(); v != "" && v != "0" {
		return " (default " + v + ")"
	}
	return ""
}

// check refuses what has no effect without a field that is not given, or with one that is.
func (f *fieldFlags) check() error {
	isJSON := func(name string) bool { return f.Has(name) && f.Named(name).Value.String() == "json" }
	if f.Has("dry-run") && (isJSON("output") || f.Has("json")) {
		return usageError("--dry-run prints a plan in words, and no JSON: use only one of --dry-run and --json")
	}
	return asUsage(f.Check())
}

type asFlag struct {
	field.Field
	of *fieldFlags
}

// Set implements pflag.Value.
func (f *asFlag) Set(text string) error { return asUsage(f.of.Set(f.Name, text)) }

// String implements pflag.Value.
func (f *asFlag) String() string {
	if f.Value == nil { // of none, which pflag asks for its default
		return ""
	}
	return f.Value.String()
}

// Type implements pflag.Value: what stands for the value in the help.
func (f *asFlag) Type() string {
	if f.Holds == "" {
		return "bool"
	}
	return f.Holds
}

// behindDashes is the value of a flag in the help, with = where it may be missing.
func behindDashes(f field.Field) string {
	switch {
	case f.Holds == "":
		return ""
	case f.Bare != "":
		return "[=" + f.Holds + "]"
	}
	return " " + f.Holds
}

// flagError is what is wrong with a command line, in procfit's words.
func flagError(cmd *cobra.Command, err error) error {
	if own, ok := errors.AsType[*exitError](err); ok {
		return own
	}
	see := cmd.CommandPath()
	switch err := err.(type) {
	case *pflag.NotExistError:
		return asUsage(unknownFlag(cmd, err))
	case *pflag.ValueRequiredError:
		f := err.GetFlag()
		return asUsage(field.Field{Name: f.Name, Holds: cmp.Or(f.Value.Type(), "VALUE")}.NoValue())
	case *pflag.InvalidSyntaxError:
		return asUsage(field.NotAFlag(err.GetSpecifiedFlag(), see))
	case *pflag.InvalidValueError:
		return usageError("--%s %q: not a valid value; see %s --help", err.GetFlag().Name, err.GetValue(), see)
	}
	return usageError("%w; see %s --help", err, see)
}

// unknownFlag says which flag may be meant: one of the command, or of another command.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name := err.GetSpecifiedName()
	if before := cmd.Flags().Args(); len(before) > 0 && len(name) > 1 {
		if wrong := programsFlag(cmd, "--"+name, phrase.ShellWord(secret.Text(before[0]))); wrong != nil {
			return wrong
		}
	}
	if instead := guessed(cmd, name); instead != "" {
		flag := "--" + name
		if len(name) == 1 {
			flag = "-" + name
		}
		if instead == cmd.CommandPath() {
			return fmt.Errorf("unknown flag %s; remove it: %s does that by itself", flag, instead)
		}
		return fmt.Errorf("unknown flag %s; use: %s", flag, instead)
	}
	if short := err.GetSpecifiedShortnames(); short != "" {
		if wrong := programsFlag(cmd, "-"+short, "./server.old", "./server"); len(short) > 1 && wrong != nil {
			return wrong // only the first letter of -addr is the flag that is missing
		}
		return field.UnknownShort(name, cmd.CommandPath())
	}
	var own []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { own = append(own, f.Name) })
	others := everyCommand(newRoot(stdio{}))
	for _, migrates := range []bool{false, true} { // what migrate has is rarely meant
		for _, other := range others {
			if f := other.Flags().Lookup(name); f != nil && !other.Hidden && migrates == strings.Contains(other.CommandPath(), " migrate") {
				return fmt.Errorf("unknown flag --%s: %s does not have it, but %s does", name, cmd.CommandPath(), other.CommandPath())
			}
		}
	}
	return field.Unknown(name, nearest(name, own), cmd.CommandPath())
}

// programsFlag is the error of a flag that probably belongs to a program; nil: the command takes none.
func programsFlag(cmd *cobra.Command, flag string, programs ...string) error {
	const belongs = "unknown flag %s; if %[1]s belongs to your program, "
	switch {
	case strings.Contains(cmd.Use, "COMMAND"):
		return fmt.Errorf(belongs+"write -- before the program: %s [flags] -- %s %[1]s …", flag, cmd.CommandPath(), programs[len(programs)-1])
	case cmd.Name() == "compare":
		quoted := phrase.Each(programs, func(program string) string { return "'" + program + " " + flag + " …'" })
		return fmt.Errorf(belongs+"quote the program with its flags: %s", flag, strings.Join(quoted, " "))
	}
	return nil
}

// nearest is the known word that was probably meant; empty: none is near enough.
func nearest(word string, known []string) string {
	if near := phrase.Near(word, known); len(near) > 0 {
		return near[0]
	}
	return ""
}

func unknownCommand(cmd *cobra.Command, word string) error {
	name := func(path string) string { return strings.TrimPrefix(path, "procfit ") }
	typed := name(cmd.CommandPath() + " " + word)
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	for _, other := range everyCommand(newRoot(stdio{})) {
		if other.Name() == word && other.IsAvailableCommand() {
			return usageError("unknown command %q. Did you mean %q?", typed, name(other.CommandPath()))
		}
	}
	if near := nearest(word, known); near != "" {
		return usageError("unknown command %q. Did you mean %q?", typed, name(cmd.CommandPath()+" "+near))
	}
	return usageError("unknown command %q; see %s --help", typed, cmd.CommandPath())
}

func everyCommand(cmd *cobra.Command) (list []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		list = append(append(list, sub), everyCommand(sub)...)
	}
	return list
}

// guesses are flags that hyperfine, k6, wrk, hey, docker and kubectl have, or that say what
// another command does, and what does the same here: flags, perhaps with a value, where the
// first that a command has and takes counts, and then a command. procfit only names it: no flag has two names.
var guesses = map[string][]string{
	// Load generators.
	"c": {"--connections"}, "concurrency": {"--connections"}, "vus": {"--connections"}, "clients": {"--connections"}, "t": {"--threads", "--connections"},
	"d": {"--trial-time", "--for"}, "z": {"--trial-time", "--for"}, "duration": {"--trial-time", "--for"}, "trial-time": {"--for"}, "time": {"--for"}, "max-time": {"--for"}, "timelimit": {"--for"},
	"R": {"--rate"}, "r": {"--rate"}, "qps": {"--rate"}, "rps": {"--rate"}, "requests-per-second": {"--rate"},
	"H": {"--header"}, "data": {"--body"}, "X": {"--url 'POST URL'", "procfit load 'POST URL'"}, "method": {"--url 'POST URL'", "procfit load 'POST URL'"},
	// Repeats.
	"runs": {"--repeats"}, "min-runs": {"--repeats"}, "count": {"--repeats"}, "iterations": {"--repeats"}, "max-runs": {"--until trials=64"}, "max-trials": {"--until trials=64"}, "w": {"--trial-time warmup=1s", "--watch"}, "warmup": {"--trial-time warmup=1s", "--for 10s,warmup=1s"},
	"margin-p99": {"--margin p99=20%"}, "threshold": {"--margin"},
	// Values and limits.
	"gomaxprocs": {"--procs"}, "p": {"--procs"}, "maxprocs": {"--procs"}, "quota": {"--limit"}, "cpu": {"--limit", "--cpus"}, "cpu-limit": {"--limit"}, "cgroup": {"procfit explain PID"}, "pid": {"procfit explain PID"},
	"node-cpus": {"--cpus"}, "server-cpuset": {"--cpus target=0-3"}, "target-cpuset": {"--cpus target=0-3"}, "cpuset": {"--cpus target=0-3", "--cpus load=4,5", "--cpus 4"}, "cpuset-cpus": {"--cpus target=0-3", "--cpus load=4,5", "--cpus 4"}, "load-cpuset": {"--cpus load=4,5"},
	// Other commands.
	"gate": {compareGuess}, "against": {compareGuess}, "baseline": {compareGuess},
	"attach": {"procfit live :PORT --rate N"},
	"kube":   {"procfit kube sweep deployment/NAME"}, "canary": {"procfit kube canary deployment/NAME"}, "clean": {"procfit kube clean"}, "cluster": {"procfit kube check"},
	"n": {"--for", "procfit kube check --namespace NAME"}, "A": {"procfit kube check"}, "all-namespaces": {"procfit kube check"},
	// Files and output.
	"format": {"--output"}, "config": {"--file"}, "results": {"--out"}, "output-dir": {"--out"}, "export-json": {"--out", "--json"}, "export-markdown": {"--out"},
	"name": {"--out"}, "title": {"--out"}, "port": {"--listen"}, "addr": {"--listen"},
	"exclude": {"--skip"}, "exclude-dir": {"--skip"}, "fail-on": {"--severity"},
}

const compareGuess = "procfit compare OLD NEW"

// guessed is what to use for a flag that a command does not have; empty: procfit knows of nothing.
func guessed(cmd *cobra.Command, name string) string {
	for _, instead := range guesses[name] {
		if strings.HasPrefix(instead, "procfit ") {
			return instead
		}
		flag, value, _ := strings.Cut(strings.TrimPrefix(instead, "--"), " ")
		f := cmd.Flags().Lookup(flag)
		if f != nil && !f.Changed && (value == "" || f.Value.Set(value) == nil) { // what is given already is not meant
			if of, ok := f.Value.(*asFlag); ok && of.Holds != "" && value == "" {
				instead += " " + of.Holds
			}
			return instead
		}
	}
	return ""
}
