package page

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
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
	machine := []string{cmp.Or(phrase.Clean(r.Host.CPUModel), "an unknown CPU"), phrase.Clean(cpuCounts(r))}
	if s := phrase.Clean(system(r.Host)); s != "" {
		machine = append(machine, s)
	}
	fmt.Fprintf(&b, "# It was measured on %s,\n", strings.Join(machine, ", "))
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
	b.WriteString(piped(r.Tool.Args))
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

// piped asks for what the run read from standard input, in shell, if it read anything.
func piped(args []string) string {
	for _, f := range []flag{{"--body", "@-"}, {"--requests", "-"}} {
		if value, _ := given(args, f.name); value == f.value {
			text := "the journal does not contain what " + f.name + " " + f.value + " read: give it to this script on standard input, as in: sh reproduce.sh <FILE"
			return "[ ! -t 0 ] || { echo " + phrase.ShellWord(text) + " >&2; exit 2; }\n"
		}
	}
	return ""
}

// redacted is in a journal where a credential was (package secret).
const redacted = "REDACTED"

// Again are the words of procfit that measure the same again, into a folder of their own.
func Again(r *verdict.Result) []string { return again(r.Tool.Args, r.Plan.Seed) }

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

// goOn is the command that measures what a verdict lacks, and how long it takes. A race
// is resumed; a grid of more blocks is another plan, with a folder of its own.
func (w words) goOn(s verdict.Step) document.Item {
	text := "about " + phrase.Count(s.More, "more trial")
	ends := " should decide"
	if len(s.List) > 1 {
		ends = fmt.Sprintf(" should separate %s from %s by %s", name(&s.List[0]), name(&s.List[1]), w.metric(s.Metric))
	}
	r := w.result
	if !swept(r) {
		return document.Item{Text: text + ends}
	}
	trials, command := s.More, ""
	most := r.TrialsRun + r.PilotsRun + s.More
	if r.Complete && most <= r.Plan.MaxTrials { // it ended before, and again with the same bound
		most = r.Plan.MaxTrials + s.More
	}
	switch {
	case r.Plan.Racing() && most <= r.Plan.MaxTrials:
		command = resumed(r, flag{name: "--max-time"}) // the trials that it may have are enough
	case r.Plan.Racing():
		command = resumed(r, flag{"--max-trials", strconv.Itoa(most)}, flag{name: "--max-time"})
	default:
		perBlock := max(1, s.Have/max(1, r.Plan.Blocks))
		blocks := int(math.Ceil(float64(s.Have+s.More) / float64(perBlock)))
		command = repeated(r, blocks)
		trials = blocks * (len(r.Plan.Settings) + len(r.Plan.AA))
	}
	if s.TrialSeconds > 0 && float64(trials)*s.TrialSeconds < 1e6 {
		text += ", " + about(time.Duration(float64(trials)*s.TrialSeconds*float64(time.Second))) + ","
	}
	return document.Item{Text: text + ends, Command: command}
}

// measuring are the commands whose run may be repeated.
var measuring = []string{"sweep", "compare", "size", "observe", "kube sweep", "kube canary", "live"}

// swept reports whether the trials are those of one of these commands.
func swept(r *verdict.Result) bool {
	if r == nil || len(r.Tool.Args) == 0 {
		return false
	}
	args := r.Tool.Args
	return slices.Contains(measuring, args[0]) || slices.Contains(measuring, strings.Join(args[:min(2, len(args))], " "))
}

// bySweep reports whether the trials are those of procfit sweep.
func (w words) bySweep() bool {
	return w.result != nil && len(w.result.Tool.Args) > 0 && w.result.Tool.Args[0] == "sweep"
}

// resumed is the command that continues in the folder of the result.
func resumed(r *verdict.Result, flags ...flag) string {
	return "procfit " + phrase.Shell(with(r.Tool.Args, append(flags, flag{"--out", folderOf(r)})...))
}

// repeated is the command of a grid of N blocks, in a new folder.
func repeated(r *verdict.Result, blocks int) string {
	return "procfit " + phrase.Shell(with(r.Tool.Args, flag{"--repeats", strconv.Itoa(blocks)}, flag{name: "--max-trials"}, flag{name: "--max-time"}, flag{name: "--until"}, flag{name: "--out"}))
}

// higher is how values above n are measured, in a new folder.
func (w words) higher(n int) string {
	procs := strings.Join(append([]string{strconv.Itoa(n)}, phrase.Above(n)...), ",")
	if !swept(w.result) {
		return "--procs " + procs
	}
	return "procfit " + phrase.Shell(with(w.result.Tool.Args, flag{"--procs", procs}, flag{name: "--out"}))
}

// completed is how a sweep that ended early is completed.
func completed(r *verdict.Result) string {
	if !swept(r) {
		return "run the same command with this directory as --out"
	}
	return "run " + resumed(r)
}

// about is an expected time, rounded: nobody believes a forecast to the second.
func about(d time.Duration) string {
	if d < 90*time.Second {
		return "about " + phrase.Count(max(1, int(math.Ceil(d.Seconds()/10)))*10, "second")
	}
	return "about " + phrase.Count(int(math.Round(d.Minutes())), "minute")
}

// flag is one of a command line; without a value it is removed.
type flag struct{ name, value string }

// with is a command line with some flags set, before the program's own. It is as procfit
// writes it: a word that begins with a dash is a flag, and the next word is its value
// unless that is a flag too.
func with(args []string, flags ...flag) []string {
	own := ownWords(args)
	var out []string
	for i := 0; i < own; i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch changed := slices.ContainsFunc(flags, func(f flag) bool { return f.name == name }); {
		case !changed:
			out = append(out, args[i])
		case !joined && i+1 < own && !strings.HasPrefix(args[i+1], "-"):
			i++
		}
	}
	for _, f := range flags {
		if f.value != "" {
			out = append(out, f.name, f.value)
		}
	}
	return append(out, args[own:]...)
}

// given is what a command line has for a flag.
func given(args []string, name string) (value string, ok bool) {
	args = args[:ownWords(args)]
	for i, a := range args {
		if v, joined := strings.CutPrefix(a, name+"="); joined {
			return v, true
		}
		if a == name {
			return strings.Join(args[i+1:min(i+2, len(args))], ""), true
		}
	}
	return "", false
}

// way is one thing to do. It is no advice to a run that had its flag already: with this value, or
// without one with any.
type way struct {
	text string
	flag flag
}

// ways are those that the run did not have, as alternatives.
func (w words) ways(list ...way) string {
	var left []string
	for _, one := range list {
		if one.text != "" && (one.flag.name == "" || !w.had(one.flag)) {
			left = append(left, one.text)
		}
	}
	return phrase.Or(left)
}

// had reports whether the run was asked for a flag, on its command line or in its file.
func (w words) had(f flag) bool {
	if w.result == nil {
		return false
	}
	value, ok := given(w.result.Tool.Args, f.name)
	if s := w.result.Settings; s != nil && !ok {
		key := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(strings.TrimPrefix(f.name, "--")) + `:\s*(.*?)\s*$`)
		if m := key.FindSubmatch(s.Text); m != nil {
			value, ok = strings.Trim(string(m[1]), `"'`), true
		}
	}
	return ok && (f.value == "" || f.value == value)
}

// ownCPUs is how the load generator gets CPUs of its own, which it may have.
func (w words) ownCPUs(text string) way {
	if a := w.loadArrangement(); a == journal.ArrangementApart || a == journal.ArrangementElsewhere || w.had(flag{"--load-cpuset", ""}) && !w.had(flag{"--load-cpuset", "shared"}) {
		return way{}
	}
	return way{text: text}
}

func (w words) loadArrangement() journal.Arrangement {
	if w.result == nil || w.result.Load.Arrangement == nil {
		return ""
	}
	return *w.result.Load.Arrangement
}

// patient is --timeout with one of its parts changed.
func patient(args []string, part, value string) flag {
	var parts []string
	own := args[:ownWords(args)]
	for i, a := range own {
		text, ok := strings.CutPrefix(a, "--timeout=")
		if a == "--timeout" && i+1 < len(own) {
			text, ok = own[i+1], true
		}
		for one := range strings.SplitSeq(text, ",") {
			if ok && !strings.HasPrefix(one, part+"=") {
				parts = append(parts, one)
			}
		}
	}
	return flag{"--timeout", strings.Join(append(parts, part+"="+value), ",")}
}

// ownWords is how many words are procfit's own.
func ownWords(args []string) int {
	if i := slices.Index(args, "--"); i >= 0 {
		return i
	}
	return len(args)
}

// folderOf is where the journal is: as it was read, or as the command named it.
func folderOf(r *verdict.Result) string {
	out, _ := given(r.Tool.Args, "--out")
	return cmp.Or(r.Folder, out, "DIR")
}

// fewestApart is how many CPUs it takes for the load to have its own without being
// asked.
const fewestApart = 4

// apart is the command that keeps the load off the target's CPUs.
func (w words) apart() string {
	r := w.result
	if !swept(r) {
		return ""
	}
	n := r.Host.AffinityCPUs
	args := with(r.Tool.Args, flag{name: "--out"}, flag{name: "--load-cpuset"})
	on, _ := given(r.Tool.Args, "--load-cpuset")
	switch {
	case n >= fewestApart && on == "shared":
		return "procfit " + phrase.Shell(args) // it is done by itself
	case n >= 2:
		return "procfit " + phrase.Shell(with(args, flag{"--target-cpuset", listed(r.Host, 0, n/2)}, flag{"--load-cpuset", listed(r.Host, n/2, n)}))
	}
	return ""
}

// listed are some of the CPUs that procfit could use. Where the nodes of memory don't tell
// which these are, they are taken for the first ones.
func listed(h journal.Host, from, to int) string {
	var cpus cpuset.Set
	if h.Topology != nil {
		for _, n := range h.Topology.Nodes {
			cpus = append(cpus, n.CPUs...)
		}
	}
	if len(cpus) == h.AffinityCPUs {
		slices.Sort(cpus)
		return cpus[from:to].String()
	}
	if to-from == 1 {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to-1)
}
