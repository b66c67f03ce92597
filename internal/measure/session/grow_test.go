package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// A grid continues with more blocks of some of its settings, and the same command completes
// those that were begun.
func TestGrow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	o := options(dir, journal.Host{CPUs: 2, EffectiveCPUs: 2})
	sp := sample()
	sp.Seed = nil
	run := func(s *session.Session, stop int) int {
		t.Helper()
		r := &runner{stop: stop}
		if _, err := s.Run(t.Context(), r, session.Events{}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return r.ran
	}
	first := session.New(sp, o)
	whole, two := first.Trials(), first.Plan.Settings[:2]
	if n := run(first, 0); n != whole || first.Missing() != 0 {
		t.Fatalf("%d of %d trials ran, %d are missing", n, whole, first.Missing())
	}
	first.Grow(two, 1)
	first.Grow(two, 2)
	if missing := first.Missing(); missing != 6 {
		t.Errorf("%d trials are missing of three blocks of two settings", missing)
	}
	if n := run(first, 3); n != 3 {
		t.Errorf("%d trials ran, want 3", n)
	}

	// Another day, by a clock that makes another seed.
	o.Started = o.Started.Add(1000)
	again := session.New(sp, o)
	if missing := again.Missing(); missing != 3 {
		t.Errorf("%d trials are missing, want 3", missing)
	}
	if n := run(again, 0); n != 3 || again.Missing() != 0 {
		t.Errorf("%d trials ran, %d are missing", n, again.Missing())
	}
	c, err := journal.ReadDirectory(dir)
	if err != nil || c.Header.Plan.Blocks != sp.Repeats || len(c.Blocks) != 3 || len(c.Trials) != whole+6 {
		t.Fatalf("%v: %d blocks and %d more, %d trials", err, c.Header.Plan.Blocks, len(c.Blocks), len(c.Trials))
	}
	for i, b := range c.Blocks {
		if b.Block != 2*sp.Repeats+i {
			t.Errorf("block %d is number %d", i, b.Block)
		}
	}
	for _, one := range c.Trials[whole:] {
		if one.Block < 2*sp.Repeats || !slices.ContainsFunc(two, func(a journal.Setting) bool { return a.Key() == one.Setting.Key() }) {
			t.Errorf("a trial of %s in block %d", one.Setting.Label, one.Block)
		}
	}
	if r := verdict.Analyze(c.Header, c.Trials); !r.Complete {
		t.Errorf("%+v", r)
	}
}

// What a block has does not depend on how often the grid was given more.
func TestFurther(t *testing.T) {
	p := session.New(sample(), options(t.TempDir(), journal.Host{CPUs: 2, EffectiveCPUs: 2})).Plan
	all := plan.Further(p, 0, 8, p.Settings)
	for i, b := range plan.Further(p, 5, 3, p.Settings) {
		if b.Block != all[5+i].Block || !slices.EqualFunc(b.Settings, all[5+i].Settings, func(a, b journal.Setting) bool { return a.Key() == b.Key() }) {
			t.Errorf("%+v, and %+v in one go", b, all[5+i])
		}
	}
	if slices.EqualFunc(all[0].Settings, all[1].Settings, func(a, b journal.Setting) bool { return a.Key() == b.Key() }) &&
		slices.EqualFunc(all[1].Settings, all[2].Settings, func(a, b journal.Setting) bool { return a.Key() == b.Key() }) {
		t.Error("the settings run in the same order in each block")
	}
}
