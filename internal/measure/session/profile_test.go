package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// profiler is a runner that profiles too.
type profiler struct {
	runner
	session *session.Session
	asked   []string
	missing string
	err     error
}

func (p *profiler) Profile(_ context.Context, a journal.Setting) (journal.Profiled, error) {
	p.asked = append(p.asked, a.Label)
	out := journal.Profiled{Setting: a, Missing: p.missing}
	if p.missing != "" || p.err != nil {
		return out, p.err
	}
	for _, to := range []**journal.Profile{&out.CPU, &out.Allocations} {
		f, path, err := p.session.CreateProfile("x.pprof")
		if err != nil {
			return out, err
		}
		f.Close()
		*to = &journal.Profile{File: path, Total: 1, Functions: []journal.ProfiledFunction{}}
	}
	return out, nil
}

// Profiles come after the trials and are in the journal; a run that has ended can be profiled,
// and what is there is not taken again.
func TestProfilesAfterTheTrials(t *testing.T) {
	dir := folderWith(t, 0)
	before := lines(t, dir)
	run := func(p *profiler, on session.Events) error {
		s := sample()
		s.Profile = plan.ProfileOwn
		p.session = session.New(s, options(dir, two))
		_, err := p.session.Run(t.Context(), p, on)
		return err
	}
	p := &profiler{missing: "it answered 404 with token=s3cr3tvalue123"}
	if err := run(p, session.Events{}); err != nil || p.ran != 0 || lines(t, dir) != before+1 {
		t.Fatalf("%v, %d trials, %d lines, want %d and one", err, p.ran, lines(t, dir), before)
	}
	if got := contentsOf(t, dir).Profiled; got[0].Missing != "it answered 404 with token=REDACTED" || got[0].Kind != journal.KindProfiled {
		t.Errorf("%+v", got)
	}
	p = &profiler{err: errors.New("not there")}
	if err := run(p, session.Events{}); err != nil || contentsOf(t, dir).Profiled[1].Missing != "not there" {
		t.Errorf("%v, %+v", err, contentsOf(t, dir).Profiled)
	}
	var steps []plan.Activity
	p = &profiler{}
	if err := run(p, session.Events{Activity: func(a plan.Activity) { steps = append(steps, a) }}); err != nil || !slices.Equal(p.asked, []string{"default"}) {
		t.Errorf("%v, asked for %q", err, p.asked)
	}
	if !slices.ContainsFunc(steps, func(a plan.Activity) bool { return a.Step == plan.StepProfile && a.Detail == "default" && a.Left > 0 }) {
		t.Errorf("%+v", steps)
	}
	got := contentsOf(t, dir).Profiled
	if last := got[len(got)-1]; last.CPU == nil || last.CPU.File != "profiles/x.pprof" {
		t.Errorf("%+v", last)
	}
	if info, err := os.Stat(filepath.Join(dir, "profiles", "x.pprof")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	p = &profiler{}
	if err := run(p, session.Events{}); err != nil || p.asked != nil {
		t.Errorf("%v, asked again for %q", err, p.asked)
	}
}

// The end of a run in the middle of a profile is that, and leaves no line of it.
func TestProfileThatIsInterrupted(t *testing.T) {
	dir := folderWith(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	s := sample()
	s.Profile = plan.ProfileOwn
	p := &profiler{err: context.Canceled}
	p.session = session.New(s, options(dir, two))
	if _, err := p.session.Run(ctx, p, session.Events{Activity: func(plan.Activity) { cancel() }}); !errors.Is(err, context.Canceled) || contentsOf(t, dir).Profiled != nil {
		t.Errorf("%v, %+v", err, contentsOf(t, dir).Profiled)
	}
}
