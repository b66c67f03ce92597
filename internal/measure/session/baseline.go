package session

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// BaselineNote is a way in which a baseline differs and may yet be compared with.
type BaselineNote string

const (
	BaselineCommand BaselineNote = "command" // it measured another command
	BaselineLoad    BaselineNote = "load"    // it was measured under another load
	BaselineBeside  BaselineNote = "beside"  // another program ran next to it, or none
)

// CheckBaseline looks, before a run takes its time, at what it is to be compared
// with. A *Refusal is that the two runs were planned in ways that cannot be
// compared; a *verdict.RefusedError that the machines or the targets cannot.
func (s *Session) CheckBaseline() (old journal.Header, notes []BaselineNote, err error) {
	contents := s.base.contents
	if contents == nil {
		return old, nil, s.base.err
	}
	old = contents.Header
	if err := cmp.Or(verdict.ComparableHosts(old.TargetHost, s.Header.TargetHost), verdict.SameKind(old.Target, s.Header.Target)); err != nil {
		return old, nil, err
	}
	if err := arrangedUnlike(old, s.Header, s.Spec.ApartOn(s.options.Host.EffectiveCPUs)); err != nil {
		return old, nil, &Refusal{err}
	}
	before := measured(contents)
	then, thenUnset := numbered(before)
	now, nowUnset := numbered(s.Plan.Settings)
	switch {
	case verdict.SameObjective(old.Plan, s.Header.Plan) != nil:
		return old, nil, &Refusal{fmt.Errorf("that run was measured for another latency objective: give the --slo of the earlier run, or leave --slo out if it had none")}
	case !thenUnset || !nowUnset:
		return old, nil, &Refusal{fmt.Errorf("an earlier sweep is compared by what each value gains over the default: both runs need default in --procs, as in --procs default,1,2")}
	case !slices.ContainsFunc(before, func(a journal.Setting) bool { return slices.Contains(s.Plan.Groups(), a.Group()) }):
		return old, nil, &Refusal{fmt.Errorf("no settings of the two runs have the same CPU limit, replicas and Go version: give the --limit and --replicas of the earlier sweep")}
	case !slices.ContainsFunc(now, func(n int) bool { return slices.Contains(then, n) }):
		return old, nil, &Refusal{fmt.Errorf("the two runs share no numbered setting; that one had %v, this one has %v", then, now)}
	}
	if !slices.Equal(old.Target.Command, s.Header.Target.Command) {
		notes = append(notes, BaselineCommand)
	}
	if !reflect.DeepEqual(old.Target.Beside, s.Header.Target.Beside) {
		notes = append(notes, BaselineBeside)
	}
	if !reflect.DeepEqual(old.Load, s.Header.Load) || !sameAsked(old.Spec, s.Header.Spec) {
		notes = append(notes, BaselineLoad)
	}
	return old, notes, nil
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

// measured are the settings of a journal: a race has measured a few of those in its plan.
func measured(c *journal.Contents) (settings []journal.Setting) {
	if !c.Header.Plan.Racing() {
		return c.Header.Plan.Settings
	}
	seen := map[journal.SettingKey]bool{}
	for _, t := range c.Trials {
		if t.Role == journal.RoleMeasure && !seen[t.Setting.Key()] {
			seen[t.Setting.Key()] = true
			settings = append(settings, t.Setting)
		}
	}
	return settings
}

// numbered are the values of GOMAXPROCS of settings.
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
