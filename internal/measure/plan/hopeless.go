package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// ErrHopeless is in the chain of an error that ends a run because its trials
// prove nothing.
var ErrHopeless = errors.New("no valid trial")

// hopeless looks at the last trial, which may be the end of a block: an invalid pilot
// of a group that has no valid one ends the run, and so does a block in which all were
// invalid, where that is more than the fault of a value, or of a machine that is busy for
// a while.
func hopeless(r Record, ends bool) error {
	last := r.Trials[len(r.Trials)-1]
	if last.Valid {
		return nil
	}
	if last.Role == journal.RolePilot {
		if slices.ContainsFunc(r.Trials, func(t journal.Trial) bool {
			return t.Role == journal.RolePilot && t.Valid && t.Setting.Group() == last.Setting.Group()
		}) {
			return nil // the rate comes from that one
		}
		return fmt.Errorf("%w: the pilot was invalid: %s", ErrHopeless, last.InvalidReason)
	}
	block := r.of(last.Block)
	if !ends || slices.ContainsFunc(block, func(t journal.Trial) bool { return t.Valid }) || r.faultOfValues(block) || !slices.ContainsFunc(block, roomy) {
		return nil
	}
	return fmt.Errorf("%w: all %d of block %d were invalid, the last one: %s", ErrHopeless, len(block), last.Block+1, last.InvalidReason)
}

// roomy tells that what went wrong in a trial is not for want of CPUs.
func roomy(t journal.Trial) bool {
	silent := t.InvalidCode == journal.InvalidNoAnswer || t.InvalidCode == journal.InvalidErrors
	return t.InvalidCode != journal.InvalidStolen && !(silent && contest.Others(&t.Usage) >= contest.CrowdedFrom)
}

// faultOfValues tells whether a block of invalid trials may be the fault of its values
// alone, as a race's, which has few: others of the group are valid, and none of these
// ever was. One alone that was may have crashed by chance.
func (r Record) faultOfValues(block []journal.Trial) bool {
	group := false // has a valid trial
	before := false
	for _, t := range r.Trials {
		if t.Role == journal.RolePilot || !t.Valid {
			continue
		}
		group = group || t.Setting.Group() == block[0].Setting.Group()
		before = before || slices.ContainsFunc(block, func(b journal.Trial) bool { return b.Setting.Key() == t.Setting.Key() })
	}
	return group && (!before || len(block) == 1)
}
