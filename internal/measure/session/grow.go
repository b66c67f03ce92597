package session

import (
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Grow has a grid go on to so many blocks, where it has fewer. The session must be one
// that may grow.
func (s *Session) Grow(blocks int) {
	s.Spec.Repeats = max(s.Spec.Repeats, blocks)
	s.settle()
}

// blocks is how many a grid is to have beside a journal's: as many as were asked for, or
// as many as it was given in the meantime. A number that no sweep may have is not taken
// over.
func (s *Session) blocks(then journal.Plan) int {
	asked := s.Plan.Blocks
	if !s.options.Grow || s.Plan.Racing() || then.Blocks > plan.MaxRepeats {
		return asked
	}
	return max(asked, then.Blocks)
}

// tell writes what a resumed journal's header does not say: another budget of a race,
// more blocks of a grid.
func (s *Session) tell(w *journal.Writer, then journal.Plan) error {
	switch {
	case s.Plan.Racing() && s.Plan.Budget() != then.Budget():
		return w.AppendBudget(s.Plan.Budget())
	case !s.Plan.Racing() && s.Plan.Blocks > then.Blocks:
		return w.AppendBudget(journal.Budget{Kind: journal.KindBudget, Blocks: s.Plan.Blocks})
	}
	return nil
}
