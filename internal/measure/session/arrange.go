package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// inherit takes over how a run arranged load and target: of the one that is gone on
// with, or else of the baseline, since trials and runs are only comparable where both
// had the same CPUs.
func (s *Session) inherit() {
	switch {
	case s.earlier.contents != nil:
		s.arrangeAs(s.earlier.contents.Header, true)
	case s.base.contents != nil:
		s.arrangeAs(s.base.contents.Header, false)
	}
}

func (s *Session) arrangeAs(then journal.Header, resumed bool) {
	if !s.Spec.ApartOn(s.options.Host.EffectiveCPUs) {
		return
	}
	if then.Load.Arranged() == journal.ArrangementShared && resumed {
		s.Spec.Load.Shared = true
	}
	if then.Load.Sizing != nil && len(then.Target.CPUs) > 0 && len(then.Load.CPUs) > 0 {
		s.Spec.Split = &plan.Split{Target: then.Target.CPUs, Load: then.Load.CPUs, Sizing: then.Load.Sizing}
	}
}

// arrange gives the load CPUs of its own, where it is to have some and no journal says
// which. What it measures for that is in no journal: target and load still share all.
func (s *Session) arrange(ctx context.Context, r plan.Runner, on Events) error {
	arranger, ok := r.(plan.Arranger)
	if !ok || !s.Spec.ApartOn(s.options.Host.EffectiveCPUs) {
		return nil
	}
	exists, err := holdsJournal(s.Dir)
	if err != nil {
		return &JournalError{err}
	}
	if exists && !errors.Is(s.earlier.err, journal.ErrEmpty) {
		return nil
	}
	dir, err := folder.Make(s.Dir)
	if err != nil {
		return nil // openJournal says so
	}
	defer dir.Close()
	if err := dir.Mkdir(logs); err != nil {
		return &JournalError{err}
	}
	s.folder = dir
	defer func() { s.folder = nil }()
	split, err := arranger.Arrange(ctx, s.Plan, on.Activity)
	if err != nil || split == nil {
		return err
	}
	s.Spec.Split = split
	s.resolve()
	return nil
}

// ArrangedUnlike says why a run of another arrangement is not a baseline, or nothing, as a
// *Refusal: with the load on the target's CPUs the latency is that of both. The load of a run
// that is open gets CPUs of its own, and nobody knows yet which.
func ArrangedUnlike(old, current journal.Header, open bool) error {
	if old.Target.Kind != journal.KindServer || current.Target.Kind != journal.KindServer {
		return nil
	}
	then, now := old.Load.Arranged(), current.Load.Arranged()
	if open {
		now = journal.ArrangementApart
	}
	fix := ": their latencies cannot be compared; measure the earlier sweep again"
	switch {
	case then == now && (then != journal.ArrangementApart || !open && sameCPUs(old, current)):
		return nil
	case then == now:
		return &Refusal{fmt.Errorf("in the earlier sweep the target ran on CPUs %s and the load on CPUs %s, in this one they run on others: add --cpus target=%[1]s,load=%[2]s", old.Target.Had(), old.Load.Had())}
	case then == journal.ArrangementShared && open:
		fix = ": add --cpus load=shared, or measure the earlier sweep again"
	}
	return &Refusal{fmt.Errorf("in the earlier sweep the load ran %s, in this one it runs %s%s", whereabouts(then), whereabouts(now), fix)}
}

func whereabouts(a journal.Arrangement) string {
	switch a {
	case journal.ArrangementApart:
		return "on CPUs of its own"
	case journal.ArrangementElsewhere:
		return "on another machine"
	case journal.ArrangementTunnel:
		return "through the API server"
	case "":
		return "where its journal does not say"
	}
	return "on the target's CPUs"
}

func sameCPUs(a, b journal.Header) bool {
	return slices.Equal(a.Target.Had(), b.Target.Had()) && slices.Equal(a.Load.Had(), b.Load.Had())
}
