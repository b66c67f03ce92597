package trial

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Failure is why a trial proves nothing.
type Failure struct {
	Code   journal.InvalidCode
	Reason string
}

func (f *Failure) Error() string { return f.Reason }

// Invalid makes a Failure, in which errors have the user's words, and not those of Go's libraries.
func Invalid(code journal.InvalidCode, format string, args ...any) error {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = phrase.Plain(err)
		}
	}
	return &Failure{code, fmt.Sprintf(format, args...)}
}

// EndCode is why a trial proves nothing whose target has ended: as a rule otherwise.
func EndCode(exit supervisor.Exit, otherwise journal.InvalidCode) journal.InvalidCode {
	if exit.Signal == "SIGKILL" || exit.Signal == "killed" { // as Linux and as Go has it
		return journal.InvalidKilled
	}
	return otherwise
}

// failed reports whether an error makes a trial invalid. With any other there is no trial.
func failed(err error) bool {
	_, ok := errors.AsType[*Failure](err)
	return ok
}

// lost is implemented by an error which says that what a trial needs is out of reach.
type lost interface {
	error
	Lost() bool
}

// Lost makes a Failure of an error which says that a target, or what runs it or looks at
// it, was lost. A Failure explains more: where the error holds one, it stays.
func Lost(err error) error {
	if _, left := errors.AsType[*UnstoppedError](err); left || failed(err) {
		return err
	}
	if process, ok := errors.AsType[*supervisor.LostError](err); ok && len(process.Left) == 0 {
		return Invalid(journal.InvalidLost, "%v", process)
	}
	if away, ok := errors.AsType[lost](err); ok && away.Lost() {
		return Invalid(journal.InvalidLost, "%v", away)
	}
	return err
}

// UnstoppedError is that something could not be ended, next to which no further trial may run.
type UnstoppedError struct{ Err error }

func (e *UnstoppedError) Error() string { return e.Err.Error() }
func (e *UnstoppedError) Unwrap() error { return e.Err }

// Stopped is the error of a trial, or of a part of one, whose programs were ended then, with the error stopped:
// what is left explains more than any Failure, and what was lost and left nothing explains less.
func Stopped(err, stopped error) error {
	switch {
	case stopped == nil:
		return err
	case failed(stopped): // that a node is lost, say
		return stopped
	case onlyLost(stopped):
		return cmp.Or(err, stopped)
	case err == nil || failed(err) || errors.Is(stopped, err):
		return &UnstoppedError{stopped}
	}
	return fmt.Errorf("%w; %w", err, &UnstoppedError{stopped})
}

// onlyLost reports whether an error, and each that it joins, says that something was lost, and nothing of it is left.
func onlyLost(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(one error) bool { return !onlyLost(one) })
	}
	return failed(Lost(err))
}

func warn(t *journal.Trial, w journal.Warning) { t.Warnings = append(t.Warnings, w) }
