package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// CheckBaseline looks, before a run takes its time, at what it is to be compared
// with. A *Refusal is that the two runs were planned in ways that cannot be
// compared; a *verdict.RefusedError that the machines or the targets cannot. The notes are
// those of BaselineNotes.
func (s *Session) CheckBaseline() (notes []string, err error) {
	contents := s.base.contents
	if contents == nil {
		return nil, s.base.err
	}
	old := contents.Header
	if err := cmp.Or(verdict.ComparableHosts(old.TargetHost, s.Header.TargetHost), verdict.SameKind(old.Target, s.Header.Target)); err != nil {
		return nil, err
	}
	if err := ArrangedUnlike(old, s.Header, s.Spec.ApartOn(s.options.Host.EffectiveCPUs)); err != nil {
		return nil, err
	}
	before := measured(contents)
	then, thenUnset := numbered(before)
	now, nowUnset := numbered(s.Plan.Settings)
	switch {
	case verdict.SameObjective(old.Plan, s.Header.Plan) != nil:
		return nil, &Refusal{fmt.Errorf("that run was measured for another latency objective: measure the new program with procfit sweep and the same --slo, then compare the two results directories with procfit compare OLD NEW")}
	case !thenUnset && slices.ContainsFunc(old.Plan.Settings, func(a journal.Setting) bool { return a.Procs == nil }):
		return nil, &Refusal{fmt.Errorf("an earlier sweep is compared by what each value gains over the default, and no trial of its default is valid: measure it again")}
	case !thenUnset || !nowUnset:
		return nil, &Refusal{fmt.Errorf("an earlier sweep is compared by what each value gains over the default: both runs need default in --procs, as in --procs default,1,2")}
	case !slices.ContainsFunc(before, func(a journal.Setting) bool { return slices.Contains(s.Plan.Groups(), a.Group()) }):
		return nil, &Refusal{fmt.Errorf("no settings of the two runs have the same CPU limit, replicas and Go version: give the --limit and --replicas of the earlier sweep")}
	case !slices.ContainsFunc(now, func(n int) bool { return slices.Contains(then, n) }):
		often := phrase.If(old.Plan.Racing(), " in three trials or more: measure the earlier sweep again with --repeats 6", "")
		return nil, &Refusal{fmt.Errorf("the two runs share no numbered setting; this one has %v, that one had %v%s", now, then, often)}
	}
	return BaselineNotes(old, s.Header), nil
}

// BaselineNotes are in what the run of a baseline differs from one that may be compared with it.
func BaselineNotes(old, now journal.Header) (notes []string) {
	if !slices.Equal(old.Target.Command, now.Target.Command) {
		notes = append(notes, fmt.Sprintf("measured another command: %q, now %q", old.Target.Command, now.Target.Command))
	}
	if !reflect.DeepEqual(old.Target.Beside, now.Target.Beside) {
		notes = append(notes, "was measured with another --beside")
	}
	old.Load.Sizing, now.Load.Sizing = nil, nil // which each run measured
	if old.Target.URL != now.Target.URL || !reflect.DeepEqual(old.Load, now.Load) || !sameAsked(old.Spec, now.Spec) {
		notes = append(notes, "was measured under another load")
	}
	return notes
}

// oldPilots are the trials that found the capacity of the baseline, as of the old version of a comparison:
// the rate is then one that both can carry, as where both run now.
func (s *Session) oldPilots() (old []journal.Trial) {
	if s.base.contents == nil {
		return nil
	}
	for _, t := range s.base.contents.Trials {
		if t.Role == journal.RolePilot {
			t.Setting.Variant = journal.VariantAgainst
			old = append(old, t)
		}
	}
	return old
}

// measured are the settings of a journal that have a valid trial: a race has measured a few of those in its
// plan, and fewer often enough to be compared. Of the default, half of its trials are of its number.
func measured(c *journal.Contents) (settings []journal.Setting) {
	seen := map[journal.SettingKey]int{}
	for _, t := range c.Trials {
		if t.Role != journal.RoleMeasure || !t.Valid {
			continue
		}
		seen[t.Setting.Key()]++
		least := 1
		if c.Header.Plan.Racing() && t.Setting.Procs != nil {
			least = stat.FewestPairs
		}
		if seen[t.Setting.Key()] == least {
			settings = append(settings, t.Setting)
		}
	}
	return settings
}

func numbered(settings []journal.Setting) (values []int, unset bool) {
	for _, a := range settings {
		if a.Procs == nil {
			unset = true
		} else {
			values = append(values, *a.Procs)
		}
	}
	return values, unset
}

// inherit takes over how a run arranged load and target: of the one that is gone on
// with, or else of the one that this one is compared with, since trials and runs are only
// comparable where both had the same CPUs.
func (s *Session) inherit() {
	from := cmp.Or(s.earlier.contents, s.base.contents, find(s.options.Like).contents)
	if from == nil || !s.Spec.ApartOn(s.options.Host.EffectiveCPUs) {
		return
	}
	then := from.Header
	if then.Load.Arranged() == journal.ArrangementShared && from == s.earlier.contents {
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
	if err := s.claim(); err != nil {
		return nil // openJournal says so
	}
	exists, err := HoldsJournal(s.Dir)
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
	same := slices.Equal(old.Target.Had(), current.Target.Had()) && slices.Equal(old.Load.Had(), current.Load.Had())
	fix := ": their latencies cannot be compared; measure the earlier sweep again"
	switch {
	case then == now && (then != journal.ArrangementApart || !open && same):
		return nil
	case then == now:
		return &Refusal{fmt.Errorf("in the earlier sweep the target ran on CPUs %s and the load on CPUs %s, in this one they run on others: add --cpus target=%[1]s,load=%[2]s", old.Target.Had(), old.Load.Had())}
	case then == journal.ArrangementShared && open:
		fix = ": add --cpus load=shared, or measure the earlier sweep again"
	}
	return &Refusal{fmt.Errorf("in the earlier sweep the load ran %s, in this one it runs %s%s", whereabouts[then], whereabouts[now], fix)}
}

var whereabouts = map[journal.Arrangement]string{
	journal.ArrangementShared:    "on the target's CPUs",
	journal.ArrangementApart:     "on CPUs of its own",
	journal.ArrangementElsewhere: "on another machine",
	journal.ArrangementTunnel:    "through the API server",
	"":                           "where its journal does not say",
}
