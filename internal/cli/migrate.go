package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/cluster"
	"github.com/procfit/procfit/internal/check/migrate"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/results"
)

type migrateOptions struct {
	fieldFlags
	out         printing
	look        migrate.Options
	onCluster   bool
	access      cluster.Access
	fix, yes    bool
	prove       bool
	program     string // the main package that is measured
	results     string
	comparison  []string // flags of procfit compare
	programArgs []string
}

func newMigrate(std stdio) *cobra.Command {
	return group(&cobra.Command{Use: "migrate COMMAND", Short: "Replace another library, and show what changes"}, newMigrateAutomaxprocs(std))
}

func newMigrateAutomaxprocs(std stdio) *cobra.Command {
	o := migrateOptions{out: printed("text", "html", "json")}
	o.out.files = true
	return o.bind(std, &cobra.Command{
		Use:   "automaxprocs [flags] [DIR] [-- COMPARE-FLAG… [-- PROGRAM-ARG…]]",
		Short: "Show what changes without go.uber.org/automaxprocs, and remove it",
		Long: `Find who imports go.uber.org/automaxprocs in the module in DIR (default .), and report
which GOMAXPROCS each container gets with it and without it: automaxprocs rounds the CPU
limit down, at least 1; the runtime of Go 1.25 rounds it up, at least 2, and follows it;
with an older go line the runtime ignores the limit.

--fix removes the import and its calls, runs go mod tidy, and builds. It commits nothing.
If a value changes or may change, or no container is known to run one of the programs, it
asks first.

--prove builds the program with automaxprocs and without it, and compares both under the
CPU limits at which the values differ, by procfit compare. The words after -- are flags of
procfit compare; those after another -- are arguments of the program.

Exit codes: 0 done; 1 --prove found the program worse; 2 usage, or --fix has to ask and has
neither a terminal nor --yes; 3 something could not be read, removed or measured, or you
declined; 130 interrupted.`,
		Example: `  procfit migrate automaxprocs
  procfit migrate automaxprocs --manifests deploy
  procfit migrate automaxprocs --cluster --namespace shop
  procfit migrate automaxprocs --manifests deploy --fix
  procfit migrate automaxprocs --manifests deploy -o text -o html=migrate.html
  procfit migrate automaxprocs --prove -- --url http://127.0.0.1:{port}/ -- -addr :{port}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.take(args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			return o.run(cmd.Context(), std)
		},
	}, o.fields())
}

func (o *migrateOptions) fields() []field.Field {
	own := []field.Field{
		{Name: "manifests", Holds: "PATH", Often: true, Help: "a file or folder of manifests that run the programs; may be repeated", Value: field.Texts(&o.look.Manifests)},
		{Name: "container", Holds: "NAME", Help: "a container that runs the programs, whatever its name; may be repeated", Value: field.Texts(&o.look.Containers)},
		{Name: "cpus", Holds: "N", Help: "CPUs of the machines that the manifests are for", Value: field.Number(&o.look.NodeCPUs, 1, math.MaxInt32)},
		often(toggle("fix", &o.fix, "remove the import and its calls, run go mod tidy, and build")),
		toggle("yes", &o.yes, "do not ask before --fix"),
		often(toggle("prove", &o.prove, "measure the program with and without automaxprocs where the values differ")),
		{Name: "program", Holds: "PACKAGE", Help: "the main package to measure with --prove, if there are several", Value: field.Text(&o.program)},
		{Name: "out", Holds: "DIR", Help: "folder of what --prove builds and measures (default migrate-automaxprocs)", Value: field.Parsed(&o.results, "", field.Some)},
	}
	reach := field.In(field.Kube, toggle("cluster", &o.onCluster, "look at what runs in a cluster"))
	reach = append(reach, field.Take(access(&o.access, "cluster"), field.Field{Name: "namespace", Help: "look only at this namespace (default all)"}, field.Field{Name: "kubeconfig"}, field.Field{Name: "context"})...)
	return slices.Concat(own, reach, o.out.fields(""))
}

func (o *migrateOptions) take(args []string, dash int) error {
	rest := []string(nil)
	if dash >= 0 {
		args, rest = args[:dash], args[dash:]
	}
	if len(args) > 1 {
		return usageError("migrate automaxprocs takes one DIR, got %d words", len(args))
	}
	if o.look.Dir = "."; len(args) == 1 {
		o.look.Dir = args[0]
	}
	o.comparison = rest
	if i := slices.Index(rest, "--"); i >= 0 {
		o.comparison, o.programArgs = rest[:i], rest[i+1:]
	}
	flag := func(name string) bool {
		return slices.ContainsFunc(o.comparison, func(w string) bool { return w == name || strings.HasPrefix(w, name+"=") })
	}
	switch {
	case len(rest) > 0 && !o.prove:
		return usageError("the words after -- are for --prove: add it, or remove them")
	case flag("--limit"):
		return usageError("--limit after --: --prove measures under the limits at which the values differ; remove it, and name the containers by --manifests or --cluster")
	case flag("--out"):
		return usageError("--out after --: the folder is that of migrate; write --out DIR before --")
	case o.prove && o.fix:
		return usageError("--prove measures what --fix removes: use only one of them, --prove first")
	case o.yes && !o.fix:
		return usageError("--yes without --fix has no effect; remove it")
	}
	return nil
}

func (o *migrateOptions) run(ctx context.Context, shown stdio) error {
	if err := o.check(); err != nil {
		return err
	}
	std := o.out.std(shown)
	if o.fix {
		if err := migrate.Ready(ctx, o.look.Dir); err != nil {
			return err
		}
	}
	o.look.Environ, o.look.Slow = os.Environ(), func(m string) { std.notef("%s", m) }
	if o.onCluster {
		defer boundMemory()()
		o.look.Cluster = func(ctx context.Context, programs []check.Candidate) (*check.Report, error) {
			return checkPods(ctx, std, o.access, cluster.Options{Programs: programs})
		}
	}
	r, err := migrate.Look(ctx, o.look)
	if err != nil {
		return asInterrupted(err)
	}
	var after error
	switch {
	case o.fix:
		after = o.remove(ctx, o.out.before(shown, !o.yes), r)
	case o.prove:
		after = o.measure(ctx, std, r)
	}
	err = o.out.write(std, func(w io.Writer, format string) error { return writeMigration(std, w, format, r) })
	if failed := r.Failed(); err == nil && after == nil && failed != "" {
		after = errors.New(failed)
	}
	return cmp.Or(err, after)
}

func writeMigration(std stdio, w io.Writer, format string, r *migrate.Report) error {
	var b []byte
	var err error
	switch format {
	case "json":
		b, err = r.JSON()
	case "html":
		b, err = html.Render(r.Page())
	default:
		return text.Render(w, r.Page(), std.page(nil))
	}
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// remove is --fix: it asks where there is a doubt.
func (o *migrateOptions) remove(ctx context.Context, std stdio, r *migrate.Report) error {
	if !r.Removable {
		return errors.New("automaxprocs is not removed: " + r.NotRemovable())
	}
	if why := r.Doubt(); why != "" && !o.yes {
		if !onTerminal(std) {
			return usageError("%s: nothing was removed; --fix --yes accepts that", why)
		}
		if err := askUser(ctx, std, why+"; remove automaxprocs?", "nothing was removed"); err != nil {
			return err
		}
	}
	std.notef("building, removing, and building again")
	err := r.Fix(ctx, o.look)
	if left := r.Unvendored(); left != "" && ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted; " + left)}
	}
	return asInterrupted(err)
}

func (o *migrateOptions) measure(ctx context.Context, std stdio, r *migrate.Report) error {
	limits := r.Differ()
	if len(limits) == 0 {
		return errors.New("no limit is known at which a value changes, so there is nothing to measure")
	}
	pkg, err := r.Program(o.program)
	if err != nil {
		return usageError("%w", err)
	}
	dir, err := filepath.Abs(cmp.Or(o.results, "migrate-automaxprocs"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	old, current := filepath.Join(dir, "with"), filepath.Join(dir, "without")
	std.notef("building %s with automaxprocs and without it", phrase.Clean(pkg))
	if err := r.BuildBoth(ctx, o.look, pkg, old, current); err != nil {
		return asInterrupted(err)
	}
	// What was measured of other programs is no proof of these.
	built, err := sumOf(old, current)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "results-"+built[:12])
	words := slices.Concat([]string{"--limit", strings.Join(phrase.Each(limits, number.Exact), ","), "--out", out}, o.comparison,
		[]string{load.Join(append([]string{old}, o.programArgs...)), "--", current}, o.programArgs)
	aside := std
	aside.out = std.err // standard output has the page of the migration
	aside.args = append([]string{"compare"}, words...)
	root := newRoot(aside)
	root.SetArgs(aside.args)
	root.SetOut(aside.out)
	measured := root.ExecuteContext(ctx)
	if refused, ok := errors.AsType[*exitError](measured); ok && refused.code == exitUsage || !results.Exist(out) {
		return measured
	}
	have, err := readResults(out)
	if err != nil || len(have.Trials) == 0 {
		return cmp.Or(measured, err)
	}
	judgedNow := judgedResult(have)
	for _, l := range limits {
		r.Proof = append(r.Proof, proofOf(l, len(limits) == 1, judgedNow.Gate, out))
	}
	return measured
}

func sumOf(files ...string) (string, error) {
	h := sha256.New()
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// proofOf is what a comparison says of one limit, which may be the only one: then it does not name it.
func proofOf(limit float64, only bool, g *verdict.Gate, folder string) migrate.Proof {
	p := migrate.Proof{Limit: limit, Folder: folder, Checks: []migrate.ProofCheck{}}
	if g == nil {
		return p
	}
	for _, c := range g.Checks {
		if q := c.Setting.QuotaCPUs; q == nil && only || q != nil && *q == limit {
			p.Checks = append(p.Checks, migrate.ProofCheck{Metric: c.Metric, Outcome: string(c.Outcome), Ratio: c.Ratio.Median, Low: c.Ratio.Low, High: c.Ratio.High})
		}
	}
	return p
}
