package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// holdsJournal tells whether the results folder holds a journal. One that holds
// anything else is refused.
func holdsJournal(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &Refusal{fmt.Errorf("--out: %w; choose a directory", err)}
	case slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == journal.Name }):
		return true, nil
	case len(entries) == 1 && entries[0].Name() == logs:
		// Of a run that ended before its first trial.
	case len(entries) > 0:
		return false, &Refusal{fmt.Errorf("--out %s holds other files and no %s: choose a new or an empty directory", dir, journal.Name)}
	}
	return false, nil
}

// openJournal makes the results folder and its journal, or opens the one that is to
// be completed. On success the folder is open too.
func (s *Session) openJournal(on Events) error {
	exists, err := holdsJournal(s.Dir)
	if err != nil {
		return err
	}
	dir, err := folder.Make(s.Dir)
	if err != nil {
		return fmt.Errorf("the results directory cannot be made: %w; choose another with --out", err)
	}
	w, err := s.journalIn(dir, exists, on)
	if err != nil {
		dir.Close()
		return err
	}
	s.folder, s.journal = dir, w
	return nil
}

func (s *Session) journalIn(dir *folder.Dir, exists bool, on Events) (*journal.Writer, error) {
	if exists {
		w, err := journal.Open(dir)
		switch {
		case errors.Is(err, journal.ErrEmpty):
			// A run that was killed, or whose machine died, before it wrote its header.
		case err != nil:
			return nil, err
		default:
			return w, s.goOn(w, on)
		}
	}
	w, err := journal.Create(dir, s.Header)
	if err != nil {
		return nil, fmt.Errorf("the journal cannot be begun: %w", err)
	}
	return w, nil
}

// goOn takes over what the journal holds; when it may not, it closes it.
func (s *Session) goOn(w *journal.Writer, on Events) error {
	c := w.Contents()
	if err := s.adopt(c.Header); err != nil {
		w.Close()
		return err
	}
	if err := s.tell(w, c.Header.Plan); err != nil {
		w.Close()
		return err
	}
	have := record(c)
	missing := plan.PlannerOf(s.Header).Next(have).Tasks
	s.Done, s.Ended = have.Standing(missing), len(missing) == 0
	if c.Torn > 0 && on.Torn != nil {
		on.Torn(s.Dir+"/"+journal.Name, c.Torn)
	}
	return nil
}

// adopt takes over the journal's plan when it is the one that was asked for.
func (s *Session) adopt(then journal.Header) error {
	wanted, now := s.Plan, s.Header
	asked, blocks := wanted.Budget(), s.blocks(then.Plan)
	switch {
	case wanted.Racing(): // one that ended before its answer may go on with more
		wanted = wanted.With(then.Plan.Budget())
	case s.options.Grow && then.Plan.Blocks <= blocks:
		wanted.Blocks = then.Plan.Blocks
	}
	if s.Spec.Seed == nil {
		wanted.Seed = then.Plan.Seed
	}
	var differs []string
	planned := then.Plan
	planned.Nodes = wanted.Nodes // told apart
	for _, d := range []struct {
		what string
		same bool
	}{
		{planDiffers(then.Plan), reflect.DeepEqual(wanted, planned)},
		{"the nodes (of --parallel, and --node: it was " + cmp.Or(phrase.And(then.Plan.Nodes), "one") + ")", slices.Equal(wanted.Nodes, then.Plan.Nodes)},
		{"the target (command or its executable, --url, --ready, --build, --beside, --server-cpuset, directory, environment)", reflect.DeepEqual(now.Target, then.Target)},
		{"the load", reflect.DeepEqual(now.Load, then.Load)},
		{"the Go that procfit is built with, being its own target", now.Target.BuiltIn == "" || goVersioned(wanted) || now.Tool.GoVersion == then.Tool.GoVersion},
		{"the host", SameHost(now.TargetHost, then.TargetHost)},
	} {
		if !d.same {
			differs = append(differs, d.what)
		}
	}
	if differs != nil {
		return &Refusal{fmt.Errorf("%s holds a sweep that differs in %s; its command was: %s; repeat that, or choose another --out",
			s.Dir, strings.Join(differs, " and "), phrase.Clean(strings.Join(append([]string{"procfit"}, then.Tool.Args...), " ")))}
	}
	if wanted.Racing() {
		wanted = wanted.With(asked)
	} else {
		wanted.Blocks = blocks
	}
	s.Plan, s.Header.Plan = wanted, wanted
	return nil
}

// planDiffers is what may differ in a plan.
func planDiffers(then journal.Plan) string {
	what := "the plan (--procs, --quota, --replicas, --go, --repeats, --slo, --price, margins, --seed)"
	if !then.Racing() {
		what = "the plan (--procs, --quota, --replicas, --go, --grid with its --repeats, --slo, --price, margins, --seed)"
	}
	return what
}

// goVersioned tells whether the plan names the Go of its targets.
func goVersioned(p journal.Plan) bool {
	return slices.ContainsFunc(p.Settings, func(a journal.Setting) bool { return a.GoVersion != "" })
}
