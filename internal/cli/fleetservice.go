package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/git"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/internal/verdict/results"
)

type fleetOptions struct {
	fieldFlags
	file, out          string
	branch, link       string // branch: of --propose; empty: nothing is proposed
	again, yes, dryRun bool
	printed            printing
}

// fleetBranch is where proposals go by default.
const fleetBranch = "procfit/fleet"

// fleetRun is a run over a fleet whose every question is settled.
type fleetRun struct {
	*fleetOptions
	repository *git.Repository // nil: there is none
	commit     string
	services   []*fleetService
	outcome    fleet.Outcome
}

// fleetService is a service of a fleet, ready to be measured.
type fleetService struct {
	*specfile.Service
	*fleetJob
	manifest *git.File        // without a repository only its text; nil: it has none
	chosen   *manifest.Chosen // its container
	expected rule.Expected    // once it is measured, and its manifest is to change

	unwritable error // why there is no expected value then
}

// fleetJob is the sweep of a service, on this machine or in a cluster.
type fleetJob struct {
	*measurement
	resolve           func(ctx context.Context, std stdio, dir placing) (*session.Session, error)
	carryOut          func(ctx context.Context, std stdio, s *session.Session) error
	ready             func(std stdio) error // what can be refused before a cluster is asked
	object, container string                // in a cluster
}

// placing is the folder of the results from a machine.
type placing func(machine string) (dir string)

// sameFleet continues the run of a service.
const sameFleet = "the same fleet command"

func (o *fleetOptions) job(inCluster bool) *fleetJob {
	if !inCluster {
		s := newSweepOptions()
		return &fleetJob{measurement: s, carryOut: s.onThisMachine, ready: func(stdio) error { return nil }, resolve: func(_ context.Context, std stdio, dir placing) (*session.Session, error) {
			s.out, s.again = dir(session.MachineName(session.ThisHost())), sameFleet
			return s.resolve(std)
		}}
	}
	k := newKubeSweepOptions()
	k.yes = o.yes
	j := &fleetJob{measurement: &k.measurement, carryOut: k.carryOut, resolve: func(ctx context.Context, std stdio, dir placing) (*session.Session, error) {
		k.place = func(node string) string { // never ..
			return dir(cmp.Or(strings.Trim(plan.FileName(node), "."), "node"))
		}
		k.again = sameFleet
		return k.resolve(ctx, std)
	}}
	j.ready = func(std stdio) (err error) {
		if !o.yes && !o.dryRun {
			return usageError("it is measured in a cluster, and procfit fleet creates pods only with --yes")
		}
		if k.options.Object, err = objectOf(std, k.name, k.operands); err != nil {
			return err
		}
		if j.object = k.options.Object; !strings.Contains(j.object, "/") || strings.Contains(filepath.Base(j.object), ".") { // of a manifest
			j.object = ""
		}
		j.container = k.options.Container
		return k.checkImage()
	}
	return j
}

func (f *fleetRun) resolve(ctx context.Context, std stdio, s *fleetService, common *specfile.File) error {
	layers := []*specfile.File{s.Settings}
	if s.File != "" {
		own, err := readSettings(ctx, s)
		if err != nil {
			return err
		}
		layers = append(layers, own)
	}
	layers = append(layers, common)
	inCluster := false
	for _, l := range layers {
		inCluster = inCluster || l.Has(specfile.ObjectField)
	}
	s.fleetJob = f.job(inCluster)
	s.dryRun = f.dryRun
	var unused []string
	for _, l := range layers {
		given := slices.Clone(s.Names)
		skip, set := s.taking(&unused)
		if err := l.Apply(skip, set); err != nil {
			return usageError("%w", err)
		}
		s.forgetBudget(given)
	}
	if unused != nil {
		std.notef("service %s: %s has no use for %s, which its settings have", s.Name, s.measurement.name, strings.Join(unused, ", "))
	}
	if err := cmp.Or(s.measurement.check(), s.ready(std), s.readNoFile()); err != nil {
		return err
	}
	if !inCluster { // a cluster is asked when it is the service's turn
		_, err := s.fleetJob.resolve(ctx, std, f.placing(s, false))
		if wrong := (*plan.FieldError)(nil); errors.As(err, &wrong) && wrong.Field == specfile.CommandField && wrong.Err != nil {
			err = nil // a program that is not there is no reason to leave out the others
		}
		if err != nil {
			return err
		}
	}
	if s.Manifest == "" {
		return nil
	}
	if err := f.readManifest(ctx, s); err != nil {
		return usageError("%w", s.Wrong(specfile.OfManifest, fmt.Errorf("%s: %w", s.Manifest, err)))
	}
	return nil
}

func readSettings(ctx context.Context, s *fleetService) (*specfile.File, error) {
	b, err := folder.ReadFile(ctx, s.File, specfile.MostBytes+1)
	if err != nil {
		return nil, usageError("%w", s.Wrong(specfile.OfFile, errors.New(phrase.Plain(err))))
	}
	own, err := specfile.Read(s.File, b, fileRows())
	return own, asUsage(err)
}

// readManifest finds the container of the service: for a proposal as the commit has it.
func (f *fleetRun) readManifest(ctx context.Context, s *fleetService) (err error) {
	if f.branch != "" {
		s.manifest, err = f.repository.Read(ctx, s.Manifest)
	} else {
		s.manifest = &git.File{Path: s.Manifest}
		if s.manifest.Text, err = folder.ReadRegular(s.Manifest, 16<<20); err != nil {
			err = errors.New(strings.TrimPrefix(phrase.Plain(err), s.Manifest+": "))
		}
	}
	if err != nil {
		return err
	}
	s.chosen, err = manifest.Choose(ctx, filepath.ToSlash(s.Manifest), s.manifest.Text, cmp.Or(s.Object, s.object), cmp.Or(s.Container, s.container))
	return err
}

// sharing is an earlier service with the same container; nil: there is none.
func (f *fleetRun) sharing(s *fleetService) *fleetService {
	for _, other := range f.services {
		if s.chosen != nil && other.chosen != nil && other.place() == s.place() {
			return other
		}
	}
	return nil
}

func (s *fleetService) place() rule.Place {
	at := s.chosen.Value.Place
	at.Path = filepath.Clean(s.manifest.Path)
	return at
}

// placing is where the results of a service go: the newest folder of this commit, where that
// is not complete or is to be used again, or a fresh one. What the results are compared with
// says which CPUs the load gets.
func (f *fleetRun) placing(s *fleetService, fresh bool) placing {
	return func(machine string) string {
		all := filepath.Join(f.out, s.Name, machine)
		newest, free := "", filepath.Join(all, f.commit)
		for n := 2; ; n++ {
			if _, err := os.Lstat(free); err != nil {
				break
			}
			newest, free = free, filepath.Join(all, fmt.Sprintf("%s-%d", f.commit, n))
		}
		dir := free
		if newest != "" && !fresh && ran(newest) {
			dir = newest
		}
		s.like = results.Earlier(dir, time.Now())
		return dir
	}
}

// ran reports whether the program of a run ran, or may yet: one that did not would be read again.
func ran(dir string) bool {
	have, err := results.Read(dir)
	return err != nil || have.Failure() == nil
}

func isComplete(s *session.Session) bool { return len(s.Journal().Trials) > 0 && s.Missing() == 0 }

// unusable reports whether the results that a run's folder has are left as they are: those of
// other settings, and complete ones if the services are measured again.
func (f *fleetRun) unusable(run *session.Session) bool {
	refused := (*session.Refusal)(nil)
	again := f.again || f.repository != nil && f.repository.Dirty
	return errors.As(run.Look(), &refused) || again && isComplete(run)
}
