package session

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// A grid that may grow continues with more blocks, in the very order that it would have
// had, and keeps them when it is continued as it was asked for first.
func TestGrow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	o := options(dir, journal.Host{CPUs: 2, EffectiveCPUs: 2})
	o.Grow = true
	sp := sample()
	sp.Seed = nil
	run := func(s *Session, stop int) int {
		t.Helper()
		r := &runner{stop: stop}
		if _, err := s.Run(t.Context(), r, Events{}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return r.ran
	}
	first := New(sp, o)
	perBlock := len(first.Plan.Settings) + len(first.Plan.AA)
	whole := first.Trials()
	if n := run(first, 0); n != whole || first.Missing() != 0 {
		t.Fatalf("%d of %d trials ran, %d are missing", n, whole, first.Missing())
	}
	first.Grow(5)
	if missing := first.Missing(); missing != 2*perBlock {
		t.Errorf("%d trials are missing of two blocks more, want %d", missing, 2*perBlock)
	}
	if n := run(first, perBlock+1); n != perBlock+1 {
		t.Errorf("%d trials ran, want %d", n, perBlock+1)
	}

	// Another day, by a clock that makes another seed.
	o.Started = o.Started.Add(1000)
	again := New(sp, o)
	if missing := again.Missing(); missing != perBlock-1 {
		t.Errorf("%d trials are missing, want %d", missing, perBlock-1)
	}
	if n := run(again, 0); n != perBlock-1 {
		t.Errorf("%d trials ran, want %d", n, perBlock-1)
	}
	c, err := journal.ReadDirectory(dir)
	if err != nil || c.Header.Plan.Blocks != 5 || c.Grown != 1 || len(c.Trials) != whole+2*perBlock {
		t.Errorf("%v: %d blocks, grown %d times, %d trials", err, c.Header.Plan.Blocks, c.Grown, len(c.Trials))
	}
	last := c.Trials[len(c.Trials)-1]
	if last.Block != 4 {
		t.Errorf("the last trial is of block %d", last.Block)
	}
	if r := verdict.Analyze(c.Header, c.Trials); !r.Complete || r.TrialsRun != r.TrialsPlanned {
		t.Errorf("%+v", r)
	}

	// Without leave to grow more blocks are another sweep.
	o.Grow = false
	var refused *Refusal
	if _, err := New(sp, o).Run(t.Context(), &runner{}, Events{}); !errors.As(err, &refused) {
		t.Errorf("%v, want a refusal", err)
	}
}

// What no sweep may have is not taken over from a journal of anybody's.
func TestGrowBeyondReason(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "out"), journal.Host{CPUs: 2, EffectiveCPUs: 2})
	o.Grow = true
	s := New(sample(), o)
	for blocks, want := range map[int]int{2: 3, 3: 3, 7: 7, 1 << 40: 3} {
		if got := s.blocks(journal.Plan{Blocks: blocks}); got != want {
			t.Errorf("a journal of %d blocks: %d, want %d", blocks, got, want)
		}
	}
}
