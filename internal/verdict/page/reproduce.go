package page

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

func command(r *verdict.Result) string {
	if len(r.Target.Command) == 0 {
		return cmp.Or(phrase.Clean(r.Target.Object), program(r))
	}
	return phrase.Shell(r.Target.Command)
}

func sweep(r *verdict.Result) string {
	return "procfit " + phrase.Shell(r.Tool.Args)
}

// variable is an environment entry that a shell can export.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// reproduce is a script that runs the sweep again: same arguments, same seed,
// same directory and runtime variables, into a results directory of its own.
func reproduce(r *verdict.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Runs the sweep %s of %s again, into a new results directory.\n", phrase.Clean(r.Name), r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(&b, "# It was measured on %s, %s, %s/%s %s,\n", phrase.Clean(r.Host.CPUModel), phrase.Clean(cpuCounts(r)), phrase.Clean(r.Host.OS), phrase.Clean(r.Host.Arch), phrase.Clean(r.Host.Kernel))
	fmt.Fprintf(&b, "# by procfit %s. Set PROCFIT to use another binary.\n", phrase.Clean(r.Tool.Version))
	b.WriteString("set -eu\n")
	if r.Settings != nil {
		b.WriteString("here=$(CDPATH= cd -- \"$(dirname -- \"$0\")\" && pwd)\n")
	}
	if r.Target.Directory != "" {
		fmt.Fprintf(&b, "cd -- %s\n", phrase.ShellWord(r.Target.Directory))
	}
	for _, e := range r.Target.Environment {
		if variable.MatchString(e) {
			name, value, _ := strings.Cut(e, "=")
			fmt.Fprintf(&b, "export %s=%s\n", name, phrase.ShellWord(value))
		}
	}
	if s := r.Settings; s != nil {
		b.WriteString(unset(s.Variables) + leftOut(s.Command))
		fmt.Fprintf(&b, "exec \"${PROCFIT:-procfit}\" %s\n", fromFile(s))
		return shebang(b.String())
	}
	args := again(r.Tool.Args, r.Plan.Seed)
	if r.Canary != nil { // which draws nothing at random
		args = with(args, flag{name: "--seed"})
	}
	b.WriteString(leftOut(args))
	fmt.Fprintf(&b, "exec \"${PROCFIT:-procfit}\" %s\n", phrase.Shell(args))
	return shebang(b.String())
}

func settingsFile(r *verdict.Result) string {
	if r.Settings == nil {
		return ""
	}
	return string(r.Settings.Text) // in which YAML escapes what is not printable
}

// shebang puts the shell before a script that can run it: $'…' is not in every sh.
func shebang(script string) string {
	if strings.Contains(script, "$'") {
		return "#!/usr/bin/env bash\n" + script
	}
	return "#!/bin/sh\n" + script
}

// fromFile are the words of procfit that read the file next to the script; after -- are
// those of the program.
func fromFile(s *verdict.Settings) string {
	own := ownWords(s.Command)
	text := phrase.Shell(s.Command[:own]) + " --file \"$here/" + s.Name + "\""
	if own < len(s.Command) {
		text += " " + phrase.Shell(s.Command[own:])
	}
	return text
}

// unset asks for the variables that the file names, in shell.
func unset(variables []string) string {
	var b strings.Builder
	for _, name := range variables {
		text := "credentials are not recorded: export " + name + ", which procfit.yaml names, then run this again"
		fmt.Fprintf(&b, "[ -n \"${%s+x}\" ] || { echo %s >&2; exit 2; }\n", name, phrase.ShellWord(text))
	}
	return b.String()
}

// leftOut asks for the values that the journal does not hold, in shell; nothing
// where it holds all.
func leftOut(args []string) string {
	var words []string
	for i, a := range args {
		if !strings.Contains(a, redacted) {
			continue
		}
		if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.HasPrefix(a, "-") {
			a = args[i-1] + " " + a
		}
		words = append(words, phrase.Clean(a))
	}
	if words == nil {
		return ""
	}
	text := "the journal does not contain credentials: replace " + redacted + " in the last line of this script, then remove this line: " + strings.Join(words, "; ")
	return "echo " + phrase.ShellWord(text) + " >&2; exit 2\n"
}

// redacted is in a journal where a credential was (package secret).
const redacted = "REDACTED"

// again is the command line with the seed fixed and without --out, which would
// resume the finished run.
func again(args []string, seed uint64) []string {
	if len(args) == 0 {
		args = []string{"sweep"}
	}
	changes := []flag{{name: "--out"}}
	if _, seeded := given(args, "--seed"); !seeded {
		changes = append(changes, flag{"--seed", strconv.FormatUint(seed, 10)})
	}
	return with(args, changes...)
}
