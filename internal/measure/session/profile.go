package session

import (
	"context"
	"os"
	"slices"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// profilesFolder is the folder of the profiles, below the results folder.
const profilesFolder = "profiles"

// CreateProfile makes the file of a profile, and says what it is called within the results
// folder. It is for the Runner, while the session runs.
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

// profiled reports whether a journal has the profiles of a setting.
func profiled(c *journal.Contents, a journal.Setting) bool {
	return slices.ContainsFunc(c.Profiled, func(p journal.Profiled) bool {
		return p.Setting.Key() == a.Key() && p.CPU != nil && p.Allocations != nil
	})
}
