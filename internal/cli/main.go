package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
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
	exitGate        = 1 // findings of check, or a gate that failed
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

func newRoot(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "procfit",
		Short: "Which GOMAXPROCS a Go program runs with, whether it is right, and which value is",
		Long: `procfit measures a Go program at every GOMAXPROCS and says which value to run it with.

GOMAXPROCS caps how many threads run Go code at once. Its default is the number
of CPUs and, since Go 1.25, the CPU limit of the container. Whether that default
is right for a program is a question for measurement, not for folklore.

Exit codes: 0 fine; 1 findings of check, or a failed gate; 2 usage; 3 failure; 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("unknown command %q; see procfit --help", args[0])
			}
			return nil
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newSweep(std), newReport(std), newLoad(std), newExplain(std), newRun(std), newCheck(std), newPS(std), newExporter(std), newTrace(std), newLab(std), newImage(std), newAgent(std))
	return root
}
