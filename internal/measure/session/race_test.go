package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// raceSpec is a race over a few values that ends at its budget at the latest.
func raceSpec(maxTrials int) plan.Spec {
	s := sample()
	s.Budget = &plan.Budget{Goal: journal.GoalProven, MaxTrials: maxTrials}
	return s
}

// A race that ended at its budget continues with more, and the journal says so; less
// than it has taken already ends it at once.
func TestAnotherBudget(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	host := journal.Host{CPUs: 2, EffectiveCPUs: 2}
	run := func(s *session.Session) int {
		t.Helper()
		r := &runner{}
		must.Get(s.Run(t.Context(), r, session.Events{}))(t)
		return r.ran
	}
	first := session.New(raceSpec(5), options(dir, host))
	if n := run(first); n > 5 || n < 3 || first.Missing() != 0 {
		t.Fatalf("%d trials ran of at most 5, %d are missing", n, first.Missing())
	}
	more := session.New(raceSpec(11), options(dir, host))
	if missing := more.Missing(); missing < 6 || missing > 8 {
		t.Errorf("%d trials are missing of at most 11", missing)
	}
	if n := run(more); n == 0 || more.Done == 0 || more.Ended {
		t.Errorf("%d more trials ran after %d, ended %v", n, more.Done, more.Ended)
	}
	c, err := journal.ReadDirectory(dir)
	if err != nil || c.Header.Plan.MaxTrials != 11 || len(c.Trials) > 11 || len(c.Trials) <= 5 {
		t.Errorf("%v: the journal says at most %d and holds %d trials", err, c.Header.Plan.MaxTrials, len(c.Trials))
	}
	less := session.New(raceSpec(5), options(dir, host))
	if n := run(less); n != 0 || !less.Ended || less.Done != len(c.Trials) {
		t.Errorf("with less, %d trials ran; ended %v with %d done", n, less.Ended, less.Done)
	}
}

// lasting is a runner whose trials take ten seconds.
type lasting struct{ runner }

func (l *lasting) Run(ctx context.Context, t plan.Task, o plan.Observer) (journal.Trial, error) {
	trial, err := l.runner.Run(ctx, t, o)
	trial.DurationSeconds = 10
	return trial, err
}

// A look at a folder finds what a resumed run would, and changes nothing: what is done, what
// is left of the time, and that it is another run's.
func TestLook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	sp := raceSpec(40)
	sp.Budget.MaxTime = 10 * time.Minute
	fresh := session.New(sp, options(dir, two))
	if err := fresh.Look(); err != nil || fresh.Done != 0 || *fresh.TimeLeft() != 10*time.Minute {
		t.Fatalf("%v: %d done, %v left", err, fresh.Done, *fresh.TimeLeft())
	}
	if _, err := fresh.Run(t.Context(), &lasting{runner{stop: 4}}, session.Events{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	before := lines(t, dir)
	again := session.New(sp, options(dir, two))
	if err := again.Look(); err != nil || again.Done != 4 || again.Ended || *again.TimeLeft() != 10*time.Minute-40*time.Second {
		t.Errorf("%v: %d done, ended %v, %v left", err, again.Done, again.Ended, *again.TimeLeft())
	}
	if err := session.New(sample(), options(dir, two)).Look(); !refused(err, "") || lines(t, dir) != before {
		t.Errorf("another run: %v", err)
	}
}
