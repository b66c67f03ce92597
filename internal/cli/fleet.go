package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/git"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/results"
)

func newFleet(std stdio) *cobra.Command {
	o := &fleetOptions{out: "results/fleet", printed: printed("text", "json")}
	return o.bind(std, &cobra.Command{
		Use:   "fleet [flags] [FILE]",
		Short: "Sweep many services in turn, and propose their values",
		Long: `Sweep the services of a file, fleet.yaml, one after the other, and report on all of them
on one page. A service has a name, its settings as in a procfit.yaml, and the Kubernetes
manifest that has its value:

  services:
    api:
      file: services/api/procfit.yaml
      manifest: deploy/api.yaml
    web:
      cluster: {object: deployment/web}
      manifest: deploy/web.yaml
  stop: {for: 20m} # of all services

A service with cluster.object is measured as by procfit kube sweep, all others as by
procfit sweep. All paths are relative to the current folder. If one service cannot be
measured, procfit continues with the next.

Results are kept in DIR/SERVICE/MACHINE/COMMIT and compared with the last ones of the same
service and machine. A service that has results at this commit is not measured again, and
an interrupted run continues when you repeat the command.

--propose creates a branch with a commit for each service whose proven value is not the one
in its manifest: GOMAXPROCS next to the CPU limit, and what it was measured under as the
annotation procfit.github.io/expected. Nothing is checked out and nothing is pushed.

Exit codes: 0 nothing to change; 1 a proven value is not the one in the manifest, or a
service is proven worse than the last time, has another proven value, or has trials that
fail and did not the last time; 2 usage; 3 a service could not be measured, or the branch
could not be created; 130 interrupted.`,
		Example: `  procfit fleet --dry-run
  procfit fleet --out results/fleet
  procfit fleet --propose --yes fleet.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}, o.fields())
}

func (o *fleetOptions) fields() []field.Field {
	own := field.In(field.Output,
		field.Field{Name: "out", Holds: "DIR", Help: "folder of all results, and of the page", More: "Earlier results in it are compared with.", Value: field.Parsed(&o.out, o.out, field.Some)},
		field.Field{
			Name: "propose", Holds: "BRANCH", Bare: fleetBranch, Help: "create a branch with the proven values in the manifests (" + fleetBranch + ")",
			More: "The branch of an earlier run is replaced, unless it has commits that procfit did not create.", Value: field.Text(&o.branch),
		},
		field.Field{Name: "link", Holds: "URL", Help: "where readers of the commits find DIR", More: "A commit has URL/SERVICE/MACHINE/COMMIT/RESULTS.md as its evidence.", Value: field.Text(&o.link), Needs: "propose"},
		toggle("again", &o.again, "measure services again that have results at this commit"),
		toggle("yes", &o.yes, "create pods in a cluster without asking"),
		toggle("dry-run", &o.dryRun, "print the plan of each service and its cost, and stop"),
	)
	return append(own, o.printed.fields("print fleet.json instead of the page")...)
}

func (o *fleetOptions) run(ctx context.Context, std stdio, args []string) error {
	switch {
	case len(args) > 1 && o.Has("propose"):
		return usageError("fleet takes one file, got %d words; write the name of a branch behind --propose=", len(args))
	case len(args) > 1:
		return usageError("fleet takes one file, got %d words; try: procfit fleet %s", len(args), phrase.ShellWord(args[0]))
	}
	o.file = cmp.Or(strings.Join(args, ""), specfile.FleetName)
	if err := o.fieldFlags.check(); err != nil {
		return err
	}
	if o.Has("propose") && o.branch == "" {
		return usageError("--propose \"\": expected a name for a branch; try: --propose")
	}
	std = o.printed.std(std)
	f, err := o.prepare(ctx, std)
	switch {
	case ctx.Err() != nil:
		return asInterrupted(ctx.Err())
	case err != nil:
		return err
	case o.dryRun:
		return f.describe(ctx, std)
	}
	return f.measure(ctx, std)
}

// prepare reads the file and all that it names, before anything takes its time.
func (o *fleetOptions) prepare(ctx context.Context, std stdio) (*fleetRun, error) {
	b, err := folder.ReadFile(ctx, o.file, specfile.MostBytes+1)
	if err != nil {
		return nil, usageError("%s; name the file that lists the services, as procfit fleet --help shows one", phrase.Plain(err))
	}
	read, err := specfile.ReadFleet(o.file, b, fleetRows())
	if err != nil {
		return nil, usageError("%w", err)
	}
	f := &fleetRun{fleetOptions: o}
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	if err := folder.Try(o.out); err != nil {
		return nil, usageError("--out %s: %w", o.out, err)
	}
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(o.out, name))
		return err == nil
	}
	if !has("fleet.json") && (has("RESULTS.md") || has("report.html")) {
		return nil, usageError("--out %s holds other files and no fleet.json: choose a new or an empty directory", o.out)
	}
	for i := range read.Services {
		s := &fleetService{Service: &read.Services[i]}
		if err := f.resolve(ctx, std, s, read.Common); err != nil {
			return nil, s.refusal(err)
		}
		if other := f.sharing(s); other != nil {
			return nil, usageError("%w", s.Wrong(specfile.OfManifest, fmt.Errorf("service %s has the same container, %s of %s: a container has one value, so remove manifest from one of the two services", other.Name, s.chosen.Value.Container, s.chosen.Value.Object)))
		}
		f.services = append(f.services, s)
	}
	f.outcome = fleet.Outcome{Schema: fleet.Schema, Started: time.Now().UTC(), File: o.file, Folder: filepath.ToSlash(o.out), Commit: f.commit, Services: []fleet.Service{}}
	return f, nil
}

func fleetRows() []field.Field {
	return slices.DeleteFunc(fileRows(), func(row field.Field) bool { return row.Group == field.Check })
}

func (f *fleetRun) open(ctx context.Context) error {
	repository, err := git.Open(ctx, ".")
	switch {
	case errors.Is(err, git.ErrNone) && f.branch != "":
		return usageError("--propose needs a git repository and the git command, and there is none here; run procfit in the repository that has the manifests")
	case errors.Is(err, git.ErrNone):
		f.commit = time.Now().UTC().Format(time.DateOnly)
		return nil
	case err != nil:
		return err
	}
	f.repository, f.commit = repository, repository.Short()
	if repository.Dirty {
		f.commit += "-dirty"
	}
	if f.branch == "" {
		return nil
	}
	if err := repository.Check(ctx, f.branch); err != nil {
		return usageError("--propose: %w", err)
	}
	return nil
}

// refusal is what is wrong with a service, at its place in the file.
func (s *fleetService) refusal(err error) error {
	if coded, ok := errors.AsType[*exitError](err); ok && coded.code == exitUsage {
		return usageError("%w", s.Wrong("", err))
	}
	return s.Wrong("", err)
}

func (f *fleetRun) describe(ctx context.Context, std stdio) error {
	var failed []error
	for _, s := range f.services {
		run, err := s.resolve(ctx, std, f.placing(s, false))
		if err == nil && f.unusable(run) {
			run, err = s.resolve(ctx, std, f.placing(s, true))
		}
		switch {
		case err != nil:
		case isComplete(run) && run.Spec.Profile == "":
			_, err = fmt.Fprintf(std.out, "%s: its results at this commit are in %s; nothing is measured\n", s.Name, run.Dir)
		default:
			fmt.Fprintf(std.out, "%s: ", s.Name)
			err = s.carryOut(ctx, std, run)
		}
		if ctx.Err() != nil {
			return asInterrupted(ctx.Err())
		}
		if err != nil {
			failed = append(failed, s.refusal(err))
		}
	}
	return reportedButLast(std, failed)
}

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
		if s.manifest.Text, err = folder.ReadRegular(s.Manifest, 16<<20); err != nil { // bytes
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
			continue // of other code, which is known once it is compiled
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

// propose makes the branch: a commit for each service whose manifest is to have another
// value. A manifest that cannot have it safely is left as it is, with the reason.
func (f *fleetRun) propose(ctx context.Context, std stdio) error {
	texts := map[string][]byte{} // by path: several services may be in one file
	var changes []git.Change
	var of []*fleet.Service
	for i, s := range f.services {
		out := &f.outcome.Services[i]
		if !out.Differs() {
			continue
		}
		file := *s.manifest
		if changed, ok := texts[file.Path]; ok {
			file.Text = changed
		}
		text, err := f.set(ctx, s, out, file.Text)
		if err != nil {
			out.Proposed = &fleet.Proposed{Refused: phrase.Plain(err)}
			continue
		}
		file.Text = text
		texts[file.Path] = text
		changes = append(changes, git.Change{File: &file, Message: f.message(out), When: out.Result.Started.UTC().Format(time.RFC3339)})
		of = append(of, out)
	}
	if changes == nil {
		if pending, err := f.repository.Pending(ctx, f.branch); err == nil && pending {
			std.notef("branch %s still has the proposals of an earlier run, and this run proposes nothing: look at them, or delete it: git branch -D %[1]s", f.branch)
		}
		return nil
	}
	commits, err := f.repository.Propose(ctx, f.branch, changes)
	if err != nil {
		return fmt.Errorf("branch %s is not created: %w", f.branch, err)
	}
	f.outcome.Branch = f.branch
	for i, s := range of {
		s.Proposed = &fleet.Proposed{Commit: commits[i]}
	}
	return nil
}

func (f *fleetRun) set(ctx context.Context, s *fleetService, out *fleet.Service, text []byte) ([]byte, error) {
	if s.unwritable != nil {
		return nil, s.unwritable
	}
	m := out.Manifest
	chosen, err := manifest.Choose(ctx, filepath.ToSlash(m.Path), text, m.Object, m.Container)
	if err != nil {
		return nil, err
	}
	e := s.expected
	e.Program = m.Container // by which check finds it, also next to another container
	return chosen.Set(ctx, e)
}

// message is that of the commit, with its evidence and the command that measures again.
func (f *fleetRun) message(s *fleet.Service) string {
	v, m := page.VerdictOf(s.Result), s.Manifest
	w := terminal.NewWriter(72, false)
	w.Paragraph("", "", phrase.Clean(fmt.Sprintf("Container %s of %s has %s (%s).", m.Container, m.Object, m.Text, m.Source)))
	w.Gap()
	w.Paragraph("", "", phrase.Clean(v.Answer.Sentence()))
	w.Gap()
	for _, reason := range page.ReasonsOf(s.Result) {
		w.Paragraph("- ", "  ", phrase.Clean(reason))
	}
	w.Gap()
	w.Paragraph("", "", phrase.Clean(fmt.Sprintf("Measured on %s by procfit %s: %s.", s.Result.Started.UTC().Format(time.DateOnly), s.Result.Tool.Version, v.Context)))
	report := path.Join(f.outcome.Folder, s.Folder, "report.html")
	if f.link != "" {
		report = strings.TrimSuffix(f.link, "/") + "/" + path.Join(s.Folder, "RESULTS.md")
	}
	return fmt.Sprintf("%s: GOMAXPROCS=%d\n\n%s\nReport: %s\nMeasure again: %s\n",
		s.Name, *s.Procs, strings.TrimSpace(w.String())+"\n", phrase.Clean(report), page.Again(s.Result).Shell())
}
