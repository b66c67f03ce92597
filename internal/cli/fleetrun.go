package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/results"
)

func (f *fleetRun) measure(ctx context.Context, std stdio) error {
	for i, s := range f.services {
		if ctx.Err() == nil {
			std.notef("service %s, %d of %d", s.Name, i+1, len(f.services))
		}
		f.outcome.Services = append(f.outcome.Services, f.service(ctx, std, s))
	}
	var failed error
	if f.branch != "" && ctx.Err() == nil {
		failed = f.propose(ctx, std)
	}
	if err := f.publish(std); err != nil {
		failed = errors.Join(failed, err)
	}
	if ctx.Err() != nil {
		std.notef("what was measured is kept in %s; the same command continues", f.out)
		return errors.Join(asInterrupted(ctx.Err()), failed)
	}
	return f.verdict(failed)
}

// verdict is the exit code: what could not be done goes before what is to change.
func (f *fleetRun) verdict(failed error) error {
	names := func(is func(*fleet.Service) bool) (list []string) {
		for i := range f.outcome.Services {
			if s := &f.outcome.Services[i]; is(s) {
				list = append(list, s.Name)
			}
		}
		return list
	}
	if lost := names(func(s *fleet.Service) bool { return s.Failed != "" }); lost != nil {
		failed = errors.Join(fmt.Errorf("%s no result: %s", phrase.CountOf(len(lost), "service has", "services have"), phrase.And(lost)), failed)
	}
	changed := names((*fleet.Service).Changed)
	switch {
	case failed != nil:
		return failed
	case changed != nil:
		return &exitError{exitGate, fmt.Errorf("%s to change or to look at: %s", phrase.Count(len(changed), "service"), phrase.And(changed))}
	}
	return nil
}

// service is what one came to. A sweep that fails is no reason to leave out the next.
func (f *fleetRun) service(ctx context.Context, std stdio, s *fleetService) fleet.Service {
	out := fleet.Service{Name: s.Name}
	if x := s.chosen; x != nil {
		v := x.Value
		out.Manifest = &fleet.Manifest{Path: s.Manifest, Object: v.Object, Container: v.Container, Procs: v.Procs, Text: v.Text, Source: v.Source}
	}
	if ctx.Err() != nil {
		out.Failed = "not measured: the run was interrupted"
		return out
	}
	dir, err := f.sweep(ctx, std, s)
	if dir != "" {
		out.Machine = filepath.Base(filepath.Dir(dir))
		if below, err := filepath.Rel(f.out, dir); err == nil {
			out.Folder = filepath.ToSlash(below)
		}
	}
	if ctx.Err() != nil {
		if left, ok := errors.AsType[*trial.UnstoppedError](err); ok {
			std.notef("service %s: %v", s.Name, left)
		}
		out.Failed = "the run was interrupted before its sweep ended"
		return out
	}
	if err == nil || errors.Is(err, errNoneValid) { // which is an answer of the service's row
		err = f.judge(dir, s, &out)
	}
	if err != nil {
		std.notef("service %s: %v", s.Name, err)
		out.Failed = phrase.FirstLine(phrase.Plain(err))
	}
	return out
}

// sweep measures a service, or what is missing of it, and returns the folder of its results.
// Results of other settings at the same commit stay as they are, next to the new ones.
func (f *fleetRun) sweep(ctx context.Context, std stdio, s *fleetService) (dir string, err error) {
	hushed := std
	hushed.out = io.Discard // its own report is in its folder
	for _, fresh := range []bool{false, true} {
		run, err := s.resolve(ctx, std, f.placing(s, fresh))
		if err != nil {
			return "", err
		}
		switch {
		case !fresh && f.unusable(run):
			continue
		case isComplete(run) && run.Spec.Profile == "": // nothing needs to be started
			return run.Dir, s.conclude(hushed, run, nil)
		}
		err = s.carryOut(ctx, hushed, run)
		if refused := (*session.Refusal)(nil); !fresh && errors.As(err, &refused) {
			continue // benchmarks of other code, which is known once they are compiled
		}
		return run.Dir, err
	}
	return "", errors.New("its results have no folder") // which a fresh one is
}

func (f *fleetRun) judge(dir string, s *fleetService, out *fleet.Service) error {
	have, err := results.Read(dir)
	if err != nil {
		return err
	}
	r := judgedResult(have)
	out.Take(r)
	if out.Differs() {
		if s.expected, err = expectedOf(r, have); err != nil {
			s.unwritable = fmt.Errorf("what it was measured under cannot be an annotation: %w", err)
		}
	}
	earlier := results.Earlier(dir, have.Header.Started)
	if earlier == "" {
		return nil
	}
	old, err := results.Read(earlier)
	if err != nil {
		return err
	}
	out.Since = fleet.Compare(old.Verdict(), r, session.ArrangedUnlike(old.Header, have.Header, false))
	if below, err := filepath.Rel(f.out, earlier); err == nil {
		out.Since.Folder = filepath.ToSlash(below)
	}
	return nil
}

func (f *fleetRun) publish(std stdio) error {
	dir, err := folder.Make(f.out)
	if err != nil {
		return fmt.Errorf("--out %s: %w", f.out, err)
	}
	dir.Close()
	paths, err := page.WriteFleet(f.out, &f.outcome)
	if f.printed.json() {
		return errors.Join(std.write(page.FleetJSON(&f.outcome)), err)
	}
	return errors.Join(text.Render(std.out, page.Fleet(&f.outcome, f.next()), std.page(paths)), err)
}

// next is the command that proposes what is to change; empty: there can be none.
func (f *fleetRun) next() string {
	if f.repository == nil || f.branch != "" {
		return ""
	}
	s, _ := f.Spec("fleet", []string{f.file}, nil)
	s = s.Only(func(name string) bool { return !slices.Contains([]string{"json", "output", "quiet", "again"}, name) })
	return s.With(spec.Alone("propose", fleetBranch)).Shell()
}
