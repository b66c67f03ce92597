package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/pods"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
)

const labRunLong = `Run experiments of five published articles on GOMAXPROCS, by their ids, and compare
what the articles say with what is measured here.

Each article's numbers are put as hypotheses about ratios, such as "two Ps cost
under 1.1 times one P". The answer is holds, does not hold, at its bound,
undecided, or not asked. Every experiment is one or more sweeps, with all that procfit
sweep writes, in --out/ID; --out/index.html shows the articles' numbers next to ours, with links to everything.

A run first measures a few blocks of every setting. Then it adds blocks of the settings
that an undecided hypothesis is about, first where that takes least time, until all are
decided or --for is over. At the end it prints what more time would decide. An
answer holds however often procfit looks at it. What needs more CPUs than this machine
has is a list at the end: on such a machine the same command answers it.

--go builds an experiment's program with each named toolchain, each version a
setting; 1.4 means its newest release that can be fetched. procfit reports and skips
what cannot be fetched or run here, and runs the rest.

--cpus gives the servers and their load CPUs of their own, and
--load takes another load generator, or one on another machine.

The same command with the same --out continues a run. --dry-run prints
what would run and what it costs.

--kube runs k8sbench where its article did, as pods of a cluster, and then follows the
article's fix: its manifest before and after procfit check --fix, and what a pod of
each runs with.`

func newLabRun(std stdio) *cobra.Command {
	o := &labOptions{spec: plan.NewFlags(), printed: printed("text", "json")}
	return o.bind(std, &cobra.Command{
		Use:   "run ID…|all",
		Short: "Run experiments and compare the articles' numbers with ours",
		Long:  labRunLong,
		Example: `  procfit lab run chain
  procfit lab run chain sieve powser --go 1.2,1.4,1.5,1.13,1.21,1.26
  procfit lab run k8sbench --procs 1,2,32 --limit 2
  procfit lab run cpuserver --cpus target=0-7,load=8-11
  procfit lab run k8sbench --kube --image registry.example/procfit:v1 --namespace lab
  procfit lab run all --quick`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ids = args
			return o.run(cmd.Context(), std)
		},
	}, o.fields())
}

func (o *labOptions) run(ctx context.Context, std stdio) error {
	shown := o.printed.before(std, !o.kube.yes && !o.dryRun)
	std = o.printed.std(std)
	if err := cmp.Or(o.check(), o.checkKube()); err != nil {
		return err
	}
	r, err := o.resolve(ctx, std)
	if err != nil {
		return err
	}
	if o.kube.copies != nil {
		if err := o.kube.agree(ctx, shown, r, o.dryRun); err != nil {
			return err
		}
	}
	if o.dryRun {
		return printPlan(std, r, labCost(r))
	}
	held, err := r.Open(func(err error) { std.notef("%s: rebuilding it from the experiments given", err) })
	if err != nil {
		return refusal(err)
	}
	defer held.Close()
	std.notef("%s", labCost(r))
	bar := newProgress(std, time.Now)
	on := labEvents(std, bar)
	err = r.Measure(ctx, on)
	bar.finish()
	return o.conclude(std, r, err)
}

func labEvents(std stdio, bar *progress) run.Events {
	std.err = bar
	notef, others := std.notef, false
	return run.Events{
		Stage: func(t run.Turn) { bar.next(fmt.Sprintf("%d/%d %s", t.Number, t.Experiments, t.Name), t.Later) },
		NotRun: func(experiment, stage, why string) {
			notef("%s is not run: %s", strings.TrimSpace(experiment+" "+stage), why)
		},
		Fetch:   func(version string) { notef("fetching Go %s", version) },
		Compile: func(program, version string) { notef("compiling %s with %s", program, version) },
		Trouble: func(err error) { notef("%v", err) },
		More: func(experiment, hypothesis string, blocks int) {
			notef("%s/%s: %s", experiment, hypothesis, phrase.Count(blocks, "more block"))
		},
		Torn: std.torn,
		Activity: func(a plan.Activity) {
			if a.Step == plan.StepOthers && !others { // each sweep looks again; once is enough
				others = true
				notef("%s", activity(a))
			}
			if a.Step == plan.StepBusy && a.Left > time.Second { // once it has waited in vain, the run does not wait again
				bar.notice(a, "")
				return
			}
			bar.activity(a)
		},
		Progress: bar.report,
	}
}

// conclude reports what was measured, whether or not the run came to its end.
func (o *labOptions) conclude(std stdio, r *run.Run, runErr error) error {
	if another := (*session.Refusal)(nil); errors.As(runErr, &another) {
		return refusal(runErr)
	}
	unwritten := r.Write() // the terminal still has the result
	err := showLab(std, r.Dir, &r.Outcome, o.printed.json())
	if err == nil {
		err = o.showTraces(std, r)
	}
	if err = errors.Join(err, unwritten); err != nil {
		return errors.Join(asInterrupted(runErr), err)
	}
	if runErr != nil {
		std.notef("what is measured is kept in %s; the same command with --out %s continues", r.Dir, r.Dir)
		return asInterrupted(runErr)
	}
	if !slices.ContainsFunc(r.Outcome.Experiments, lab.Ran.Proved) {
		return errors.New("none of the experiments could be run")
	}
	return nil
}

const (
	mostShown = 2        // experiments of a run whose traces are printed too
	mostTrace = 64 << 20 // bytes of one
)

func (o *labOptions) showTraces(std stdio, r *run.Run) error {
	if o.printed.json() || len(o.ids) > mostShown {
		return nil
	}
	for _, f := range r.Files() {
		if path.Ext(f.Path) != ".txt" {
			continue
		}
		b, err := folder.ReadRegular(filepath.Join(r.Dir, filepath.FromSlash(f.Path)), mostTrace)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(std.out, "\n%s", b); err != nil {
			return err
		}
	}
	return nil
}

func labCost(r *run.Run) string {
	trials, stages, unknown := 0, 0, false
	var experiments []string
	var d time.Duration
	for _, p := range r.Planned() {
		if !slices.Contains(experiments, p.Experiment) {
			experiments = append(experiments, p.Experiment)
		}
		if p.Session != nil {
			stages++
			trials += p.Trials
			unknown = unknown || p.Each == 0 && p.Trials > 0
			d += p.Cost()
		}
	}
	s := fmt.Sprintf("lab: %s in %s, %s", phrase.Count(len(experiments), "experiment"), phrase.Count(stages, "sweep"), phrase.Count(trials, "trial"))
	switch {
	case unknown && d == 0:
		s += "; the first trials will show how long it takes"
	case unknown:
		s += ", more than " + number.Minutes(d)
	default:
		s += ", about " + number.Minutes(d)
	}
	if most := r.Budget(); most > 0 {
		s += "; then blocks where a hypothesis is open, until all are decided or " + number.Minutes(most) + " are over"
	}
	return s + "; results in " + r.Dir
}

func printPlan(std stdio, r *run.Run, cost string) error {
	t := table.Table{Columns: []table.Column{{}, {}, {}, {Right: true}, {Right: true}, {}}}
	row := func(cells ...string) { t.Rows = append(t.Rows, table.Row{Cells: table.Cells(cells...)}) }
	row("EXPERIMENT", "SWEEP", "GOMAXPROCS", "GROUPS", "TRIALS", "ABOUT")
	for _, p := range r.Planned() {
		if p.Session == nil {
			row(p.Experiment, p.Stage, "–", "–", "–", "not to be run: "+p.NotRun)
			continue
		}
		about := "–"
		if p.Each > 0 {
			about = number.Minutes(p.Cost())
		}
		row(p.Experiment, p.Stage, strings.Join(p.Session.Plan.Labels(), ","), strconv.Itoa(len(p.Session.Plan.AA)), strconv.Itoa(p.Trials), about)
	}
	w := &terminal.Writer{Width: columns(std.out)}
	t.Write(w)
	w.Line(cost)
	return std.write(w.Bytes(), nil)
}

type labOptions struct {
	fieldFlags
	spec     *plan.Flags
	ids      []string
	quick    bool
	makeBash bool
	out      string
	printed  printing
	dryRun   bool
	kube     labKube
}

func (o *labOptions) fields() []field.Field {
	o.spec.Repeats = 0
	shared := field.Take(o.spec.Fields(), append(field.Named("seed"),
		field.Field{Name: "cpus", Not: "kube"},
		field.Field{Name: "go", Help: "Go versions to build the programs with, each a setting: 1.4,1.13,1.26", Not: "kube"},
		field.Field{Name: "procs", Help: "GOMAXPROCS values: 1,2,4 (default the experiment's)"},
		field.Field{Name: "limit", Help: "CPU limits: none,500m,2 (default the experiment's)"},
		field.Field{Name: "repeats", Help: "measure exactly this number of blocks (default until decided)"},
		field.Field{Name: "for", Help: "the most time for the run: 30m (default by the number of questions)", More: "By default the first blocks, and in addition 10s for each question that this machine can answer, at least 5m; with --quick 1s, at least 30s. --dry-run prints the time.", Not: "repeats"},
		field.Field{Name: "load", Help: "load the servers with this command instead of procfit's load generator", Not: "kube"})...)
	return slices.Concat(field.In(field.Run, []field.Field{
		toggle("quick", &o.quick, "small sizes: all experiments take about ten minutes on two CPUs"),
		toggle("make-bash", &o.makeBash, "in the experiment build, build all of Go too: an hour and more"),
	}...), shared, field.In(field.Output,
		outField(&o.out, "results/lab-TIME"), toggle("dry-run", &o.dryRun, "print what would run and its cost, and stop"),
	), o.printed.fields("print lab.json instead of the report"), o.kube.fields())
}

func (o *labOptions) resolve(ctx context.Context, std stdio) (*run.Run, error) {
	chosen, err := o.chosen(std)
	if err != nil {
		return nil, err
	}
	experiments, err := o.experiments()
	if err != nil {
		return nil, err
	}
	if err := o.checkOnly(experiments); err != nil {
		return nil, err
	}
	if err := checkGo(ctx, chosen.Go); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	asked, found := o.Spec("lab run", o.ids, nil)
	std.secrets.Found(found)
	options := run.Options{
		Experiments: experiments, Chosen: chosen, Dir: o.out,
		Tool: session.Tool(version()), Spec: asked, Secrets: std.secrets, Self: self, Host: session.ThisHost(), Environ: os.Environ(),
		Machine: run.ThisMachine(os.Environ()), Pages: labPages, Now: time.Now, Fixed: o.Has("repeats"), Most: o.spec.Race.MaxTime, Seed: o.spec.Seed,
	}
	if o.Has("kube") {
		if err := o.kube.open(ctx, &options); err != nil {
			return nil, err
		}
	}
	r := run.New(options)
	return r, o.checkTime(r.First())
}

// checkTime refuses a --for that is over before the first blocks are, which are measured in any case.
func (o *labOptions) checkTime(first time.Duration) error {
	most := o.spec.Race.MaxTime
	if !o.Has("for") || first <= most {
		return nil
	}
	return usageError("--for %s: the first blocks of %s take about %s; try: --for %s, or run fewer experiments",
		number.Typed(most), phrase.And(o.ids), number.Minutes(first), number.Typed(first.Truncate(time.Minute)+time.Minute))
}

// chosen is what the user would have otherwise than the documents.
func (o *labOptions) chosen(std stdio) (c lab.Options, err error) {
	if len(o.ids) == 0 {
		return c, usageError("run takes ids of experiments, or all; procfit lab list shows them")
	}
	f, err := toSpec(o.spec, std)
	c = lab.Options{
		Quick: o.quick, Repeats: f.Repeats, Quotas: f.Quotas, Go: f.GoVersions, MakeBash: o.makeBash,
		Load: f.Load.Command, ServerCPUs: f.Target.CPUs, LoadCPUs: f.Load.CPUs,
	}
	if o.Has("procs") {
		c.Procs = &f.Procs
	}
	cores := topology.Cores(os.DirFS("/sys"), topology.Allowed())
	if n := len(cores); n > 1 && len(topology.Allowed()) > n {
		cores = cores[:n-n%2] // so that no half ends inside a core
	}
	for _, core := range cores {
		c.Allowed = append(c.Allowed, core.CPUs...)
	}
	return c, err
}

func (o *labOptions) experiments() ([]lab.Experiment, error) {
	var list []lab.Experiment
	for _, id := range o.ids {
		named := lab.List()
		if id != "all" {
			e, err := lab.Find(id)
			if err != nil {
				return nil, usageError("%w", err)
			}
			named = []lab.Experiment{e}
		}
		for _, e := range named {
			if !slices.ContainsFunc(list, func(have lab.Experiment) bool { return have.ID == e.ID }) {
				list = append(list, e)
			}
		}
	}
	o.ids = phrase.Each(list, func(e lab.Experiment) string { return e.ID })
	if o.Has("make-bash") && !slices.Contains(o.ids, "build") {
		return nil, usageError("--make-bash is for build, which is not among the experiments to run")
	}
	return list, nil
}

func (o *labOptions) checkOnly(list []lab.Experiment) error {
	if slices.ContainsFunc(list, func(e lab.Experiment) bool { return e.Kind == lab.Server }) {
		return nil
	}
	switch {
	case o.Has("load"):
		return usageError("--load is for servers, and none of the experiments is one")
	case o.HasPart("cpus", "load"):
		return usageError("--cpus load= is for servers, and none of the experiments is one")
	}
	return nil
}

// ownApp is what --kube stands for without a manifest.
const ownApp = "document004"

type labKube struct {
	clusterOptions
	on string // the app
}

func (k *labKube) fields() []field.Field {
	app := field.Field{
		Name: "kube", Holds: "FILE", Bare: ownApp, Help: "run " + pods.ID + " as pods of a cluster: the article's app, or a manifest",
		More: "A manifest of another app is given with =: --kube=app.yaml.", Value: field.Text(&k.on),
	}
	return append(field.In(field.Kube, app), k.clusterOptions.fields("kube")...)
}

func (o *labOptions) checkKube() error {
	k := &o.kube
	switch {
	case !o.Has("kube"):
		return nil
	case !slices.Equal(o.ids, []string{pods.ID}):
		return usageError("--kube is for %s, alone: procfit lab run %[1]s --kube", pods.ID)
	case k.options.Image == "":
		return usageError("--kube needs --image, a procfit that the nodes can run: procfit kube image creates one")
	}
	return nil
}

func (k *labKube) open(ctx context.Context, options *run.Options) error {
	var app []byte
	if k.on != ownApp {
		var err error
		if app, err = folder.ReadRegular(k.on, kube.MostManifest); err != nil {
			return usageError("--kube=%s: %w", k.on, err)
		}
	}
	l, err := pods.Open(ctx, k.options, session.ThisHost().Hostname, app, checkManifest)
	if err != nil {
		return err
	}
	k.copies = l.Copies
	options.Machine = l.Machine()
	options.Host, _ = l.Copies.Hosts()
	options.Chosen.Elsewhere = l.Copies.Pods(false).LoadElsewhere
	return nil
}

// checkManifest is procfit check --go 1.24 of a manifest with one program, or with --fix too.
func checkManifest(ctx context.Context, file string, fix bool) (c pods.Checked, err error) {
	run := func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		newest := check.Program{GoVersion: "go1.24", From: "Go 1.24"} // whose runtime reads no CPU limit
		checker := manifest.New(manifest.Options{Programs: &check.Programs{Default: newest}, Changes: fix})
		return check.Run(ctx, check.Options{Paths: []string{file}, Overlay: overlay, Checkers: []check.Checker{checker}})
	}
	var r *check.Report
	if fix {
		r, err = check.Fixer{Check: run, Least: rule.Info, Write: true}.Run(ctx)
	} else {
		r, err = run(ctx, nil)
	}
	if err != nil {
		return c, err
	}
	if len(r.Values) != 1 {
		return c, fmt.Errorf("%s: check finds %s in it, expected one", file, phrase.Count(len(r.Values), "program"))
	}
	c = pods.Checked{Procs: r.Values[0].Procs, Text: r.Values[0].Text, Source: r.Values[0].Source}
	for _, f := range r.Findings {
		if f.Severity != rule.Info {
			c.Findings = append(c.Findings, f.Rule)
		}
	}
	return c, nil
}

// agree shows what all of the run's sweeps are about to make, and asks once.
func (k *labKube) agree(ctx context.Context, std stdio, r *run.Run, dryRun bool) error {
	var all []*session.Session
	for _, p := range r.Planned() {
		if p.Session != nil {
			all = append(all, p.Session)
		}
	}
	if len(all) == 0 {
		return nil // the plan says why
	}
	plan := all[0].Plan
	for _, s := range all[1:] {
		plan.Settings = slices.Concat(plan.Settings, s.Plan.Settings)
	}
	warnings, err := k.copies.Rehearse(ctx, plan, true)
	tellWarnings(std, warnings)
	if err != nil {
		return err
	}
	k.tell(std, all[0])
	return k.agreed(ctx, std, dryRun)
}
