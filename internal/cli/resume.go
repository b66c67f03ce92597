package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/folder"
	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/sweep"
)

const journalName = "journal.jsonl"

// isOurs tells whether the results directory holds a journal. One that holds
// anything else is refused.
func isOurs(dir string) (exists bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, usageError("--out: %w; choose a directory", err)
	}
	for _, e := range entries {
		if e.Name() == journalName {
			return true, nil
		}
	}
	if len(entries) > 0 {
		return false, usageError("--out %s holds other files and no %s: choose a new or an empty directory", dir, journalName)
	}
	return false, nil
}

// openJournal makes the results directory and its journal, or opens the one that
// is to be completed.
func (s *session) openJournal(io stdio) (*journal.Writer, []journal.Trial, error) {
	exists, err := isOurs(s.dir)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(s.dir, journalName)
	dir, err := folder.Make(s.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("the results directory cannot be made: %w; choose another with --out", err)
	}
	if !exists {
		return s.beginJournal(dir)
	}
	w, c, err := journal.Open(dir)
	if errors.Is(err, journal.ErrEmpty) {
		return s.beginJournal(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := s.adopt(c.Header); err != nil {
		w.Close()
		return nil, nil, err
	}
	s.done = len(sweep.Schedule(s.plan)) - len(sweep.Missing(sweep.Schedule(s.plan), c.Trials))
	if c.Torn > 0 {
		io.notef("%s: its last line was torn (%d bytes) and is left out", path, c.Torn)
	}
	return w, c.Trials, nil
}

func (s *session) beginJournal(dir *folder.Dir) (*journal.Writer, []journal.Trial, error) {
	w, err := journal.Create(dir, s.header)
	if err != nil {
		return nil, nil, fmt.Errorf("the journal cannot be begun: %w", err)
	}
	return w, nil, nil
}

// missing is how many trials the journal lacks, if there is one.
func (s *session) missing() int {
	plan := s.plan
	contents, err := journal.ReadFile(filepath.Join(s.dir, journalName))
	if err != nil {
		return len(sweep.Schedule(plan))
	}
	if !s.seedGiven {
		plan.Seed = contents.Header.Plan.Seed
	}
	return len(sweep.Missing(sweep.Schedule(plan), contents.Trials))
}

// adopt takes over the journal's plan when it is the one that was asked for.
func (s *session) adopt(h journal.Header) error {
	plan := s.plan
	if !s.seedGiven {
		plan.Seed = h.Plan.Seed
	}
	var differs []string
	for _, d := range []struct {
		what string
		same bool
	}{
		{"the plan (--procs, --quota, --replicas, --go, --repeats, margins, --seed)", reflect.DeepEqual(plan, h.Plan)},
		{"the target (command or its executable, --url, --build, --server-cpuset, directory, environment)", reflect.DeepEqual(s.header.Target, h.Target)},
		{"the load", reflect.DeepEqual(s.header.Load, h.Load)},
		{"the Go that procfit is built with, being its own target", s.header.Target.BuiltIn == "" || goVersioned(plan) || s.header.Tool.GoVersion == h.Tool.GoVersion},
		{"the host", sameHost(s.header.TargetHost, h.TargetHost)},
	} {
		if !d.same {
			differs = append(differs, d.what)
		}
	}
	if differs != nil {
		return usageError("%s holds a sweep that differs in %s; its command was: procfit %s; repeat that, or choose another --out",
			s.dir, strings.Join(differs, " and "), strings.Join(h.Tool.Args, " "))
	}
	s.plan = plan
	return nil
}

// goVersioned tells whether the plan names the Go of its targets.
func goVersioned(p journal.Plan) bool {
	return slices.ContainsFunc(p.Arms, func(a journal.Arm) bool { return a.GoVersion != "" })
}

func sameHost(a, b journal.Host) bool {
	return a.CPUModel == b.CPUModel && a.CPUs == b.CPUs && a.Kernel == b.Kernel && a.EffectiveCPUs == b.EffectiveCPUs
}
