package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
)

const labRunLong = `Run experiments of five published articles on GOMAXPROCS, by their ids, and compare
what the articles say with what is measured here.

Each article's numbers are put as hypotheses about ratios, such as "two Ps cost
under 1.1 times one P". The answer is holds, does not hold, or undecided. Every
experiment is one or more sweeps, with all that procfit sweep writes, in --out/ID;
--out/index.html shows the articles' numbers next to ours, with links to everything.

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
	on := labEvents(bar)
	err = r.Measure(ctx, on)
	bar.finish()
	return o.conclude(std, r, err)
}

func labEvents(bar *progress) run.Events {
	notef, others := stdio{err: bar}.notef, false
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
		Torn: stdio{err: bar}.torn,
		Activity: func(a plan.Activity) {
			if a.Step == plan.StepOthers && !others { // each sweep looks again; once is enough
				others = true
				notef("%s", activity(a))
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
	for _, step := range []func() error{
		r.Write,
		func() error { return showLab(std, r.Dir, &r.Outcome, o.printed.json()) },
		func() error { return o.showTraces(std, r) },
	} {
		if err := step(); err != nil {
			return errors.Join(asInterrupted(runErr), err)
		}
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
