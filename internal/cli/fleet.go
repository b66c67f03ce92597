package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/git"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/fleet"
)

func newFleet(std stdio) *cobra.Command {
	o := &fleetOptions{out: "results/fleet", printed: printed("text", "json")}
	cmd := &cobra.Command{
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
service is proven worse than the last time, or has another proven value; 2 usage; 3 a
service could not be measured, or the branch could not be created; 130 interrupted.`,
		Example: `  procfit fleet --dry-run
  procfit fleet --out results/fleet
  procfit fleet --propose --yes fleet.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}
	return o.bind(std, cmd, o.fields())
}

func (o *fleetOptions) fields() []field.Field {
	own := field.In(field.Output,
		field.Field{Name: "out", Holds: "DIR", Help: "folder of all results, and of the page", More: "Earlier results in it are compared with.", Value: field.Text(&o.out)},
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

// open looks at the repository in which the services are.
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
		if err != nil {
			failed = append(failed, s.Wrong("", err))
		}
	}
	return reportedButLast(std, failed)
}
