package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/test/must"
)

// The bounds of help: what a reader can take in.
const (
	mostFlags   = 43 // of a command
	mostInGroup = 13
	mostOfHelp  = 78 // characters of a flag's line
	mostLines   = 40 // of --help
)

// partName is a part of a flag's value, such as target= of --cpus.
var partName = regexp.MustCompile(`\b[a-z]+[0-9]*=`)

// Every flag of a command that measures is of a field, and every field says where it
// belongs and what of the header it decides.
func TestEveryFlagIsAField(t *testing.T) {
	root := newRoot(quiet())
	for _, words := range [][]string{{"sweep"}, {"compare"}, {"live"}, {"kube", "sweep"}, {"kube", "canary"}, {"load"}, {"lab", "run"}} {
		cmd, _, err := root.Find(words)
		must.OK(t, err)
		n := 0
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			n++
			if f.Name == "help" {
				return
			}
			of, ok := f.Value.(*asFlag)
			switch {
			case !ok:
				t.Errorf("%v --%s is not of a field", words, f.Name)
			case !slices.Contains(field.Groups(), of.Group):
				t.Errorf("%v --%s: of no group of the help: %q", words, f.Name, of.Group)
			}
		})
		if help := printedBy(t, append(words, "--help-all")...); strings.Count(help, "\n      --")+strings.Count(help, "\n  -") != n {
			t.Errorf("%v: the help has not all of %d flags once:\n%s", words, n, help)
		}
	}
}

// No command has more flags than a reader can take in, and each line of help can be
// understood alone.
func TestHelpIsBounded(t *testing.T) {
	for _, cmd := range everyCommand(newRoot(quiet())) {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		groups, flags := map[field.Group]int{}, 0
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			of, ok := f.Value.(*asFlag)
			if !ok {
				return
			}
			flags++
			groups[of.Group]++
			checkHelp(t, cmd.CommandPath(), of)
		})
		if flags > mostFlags {
			t.Errorf("%s has %d flags: at most %d", cmd.CommandPath(), flags, mostFlags)
		}
		for g, n := range groups {
			if n > mostInGroup {
				t.Errorf("%s: the group %q has %d flags: at most %d", cmd.CommandPath(), g, n, mostInGroup)
			}
		}
		if cmd.Example == "" && cmd.Runnable() && !cmd.HasSubCommands() {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
	}
}

// values are words that a placeholder must not be: a reader takes them for the type.
var values = []string{"raw", "constant", "proven", "pod", "statuses", "manifest.yaml"}

func checkHelp(t *testing.T, command string, f *asFlag) {
	t.Helper()
	complain := func(format string, args ...any) {
		t.Errorf("%s --%s: "+format, append([]any{command, f.Name}, args...)...)
	}
	text := f.Help + shownDefault(f.Field)
	if n := utf8.RuneCountInString(f.Help); n == 0 || n > mostOfHelp {
		complain("the help has %d characters, expected 1 to %d: %s", n, mostOfHelp, f.Help)
	}
	if strings.Count(text, "default") > 1 {
		complain("more than one default: %s", text)
	}
	if strings.ContainsAny(f.Help, "`") || strings.HasSuffix(f.Help, ".") || strings.Contains(f.Help, "\n") {
		complain("one line without backquotes and without a full stop: %s", f.Help)
	}
	if f.Holds != strings.ToUpper(f.Holds) || slices.Contains(values, strings.ToLower(f.Holds)) {
		complain("the placeholder %q is not in capital letters, or is a value", f.Holds)
	}
	if f.More != "" && !strings.HasSuffix(f.More, ".") {
		complain("what the reference has is not whole sentences: %s", f.More)
	}
	if of, ok := f.Value.(field.Closed); ok {
		for _, part := range partName.FindAllString(f.Help, -1) {
			if !slices.ContainsFunc(of.Words(), func(word string) bool { return strings.HasPrefix(word, part) }) {
				complain("it names %s, and takes %q", part, of.Words())
			}
		}
	}
}

// Without a terminal every help fits into 80 columns, but for its examples and usage lines,
// and a part with indented lines has no others.
func TestHelpFitsIntoColumns(t *testing.T) {
	texts := [][]string{{"help", "more"}}
	for _, topic := range topicNames {
		texts = append(texts, []string{"help", topic})
	}
	for _, id := range ruleIDs() {
		texts = append(texts, []string{"explain", id})
	}
	for _, words := range texts {
		for line := range strings.Lines(printedBy(t, words...)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%v: %d columns: %s", words, n, line)
			}
		}
	}
	root := newRoot(quiet())
	for _, cmd := range append(everyCommand(root), root) {
		if !cmd.IsAvailableCommand() && cmd != root {
			continue
		}
		for part := range strings.SplitSeq(cmd.Long, "\n\n") {
			if strings.Contains(part, "\n  ") && !strings.HasPrefix(strings.Trim(part, "\n"), "  ") {
				t.Errorf("%s: lines with and without an indent: %s", cmd.CommandPath(), part)
			}
		}
		words := append(strings.Fields(cmd.CommandPath())[1:], "--help-all")
		for line := range strings.Lines(printedBy(t, words...)) {
			line = strings.TrimRight(line, "\n")
			if n := utf8.RuneCountInString(line); n > 80 && !strings.HasPrefix(line, "  procfit ") {
				t.Errorf("%v: %d columns: %s", words, n, line)
			}
		}
	}
}

// The first screen fits a terminal of 24 lines. Its commands are there, and their examples are
// read; the others are in procfit help more.
func TestFirstScreen(t *testing.T) {
	screen := printedBy(t)
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines, at most 24:\n%s", len(lines), screen)
	}
	root, rows := newRoot(quiet()), 0
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
		if !strings.HasPrefix(line, "  ") {
			continue
		}
		rows++
		_, example, ok := strings.Cut(line, "procfit ")
		words := strings.Fields(example)
		cmd, rest, err := root.Find(words)
		if !ok || err != nil || cmd == root || cmd.Name() != strings.Fields(line)[0] || cmd.ParseFlags(rest) != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if rows != 9 {
		t.Errorf("%d commands:\n%s", rows, screen)
	}
	rest := printedBy(t, "help", "more")
	for _, cmd := range root.Commands() {
		inFirst, inMore := strings.Contains(screen, "\n  "+cmd.Name()+" "), strings.Contains(rest, "\n  "+cmd.Name()+" ")
		if cmd.IsAvailableCommand() && cmd.Name() != "help" && inFirst == inMore {
			t.Errorf("%s: on the first screen %v, in the rest %v", cmd.Name(), inFirst, inMore)
		}
	}
	_, more, _ := strings.Cut(screen, "\nMore: ")
	more, _, _ = strings.Cut(more, " (")
	for _, name := range strings.Split(more, ", ") {
		if !strings.Contains(rest, "\n  "+name+" ") {
			t.Errorf("%q is no command of the rest", name)
		}
	}
}

// --help fits on a screen, --help-all has all flags, and help what is known of each.
func TestShortHelp(t *testing.T) {
	for _, words := range [][]string{{"sweep"}, {"compare"}, {"load"}, {"live"}, {"resize"}, {"kube", "sweep"}} {
		if all := printedBy(t, append([]string{"help"}, words...)...); !strings.Contains(strings.Join(strings.Fields(all), " "), "'POST http://") {
			t.Errorf("help %v does not say how a POST is sent:\n%s", words, all)
		}
	}
	for _, words := range [][]string{{"sweep"}, {"compare"}, {"load"}, {"kube", "sweep"}, {"kube", "canary"}} {
		short, long := printedBy(t, append(words, "--help")...), printedBy(t, append(words, "--help-all")...)
		if n := strings.Count(short, "\n"); n > mostLines {
			t.Errorf("%v --help has %d lines, at most %d:\n%s", words, n, mostLines, short)
		}
		if len(long) < len(short)*3/2 || !strings.Contains(short, "--help-all") || printedBy(t, append(words, "-h")...) != short {
			t.Errorf("%v: --help has %d bytes, --help-all %d:\n%s", words, len(short), len(long), short)
		}
		if all := printedBy(t, append([]string{"help"}, words...)...); len(all) <= len(long) || words[0] == "sweep" && !strings.Contains(strings.Join(strings.Fields(all), " "), "Each loop has half of it.") {
			t.Errorf("help %v does not have more than --help-all:\n%s", words, all)
		}
	}
}

// callMain is how a command ends, and what it prints.
func callMain(t testing.TB, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code = Main(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// printedBy is the output of a command that succeeds.
func printedBy(t testing.TB, args ...string) string {
	t.Helper()
	code, out, errs := callMain(t, args...)
	if code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, errs)
	}
	return out
}

// As a plugin of kubectl procfit has the commands of procfit kube.
func TestKubectlPlugin(t *testing.T) {
	for name, want := range map[string]string{"/usr/bin/procfit": "clean", "kubectl-procfit": "kube clean", `kubectl-procfit.exe`: "kube clean", "bin/kubectl_complete-procfit": "__complete kube clean"} {
		if got := strings.Join(ProgramArgs([]string{name, "clean"}), " "); got != want {
			t.Errorf("%s clean: %q, want %q", name, got, want)
		}
	}
}

// A shell is given words, and never what is only for the help.
func TestCompletions(t *testing.T) {
	for line, want := range map[string]string{
		"sweep --until ": "proven", "sweep --timeout ": "ready=", "kube sweep --load-from ": "local",
		"help exit": "exit-codes", "kube ": "canary", "completion ": "fish", "load --pace ": "poisson", "": "compare",
	} {
		words := strings.Split(line, " ")
		out := printedBy(t, append([]string{cobra.ShellCompRequestCmd}, words...)...)
		if !strings.Contains("\n"+out, "\n"+want) {
			t.Errorf("%q is not completed with %s:\n%s", line, want, out)
		}
	}
	for _, cmd := range everyCommand(newRoot(quiet())) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(f.Usage, "`") {
				t.Errorf("%s --%s: a shell shows the backquotes of %q", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
	}
	for shell := range shells {
		if script := printedBy(t, "completion", shell); len(script) < 1000 {
			t.Errorf("the script for %s has %d bytes", shell, len(script))
		}
	}
}
