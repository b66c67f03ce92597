// Package cli is procfit's command line: one file a subcommand, each turning
// flags into a struct and calling run(ctx, std). It alone may import every other package.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/spec"
)

// The exit codes, which are API.
const (
	exitGate        = 1 // findings of check, or a comparison that is not met
	exitUsage       = entry.CodeUsage
	exitFailure     = entry.CodeFailure
	exitInterrupted = 130
)

// exitError is an error with the code that the process is to end with.
type exitError struct {
	code int
	err  error // nil: nothing is printed
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError is for what the user asked wrongly.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// stdio is where a command reads and writes, until when, and the words it was called with.
type stdio struct {
	ctx      context.Context // ends at a signal
	in       io.Reader
	out, err io.Writer
	args     []string
	secrets  *secret.Keeper // what nothing that is written may have; nil: there is nothing
	quiet    *atomic.Bool   // set by -q; nil: nobody looks
}

func newStdio(ctx context.Context, in io.Reader, out, err io.Writer, args []string) stdio {
	return stdio{ctx, in, out, err, args, secret.NewKeeper(args, os.LookupEnv), new(atomic.Bool)}
}

// fill has the values of variables in texts that go to a server.
func (s stdio) fill(texts ...*string) error { return asUsage(spec.Fill(s.secrets.Variable, texts...)) }

// notef prints a note on stderr: on a terminal without breaking a word. Lines that are indented
// already may be commands, which are copied as one.
func (s stdio) notef(format string, args ...any) {
	text := entry.Note(s.secrets, format, args...)
	room := columns(s.err)
	if room == 0 {
		fmt.Fprintln(s.err, text)
		return
	}
	w := terminal.NewWriter(room, false)
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, " ") {
			w.Line(line)
		} else {
			w.Paragraph("", "  ", line)
		}
	}
	s.err.Write(w.Bytes())
}

// color reports whether the output may have colours.
func (s stdio) color() bool {
	f, ok := s.out.(*os.File)
	return ok && terminal.Escapes(f)
}

// Main runs procfit with the arguments after its name and returns the exit code.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, ok := supervisor.Stage(append([]string{"procfit"}, args...)); ok {
		return code
	}
	if code, ok := steer.Stage(append([]string{"procfit"}, args...)); ok {
		return code
	}
	if code, ok := gosource.Stage(append([]string{"procfit"}, args...)); ok {
		return code
	}
	if gosource.IsVet(args) {
		gosource.Vet(args)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	std := newStdio(ctx, stdin, stdout, stderr, args)
	return std.untilForced(std.run)
}

// run runs the command that the arguments name, and returns the exit code.
func (s stdio) run() int {
	root := newRoot(s)
	root.SetArgs(asHelp(s.args))
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(s.ctx)
	if err == nil {
		return 0
	}
	code := exitFailure
	var coded *exitError
	switch {
	case errors.As(err, &coded):
		if code = coded.code; coded.err == nil { // another program's, which has printed why
			return code
		}
	case errors.Is(err, context.Canceled):
		code, err = exitInterrupted, errors.New("interrupted")
	}
	s.notef("%v", err)
	return code
}

// soon is how long most of what procfit does takes to end at Ctrl-C.
const soon = time.Second

// untilForced is the exit code of run. If a first Ctrl-C does not end that soon, a second one
// does not wait for it: until then it may be the first, which a parent passes on. The
// supervisors of what procfit has started, which there are on Linux alone, then end all of that.
func (s stdio) untilForced(run func() int) int {
	interrupts, ended := make(chan os.Signal, 1), make(chan int, 1)
	if runtime.GOOS == "linux" {
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
	}
	go func() { ended <- run() }()
	select {
	case code := <-ended:
		return code
	case <-interrupts:
	}
	select {
	case code := <-ended:
		return code
	case <-time.After(soon):
	}
	select {
	case <-interrupts: // passed on
	default:
	}
	if !s.quiet.Load() {
		pods := ""
		if strings.Contains(strings.Join(s.args, " "), "kube") {
			pods = "; pods then stay"
		}
		s.notef("ending; press Ctrl-C again to end at once, without a report%s", pods)
	}
	select {
	case code := <-ended:
		return code
	case <-interrupts:
		return exitInterrupted
	}
}

func newRoot(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "procfit",
		Short: "Show, judge and measure the GOMAXPROCS of Go programs",
		Long: `procfit shows which GOMAXPROCS a Go program runs with, reports whether that is a good
value, and measures which value is best.

GOMAXPROCS limits how many threads run Go code at the same time. The default is the
number of CPUs and, since Go 1.25, the CPU limit of the container.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.HasSubCommands() { // the flag is of a command that is not known
			if word := firstWord(std.args, cmd); word != "" {
				return unknownCommand(cmd, word)
			}
		}
		return flagError(cmd, err)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { // of what has no flags of its own
		text := firstScreen
		if cmd != root {
			text = std.described(cmd) + cmd.UsageString()
		}
		fmt.Fprint(cmd.OutOrStdout(), text)
	})
	root.CompletionOptions.DisableDefaultCmd = true
	help := newHelp(std)
	root.SetHelpCommand(help)
	root.AddCommand(newPS(std), newCheck(std), newExplain(std), newSweep(std), newCompare(std), newLiveCommand(std), newRun(std), newSet(std), newExporter(std),
		newLoad(std), newTrace(std), newReport(std), newFleet(std), newKube(std), newMigrate(std), newResize(std), newLab(std), newCompletion(std), newVersion(std), help, newAgent(std))
	cobra.EnableCommandSorting = false
	if len(std.args) > 0 && strings.HasPrefix(std.args[0], cobra.ShellCompRequestCmd) { // cobra keeps such functions for good
		completeWords(root)
	}
	return root
}

// firstWord is the word after a command's own; empty: there is none, or a flag.
func firstWord(args []string, cmd *cobra.Command) string {
	own := len(strings.Fields(cmd.CommandPath())) - 1
	if own >= len(args) || strings.HasPrefix(args[own], "-") {
		return ""
	}
	return args[own]
}

// Args are the arguments of procfit from those of its process: as kubectl-procfit, a plugin
// of kubectl, the commands of procfit kube come first.
func Args(process []string) []string {
	if len(process) == 0 {
		return nil
	}
	name, args := strings.TrimSuffix(filepath.Base(process[0]), ".exe"), process[1:]
	if name != "kubectl-procfit" && name != "kubectl_complete-procfit" {
		return args
	}
	kube := []string{"kube"}
	if name == "kubectl_complete-procfit" {
		kube = []string{cobra.ShellCompRequestCmd, "kube"}
	}
	return append(kube, args...)
}

// build is what procfit knows of its own binary.
type build struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"commit_time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source was not that of the commit
	Go       string `json:"go_version"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Schema: "procfit.version/v1", Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = "devel"
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version is the module's version, or the commit that it was built from.
func version() string {
	b := thisBuild()
	if b.Version == "devel" && b.Commit != "" {
		return "devel-" + b.Commit[:min(12, len(b.Commit))]
	}
	return b.Version
}

func newVersion(std stdio) *cobra.Command {
	var f flags
	out := printed("text", "json")
	cmd := &cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version of procfit, its commit and its Go",
		Long:    "Print the version of procfit, the commit and the Go version that it was built from and\nwith, and its platform.",
		Example: "  procfit version",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			b := thisBuild()
			if out.json() {
				return printJSON(std, b)
			}
			text := "procfit " + b.Version + "\n"
			if b.Commit != "" {
				text += "commit  " + b.Commit
				if b.Modified {
					text += " (modified)"
				}
				text += "\n"
			}
			_, err := fmt.Fprintf(std.out, "%sgo      %s\nfor     %s\n", text, b.Go, b.Platform)
			return err
		},
	}
	f.bind(std, cmd, out.fields("print an object instead"))
	return cmd
}
