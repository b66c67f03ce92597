package session

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Events are called as a session runs. Each may be nil; all must return at once, but
// for Progress at a trial's end: the next one waits for it.
type Events struct {
	Torn     func(path string, bytes int64) // a resumed journal's last line is left out
	Begin    func()                         // all is ready for the first trial
	Activity plan.Observer                  // what the Runner does
	Progress func(plan.Progress)            // a trial starts or has ended
}

// JournalError is that the journal or the logs cannot be used: nothing measured would be kept.
type JournalError struct{ Err error }

func (e *JournalError) Error() string { return e.Err.Error() }
func (e *JournalError) Unwrap() error { return e.Err }

// Refusal is that the results folder is not one to continue with, but another is to be chosen.
type Refusal struct{ Err error }

func (e *Refusal) Error() string { return e.Err.Error() }
func (e *Refusal) Unwrap() error { return e.Err }

// Unkept is implemented by a Runner's error that its logs cannot be written.
type Unkept interface {
	error
	Unkept() bool
}

// LooksAtMachine is whether runs look at the machine: between blocks, see plan.Machine, and
// in each trial at what other programs take of its CPUs. Tests that keep it busy themselves
// set it to false.
var LooksAtMachine = true

// Run measures what the journal lacks, with a Runner of the session's Spec, which it
// does not close. begun says whether it came to the first trial. A *JournalError is
// that the folder could not be used, a *Refusal in its chain that it is another
// run's. What was measured before any other error is kept.
func (s *Session) Run(ctx context.Context, r plan.Runner, on Events) (begun bool, err error) {
	if err := r.Prepare(ctx, s.Plan, on.Activity); err != nil {
		return false, err
	}
	if c, ok := r.(plan.Compiler); ok {
		if s.compiled = sumOf(c.Compiled()...); s.compiled != "" {
			s.resolve()
		}
	}
	if err := s.arrange(ctx, r, on); err != nil {
		return false, err
	}
	if err := s.openJournal(on); err != nil {
		return false, &JournalError{err}
	}
	w := s.journal
	defer s.folder.Close()
	defer w.Close()
	if err := s.folder.Mkdir(logs); err != nil {
		return false, &JournalError{err}
	}
	if on.Begin != nil {
		on.Begin()
	}
	execution := plan.Execution{
		Spec: s.Spec, Header: s.Header, Have: record(w.Contents()), Runner: discreet{r, s.options.Secrets}, Observe: on.Activity, Old: s.oldPilots(),
		Settled: func(have plan.Record) bool { return verdict.Analyze(s.Header, have.Trials, have.Slices...).Settled() },
		Report:  on.Progress, Now: time.Now,
		Begin:  func(b journal.Block) error { return unwritten(w.AppendBlock(b)) },
		Append: func(t journal.Trial) error { return unwritten(w.Append(t)) },
	}
	if LooksAtMachine {
		execution.Machine, _ = r.(plan.Machine)
	}
	err = execution.Run(ctx)
	if unkept, ok := errors.AsType[Unkept](err); ok && unkept.Unkept() {
		err = &JournalError{err}
	}
	if _, wrong := errors.AsType[*plan.FieldError](err); wrong && len(w.Contents().Trials) == 0 { // nothing is left to continue with
		return true, errors.Join(err, s.folder.Remove(journal.Name))
	}
	if err == nil {
		err = s.profile(ctx, r, on)
	}
	return true, err
}

func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return &JournalError{err}
}

const profilesFolder = "profiles"

// CreateProfile creates the file of a profile, for the Runner; path is within the results folder.
func (s *Session) CreateProfile(name string) (f *os.File, path string, err error) {
	if err := s.folder.Mkdir(profilesFolder); err != nil {
		return nil, "", err
	}
	return s.create(profilesFolder + "/" + name)
}

// profile takes the profiles that the Spec asks for, of the settings that the verdict of the
// trials is about, unless the journal has them. It never costs the verdict: that there is no
// profile is what the journal then has. Only the end of ctx, and a journal that cannot be
// written, are errors.
func (s *Session) profile(ctx context.Context, r plan.Runner, on Events) error {
	p, ok := r.(plan.Profiler)
	if s.Spec.Profile == "" || !ok {
		return nil
	}
	contents := s.journal.Contents()
	for _, a := range verdict.Analyze(s.Header, contents.Trials, contents.Slices...).ToProfile() {
		if profiled(contents, a) {
			continue
		}
		on.Activity.Tell(plan.Activity{Step: plan.StepProfile, Detail: a.Label, Left: s.Spec.ProfileTakes()})
		one, err := p.Profile(ctx, a)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			one = journal.Profiled{Setting: a, Started: one.Started, Missing: err.Error()}
		}
		if err := s.journal.AppendProfiled(one); err != nil {
			return &JournalError{err}
		}
		if one.CPU == nil && one.Allocations == nil {
			return nil // neither would the next setting have one
		}
	}
	return nil
}

func profiled(c *journal.Contents, a journal.Setting) bool {
	return slices.ContainsFunc(c.Profiled, func(p journal.Profiled) bool {
		return p.Setting.Key() == a.Key() && p.CPU != nil && p.Allocations != nil
	})
}
