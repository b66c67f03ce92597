package cli

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/stat"
)

// fewestBlocks is what a gate needs to be judged at all.
const fewestBlocks = 3

// checkGate looks at what the sweep is to be compared with, before it takes its
// time.
func (o *sweepOptions) checkGate(s *session, io stdio) error {
	switch {
	case o.gate && o.against == "" && o.baseline == "":
		return usageError("--gate needs something to compare with: --against 'OLD COMMAND' or --baseline DIR")
	case o.gate && o.repeats < fewestBlocks:
		return usageError("--gate with --repeats %d: fewer than %d blocks prove nothing", o.repeats, fewestBlocks)
	case o.against != "" && o.baseline != "":
		return usageError("--against and --baseline exclude each other")
	case o.baseline == "":
		return nil
	}
	old, err := journal.ReadFile(filepath.Join(o.baseline, journalName))
	if errors.Is(err, os.ErrNotExist) {
		return usageError("--baseline: %w; name the results directory of an earlier sweep", err)
	}
	if err != nil {
		return err
	}
	return s.checkBaseline(old.Header, io)
}

// checkBaseline says why a run cannot be compared with an earlier one, and warns
// where it can be but differs.
func (s *session) checkBaseline(old journal.Header, io stdio) error {
	if err := stat.ComparableHosts(old.TargetHost, s.header.TargetHost); err != nil {
		return err
	}
	numbered := func(p journal.Plan) (shared []int, unset bool) {
		for _, a := range p.Arms {
			if a.Procs == nil {
				unset = true
			} else {
				shared = append(shared, *a.Procs)
			}
		}
		return shared, unset
	}
	then, thenUnset := numbered(old.Plan)
	now, nowUnset := numbered(s.plan)
	switch {
	case old.Target.Kind != s.header.Target.Kind:
		return &stat.RefusedError{Reason: "it measured a " + old.Target.Kind + " target, and this is a " + s.header.Target.Kind + " target"}
	case !thenUnset || !nowUnset:
		return usageError("--baseline compares each arm with unset: both runs need it in --procs, as in --procs unset,1,2")
	case !slices.ContainsFunc(now, func(n int) bool { return slices.Contains(then, n) }):
		return usageError("--baseline: the two runs share no numbered arm; that one had %v, this one has %v", then, now)
	}
	if !slices.Equal(old.Target.Command, s.header.Target.Command) {
		io.notef("the baseline measured another command: %q, now %q", old.Target.Command, s.header.Target.Command)
	}
	if !reflect.DeepEqual(old.Load, s.header.Load) {
		io.notef("the baseline was measured under another load")
	}
	return nil
}
