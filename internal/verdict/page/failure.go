package page

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Failure is what is shown in place of a verdict where the target never ran.
type Failure struct {
	What    string   // what failed, without a full stop
	Setting string   // the setting of the trial
	Heading string   // over the output
	Output  []string // the last lines of the output, or those where a crash begins; empty: not known
	Log     string   // the file with more of it; empty: there is none
	Command string   // the target's, without credentials; empty: there is none
	Try     []document.Item
}

// NewFailure returns nil for a sweep that has a verdict.
func NewFailure(dir string, c *journal.Contents) *Failure {
	t := verdict.Failed(c.Trials)
	if t == nil {
		return nil
	}
	h := &c.Header
	what, heading, output := Said(strings.TrimPrefix(t.InvalidReason, "never ready: "))
	switch _, below, more := strings.Cut(t.InvalidReason, "\n"); {
	case t.InvalidCode == journal.InvalidTimeout:
		what = "the program " + what
	case t.InvalidCode == journal.InvalidNoProgram && more: // of the go command, below what is wrong
		heading, output = "all of it", strings.Split(below, "\n")
	}
	f := &Failure{
		What: phrase.Clean(what), Setting: phrase.Clean(t.Setting.Label),
		Heading: phrase.Clean(heading), Output: phrase.CleanAll(output), Command: phrase.Shell(targetOf(h, t)), Try: attempts(h, t),
	}
	if t.Setting.Compares == "" { // else the label names the variable
		f.Setting = "GOMAXPROCS " + f.Setting
	}
	if t.Role == journal.RolePilot {
		f.Setting += ", trial to find the request rate"
	}
	if t.Log != "" && t.InvalidCode != journal.InvalidNoProgram && heading != "it printed nothing" {
		f.Log = phrase.Clean(path.Join(dir, t.Log))
	}
	return f
}

// Said splits the reason of an invalid trial: what failed, the heading of the output that
// is quoted below it, and its lines.
func Said(reason string) (what, heading string, output []string) {
	what, rest, quoted := strings.Cut(strings.TrimRight(reason, "\n"), "\n")
	what, announced := strings.CutSuffix(what, ":")
	if quoted && announced {
		output = strings.Split(rest, "\n")
	}
	if i := strings.LastIndex(what, "; it"); i >= 0 { // it said, its last output, it printed nothing
		what, heading = what[:i], what[i+len("; "):]
	}
	return what, heading, output
}

// targetOf is a trial's command; empty: procfit did not start the target by one.
func targetOf(h *journal.Header, t *journal.Trial) []string {
	switch target := &h.Target; {
	case t.Setting.Variant == journal.VariantAgainst:
		return target.Against
	case target.Build != "":
		n := 0 // of the words that set --env
		for n < len(target.Command) && (n == 0 && target.Command[n] == "env" || n > 0 && environmentEntry().MatchString(target.Command[n])) {
			n++
		}
		return slices.Concat(target.Command[:n], []string{"go", "run", target.Build}, target.Command[n:])
	default:
		return target.Command
	}
}

// attempts is what to try, the most telling first.
func attempts(h *journal.Header, t *journal.Trial) (list []document.Item) {
	again := func(changes ...spec.Change) string {
		if !slices.Contains(measuring, h.Spec.Command) {
			return ""
		}
		return h.Spec.With(append(changes, newFolder)...).Shell()
	}
	add := func(text, command string) {
		if strings.Contains(command, secret.Redacted) {
			text += ", with your values in place of " + secret.Redacted
		}
		if command != "" {
			list = append(list, document.Item{Text: text, Command: phrase.Clean(command)})
		}
	}
	switch t.InvalidCode {
	case journal.InvalidNoProgram:
		if h.Target.Build != "" {
			add("build it by itself", inVersion(t)+"go build "+phrase.ShellWord(h.Target.Build))
			break
		}
		add("start it by itself", aloneCommand(h, t))
	case journal.InvalidPrepare:
		add("run the command of --prepare by itself", spec.Replace(h.Spec.Text("prepare"), func(string) string { return secret.Redacted }))
	case journal.InvalidBeside:
		add("run the command of --beside by itself", phrase.Shell(anyPort(h.Target.Beside.Command)))
	case journal.InvalidNeverReady:
		add("start it by itself, and check where it listens", aloneCommand(h, t))
		add("give it longer to start", again(spec.Part("timeout", "ready", doubled(h.Load.ReadyTimeoutSeconds))))
	case journal.InvalidTimeout:
		add("give it longer", again(spec.Part("timeout", "run", doubled(h.Load.TrialTimeoutSeconds))))
		add("run it by itself", aloneCommand(h, t))
	case journal.InvalidKilled:
		add("check whether the machine ran out of memory", "journalctl --dmesg --grep 'out of memory|oom-kill'")
		add("run it by itself", aloneCommand(h, t))
	default:
		add("run it by itself", aloneCommand(h, t))
	}
	if h.Target.Object != "" {
		add("see what the cluster reports", "kubectl get events --namespace "+phrase.ShellWord(h.Target.Namespace)+" --sort-by=.lastTimestamp")
	}
	if h.Spec.Command == "sweep" {
		add("after the fix, measure again", again())
	}
	return list
}

// aloneCommand is the command that runs a trial's target as the trial did, at a fixed port;
// empty: there is none to paste.
func aloneCommand(h *journal.Header, t *journal.Trial) string {
	const built = "{binary}" // of --build
	words := anyPort(targetOf(h, t))
	if len(words) == 0 || h.Target.BuiltIn != "" || strings.Contains(strings.Join(words, " "), built) {
		return ""
	}
	command := inVersion(t) + phrase.Shell(words)
	for _, v := range slices.Backward(t.Setting.Variables) {
		if v.Value != journal.Unset {
			command = phrase.ShellWord(v.Name) + "=" + phrase.ShellWord(v.Value) + " " + command
		}
	}
	if t.Setting.Procs != nil {
		command = fmt.Sprintf("GOMAXPROCS=%d ", *t.Setting.Procs) + command
	}
	return command
}

// inVersion chooses the toolchain of a setting of --go.
func inVersion(t *journal.Trial) string {
	if t.Setting.GoVersion == "" {
		return ""
	}
	return "GOTOOLCHAIN=" + phrase.ShellWord("go"+t.Setting.GoVersion) + " "
}

func anyPort(words []string) []string {
	return phrase.Each(words, func(w string) string { return strings.ReplaceAll(w, "{port}", "8080") })
}

// doubled is twice a length of time, and at least a second: below half a second the kernel
// does not show what other programs used.
func doubled(seconds float64) string {
	return number.Typed(max(time.Second, time.Duration(2*seconds*float64(time.Second))))
}

// Text is the failure as a message: what failed, the program's output, the command, and
// what to try.
func (f *Failure) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "nothing was measured: %s (%s)\n", f.What, f.Setting)
	section := func(heading string, lines ...string) {
		fmt.Fprintf(&b, "  %s\n", heading)
		for _, line := range lines {
			b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
	}
	switch {
	case len(f.Output) > 0:
		section(f.Heading+":", f.Output...)
	case f.Heading != "":
		section(f.Heading)
	}
	if f.Log != "" {
		section("more of its output:", f.Log)
	}
	if f.Command != "" {
		section("the command:", f.Command)
	}
	for _, a := range f.Try {
		section("try: "+a.Text, a.Command)
	}
	return strings.TrimRight(b.String(), "\n")
}
