package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/terminal"
)

// The exit codes, which are API.
const (
	exitGate        = 1 // findings of check, or a comparison not met
	exitUsage       = 2
	exitFailure     = 3
	exitInterrupted = 130
)

// exitError is an error with the code that the process is to end with.
type exitError struct {
	code int
	err  error // nil: nothing is said
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
	hidden   func() secret.Hidden // the credentials among args, found once; nil: there are none
}

func newStdio(ctx context.Context, in io.Reader, out, err io.Writer, args []string) stdio {
	return stdio{ctx, in, out, err, args, sync.OnceValue(func() secret.Hidden { return secret.Find(args) })}
}

// notef tells the user something beside the output, without the credentials that procfit
// was called with: logs of CI keep it. Errors are printed in plain words.
func (s stdio) notef(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = phrase.Plain(err)
		}
	}
	note := fmt.Sprintf(format, args...)
	if s.hidden != nil {
		note = s.hidden().In(note)
	}
	fmt.Fprintln(s.err, "procfit: "+note)
}

// color tells whether the output may have colours.
func (s stdio) color() bool {
	f, ok := s.out.(*os.File)
	return ok && terminal.Escapes(f)
}

// Main runs procfit with the arguments after its name and returns the exit code.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, ok := supervisor.Stage(append([]string{"procfit"}, args...)); ok {
		return code
	}
	if gosource.IsVet(args) {
		gosource.Vet(args)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	std := newStdio(ctx, stdin, stdout, stderr, args)
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := exitFailure
	var coded *exitError
	switch {
	case errors.As(err, &coded):
		if code = coded.code; coded.err == nil { // another program's, which has said why
			return code
		}
	case errors.Is(err, context.Canceled):
		code, err = exitInterrupted, errors.New("interrupted")
	}
	std.notef("%v", err)
	return code
}

// The groups of the root's help.
var commandGroups = []*cobra.Group{
	{ID: "see", Title: "See what runs:"},
	{ID: "check", Title: "Check what is written:"},
	{ID: "measure", Title: "Measure:"},
	{ID: "cluster", Title: "In a cluster:"},
	{ID: "keep", Title: "Keep it right:"},
	{ID: "learn", Title: "Learn:"},
	{ID: "more", Title: "More:"},
}

func newRoot(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "procfit",
		Short: "Show, judge and measure the GOMAXPROCS of Go programs",
		Long: `procfit shows which GOMAXPROCS a Go program runs with, reports whether that is a good
value, and measures which value is best.

GOMAXPROCS limits how many threads run Go code at the same time. The default is the
number of CPUs and, since Go 1.25, the CPU limit of the container.

Exit codes: 0 fine; 1 findings of check, or a comparison not met; 2 usage; 3 failure; 130
interrupted.`,
		Version: version(),
		Example: `  procfit ps              # which GOMAXPROCS each Go program here uses, and what is wrong
  procfit check           # what the manifests and the source in this folder will lead to
  procfit sweep           # measure the built-in practice service at every value`,
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
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddGroup(commandGroups...)
	help := newHelp(std)
	root.SetHelpCommand(help)
	for _, g := range []struct {
		id   string
		list []*cobra.Command
	}{
		{"see", []*cobra.Command{newPS(std), newExplain(std), newTrace(std)}},
		{"check", []*cobra.Command{newCheck(std)}},
		{"measure", []*cobra.Command{newSweep(std), newCompare(std), newSize(std), newObserve(std), newLoad(std)}},
		{"cluster", []*cobra.Command{newKube(std)}},
		{"keep", []*cobra.Command{newRun(std), newExporter(std)}},
		{"learn", []*cobra.Command{newLab(std)}},
		{"more", []*cobra.Command{newReport(std), newVersion(std), newCompletion(std), help}},
	} {
		for _, cmd := range g.list {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newAgent(std), newMan())
	cobra.EnableCommandSorting = false
	completeWords(root)
	return root
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
