package session

import (
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

// holdsJournal reports whether the results folder holds a journal. One that holds
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
		return fmt.Errorf("cannot make the results directory: %w; choose another with --out", err)
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
		return nil, fmt.Errorf("cannot start the journal: %w", err)
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
	s.count(c)
	if c.Torn > 0 && on.Torn != nil {
		on.Torn(s.Dir+"/"+journal.Name, c.Torn)
	}
	return nil
}

// Look takes over what the folder's journal holds, as Run does, and changes nothing there.
func (s *Session) Look() error {
	exists, err := holdsJournal(s.Dir)
	switch {
	case err != nil:
		return err
	case !exists || errors.Is(s.earlier.err, journal.ErrEmpty):
		return nil
	case s.earlier.err != nil:
		return s.earlier.err
	}
	if err := s.adopt(s.earlier.contents.Header); err != nil {
		return err
	}
	s.count(s.earlier.contents)
	return nil
}

// count sets what a journal has of the plan.
func (s *Session) count(c *journal.Contents) {
	have := record(c)
	missing := plan.PlannerOf(s.Header).Next(have).Tasks
	s.Done, s.Ended = have.Done(missing), len(missing) == 0
}

// adopt takes over the journal's plan when it is the one that was asked for.
func (s *Session) adopt(then journal.Header) error {
	wanted, now := s.Plan, s.Header
	asked, blocks := wanted.Budget(), s.blocks(then.Plan)
	switch {
	case wanted.Racing(): // one that ended before its answer may continue with more
		wanted = wanted.With(then.Plan.Budget())
	case s.options.Grow && then.Plan.Blocks <= blocks:
		wanted.Blocks = then.Plan.Blocks
	}
	now.Plan = wanted
	tests := now.Target.Kind == journal.KindGoBench
	if tests && (now.Target.SHA256 == "" || then.Target.SHA256 == "") { // they are not compiled, or were not
		now.Target.SHA256 = then.Target.SHA256
	}
	differs := flagsOf(differing(now, then), now.Tool.Args, then.Tool.Args)
	if i := slices.Index(differs, noField["target.sha256"]); tests && i >= 0 {
		differs[i] = "the code of the benchmarks, or what compiles it"
	}
	if now.Target.BuiltIn != "" && !goVersioned(wanted) && now.Tool.GoVersion != then.Tool.GoVersion {
		differs = append(differs, "the Go version that procfit, its own target, is built with")
	}
	if !SameHost(now.TargetHost, then.TargetHost) {
		differs = append(differs, "the host")
	}
	if differs != nil {
		return &Refusal{fmt.Errorf("%s has a run that differs in %s; its command was: %s; repeat that command, or choose another --out",
			s.Dir, phrase.And(differs), phrase.Clean(strings.Join(append([]string{"procfit"}, then.Tool.Args...), " ")))}
	}
	if wanted.Racing() {
		wanted = wanted.With(asked)
	} else {
		wanted.Blocks = blocks
	}
	s.Plan, s.Header.Plan = wanted, wanted
	return nil
}

// differing are the keys by which two headers differ in target, load and plan.
func differing(a, b journal.Header) (keys []string) {
	for part, two := range map[string][2]any{"target": {a.Target, b.Target}, "load": {a.Load, b.Load}, "plan": {a.Plan, b.Plan}} {
		x, y := reflect.ValueOf(two[0]), reflect.ValueOf(two[1])
		for i := range x.NumField() {
			if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
				key, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
				keys = append(keys, part+"."+key)
			}
		}
	}
	return keys
}

// noField is what decides the keys that no field of a Spec does, or not alone.
var noField = map[string]string{
	"target.kind": "the kind of program", "target.command": "the command", "target.sha256": "the executable or the template of the pods",
	"target.built_in": "the command", "target.go_version": "the executable", "target.main_module": "the executable", "target.revision": "the executable",
	"target.directory": "the directory", "target.environment": "GOGC, GOMEMLIMIT or GODEBUG",
	"target.object": "the object", "target.namespace": "--namespace", "target.container": "--container", "plan.nodes": "--parallel and --node",
	"target.against": "the old command", "plan.gate_against": "the old command", "target.attached": "the process",
	"target.cpu_shares": "the CPU shares",
	"load.rate_share":   "the part of the capacity that the open loop gets",
	"target.cpus":       "the CPUs of the target", "load.cpus": "the CPUs of the load", "load.sizing": "the CPUs of the load",
}

// flagsOf names what decides the keys: the flags for which the two command lines say
// different things, and what is not a flag; where that is nothing, the keys.
func flagsOf(keys, now, then []string) (names []string) {
	for _, f := range plan.NewFlags().Fields() {
		decides := slices.ContainsFunc(strings.Fields(f.Header), func(key string) bool { return slices.Contains(keys, key) })
		if decides && !slices.Equal(said(now, f.Name), said(then, f.Name)) {
			names = append(names, "--"+f.Name)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if text := noField[key]; text != "" && !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	if names == nil {
		return keys
	}
	return names
}

// said is what a command line gives for a flag, as procfit writes command lines: no value
// of its own word starts with a dash.
func said(args []string, name string) (values []string) {
	for i, word := range args {
		switch {
		case word == "--":
			return values
		case word == "--"+name && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			values = append(values, args[i+1])
		case word == "--"+name, strings.HasPrefix(word, "--"+name+"="):
			values = append(values, word)
		}
	}
	return values
}

// goVersioned reports whether the plan names the Go of its targets.
func goVersioned(p journal.Plan) bool {
	return slices.ContainsFunc(p.Settings, func(a journal.Setting) bool { return a.GoVersion != "" })
}

// Grow has a grid continue to that many blocks, where it has fewer. The session must be one
// that may grow.
func (s *Session) Grow(blocks int) {
	s.Spec.Repeats = max(s.Spec.Repeats, blocks)
	s.settle()
}

// blocks is how many a grid is to have next to a journal's: as many as were asked for, or
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
