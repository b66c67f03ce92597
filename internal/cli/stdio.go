package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
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
	pods     *atomic.Bool   // set while this run may have pods in a cluster
}

func newStdio(ctx context.Context, in io.Reader, out, err io.Writer, args []string) stdio {
	return stdio{ctx, in, out, err, args, secret.NewKeeper(args, os.LookupEnv), new(atomic.Bool), new(atomic.Bool)}
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

func (s stdio) color() bool {
	f, ok := s.out.(*os.File)
	return ok && terminal.Escapes(f)
}

// columns is the width of a terminal; 0: it is none.
func columns(out io.Writer) int {
	f, ok := out.(*os.File)
	if !ok {
		return 0
	}
	w, _, _ := term.GetSize(int(f.Fd())) // -1 where it fails
	return max(0, w)
}

func (s stdio) write(b []byte, err error) error {
	if err == nil {
		_, err = s.out.Write(b)
	}
	return err
}

// asUsage is the error of what the user asked wrongly; nil: nothing is wrong.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError("%w", err)
}

// asInterrupted words the error of a run that Ctrl-C ended.
func asInterrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, interruption(err)}
	}
	return err
}

// interruption is what is printed of a run that Ctrl-C ended, with what could not be ended then.
func interruption(err error) error {
	if left := (*trial.UnstoppedError)(nil); errors.As(err, &left) {
		return fmt.Errorf("interrupted; %w", left)
	}
	return errors.New("interrupted")
}

// whyFailed explains why a sweep has no verdict, unless something else ended it.
func whyFailed(std stdio, f *page.Failure, runErr error) error {
	why := errors.New(f.Text())
	switch {
	case runErr == nil || errors.Is(runErr, plan.ErrHopeless):
		return why
	case errors.Is(runErr, context.Canceled):
		std.notef("%v", why)
		return asInterrupted(runErr)
	}
	return errors.Join(why, runErr)
}

// gateError is the exit code of a gate: one that could not be judged is a failure, not a pass.
func gateError(g *verdict.Gate) error {
	switch {
	case g == nil:
		return errors.New("the comparison cannot be judged: nothing was compared")
	case slices.ContainsFunc(g.Checks, func(c verdict.GateCheck) bool { return c.Worse }):
		return &exitError{exitGate, errors.New(phrase.Clean(page.GateAnswer(g)))}
	case !g.Pass:
		return fmt.Errorf("the comparison cannot be judged: %s", phrase.Clean(page.Unjudged(g)))
	}
	return nil
}
