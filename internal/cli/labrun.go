package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/local"
	"github.com/procfit/procfit/internal/session"
	"github.com/procfit/procfit/internal/sweep"
)

// labOptions are the flags of procfit lab run, as given.
type labOptions struct {
	ids          []string
	quick        bool
	goVersions   []string
	language     string
	procs, quota string
	repeats      int
	pods, sums   int
	out          string
	json         bool
	seed         uint64
	dryRun       bool
	given        func(flag string) bool
	flags        []string // as given, for reproduce.sh
}

const labRunLong = `Run experiments of the documents that procfit began with, by their ids, and hold
what the documents say against what is measured here.

Each document's numbers are put as hypotheses about ratios, such as "two Ps cost
under 1.1 times one P". The answer is holds, does not hold, or cannot tell here: an
interval that crosses the bound, or a machine of too few CPUs. Every experiment is
one or more sweeps, with all that procfit sweep writes, in --out/ID; --out/index.html
sets the documents' numbers beside ours and links everything.

--go builds an experiment's program with each named toolchain and makes the version
an arm; 1.4 means its newest release that can be had. What cannot be had, or cannot
be run here, is told and left out, and the rest runs.

The same command with the same --out completes what is missing. --dry-run prints
what would run and what it costs.`

func newLabRun(io stdio) *cobra.Command {
	var o labOptions
	cmd := &cobra.Command{
		Use:   "run ID…|all",
		Short: "Run experiments and hold the documents' numbers against ours",
		Long:  labRunLong,
		Example: `  procfit lab run chain
  procfit lab run chain sieve powser --go 1.2,1.4,1.5,1.13,1.21,1.26
  procfit lab run k8sbench --pods 4 --n 20 --procs 1,2,32 --quota 2
  procfit lab run all --quick`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ids, o.given = args, cmd.Flags().Changed
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if f.Name != "out" && f.Name != "json" {
					value := f.Value.String()
					if f.Value.Type() == "stringSlice" {
						value = strings.Trim(value, "[]")
					}
					o.flags = append(o.flags, "--"+f.Name+"="+value)
				}
			})
			return o.run(cmd.Context(), io)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.quick, "quick", false, "small sizes: all experiments in less than ten minutes on two CPUs")
	f.StringSliceVar(&o.goVersions, "go", nil, "Go `versions` to build the programs with, each an arm: 1.4,1.13,1.26")
	f.StringVar(&o.language, "lang", "", "go line to build with, such as `1.24` (default the toolchain's own)")
	f.StringVar(&o.procs, "procs", "", "`values` of GOMAXPROCS instead of the experiment's: unset,1,2,4")
	f.StringVar(&o.quota, "quota", "", "CPU `limits` instead of the experiment's: none,0.5,2")
	f.IntVar(&o.repeats, "repeats", 0, "blocks (default the experiment's); intervals need six")
	f.IntVar(&o.pods, "pods", 0, "replicas of k8sbench (default the document's, scaled to this machine)")
	f.IntVar(&o.sums, "n", 0, "sums that k8sbench computes a request (default the document's)")
	f.StringVar(&o.out, "out", "", "results `directory` (default results/lab-TIME); an unfinished one is completed")
	f.BoolVar(&o.json, "json", false, "print lab.json instead of the report")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the arms' random order (default from the clock)")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would run and its cost, and stop")
	return cmd
}

// labRun is a run whose every question is settled.
type labRun struct {
	*labOptions
	io      stdio
	outcome labOutcome
	items   []labItem
}

// labItem is an experiment of the run.
type labItem struct {
	lab.Experiment
	stages  []labStage
	files   []lab.RanFile // to be looked at
	changed bool          // since its results were last read
}

var goLanguage = regexp.MustCompile(`^1\.\d+(\.\d+)?$`)

// mostSums is how many k8sbench computes for one request.
const mostSums = 200_000

// check finds what the user asked wrongly, before any experiment is looked at.
func (o *labOptions) check() ([]lab.Experiment, error) {
	if len(o.ids) == 0 {
		return nil, usageError("run takes ids of experiments, or all; procfit lab list shows them")
	}
	versions, err := parseGoVersions(o.goVersions)
	if err != nil {
		return nil, err
	}
	o.goVersions = versions
	if o.procs != "" {
		if _, err := sweep.ParseProcs(o.procs); err != nil {
			return nil, usageError("--procs: %w", err)
		}
	}
	if _, err := parseQuotas(o.quota); err != nil {
		return nil, err
	}
	switch {
	case o.language != "" && !goLanguage.MatchString(o.language):
		return nil, usageError("--lang %q: want a go line such as 1.24", o.language)
	case slices.Contains(o.ids, "all"):
		o.ids = nil
		for _, e := range lab.List() {
			o.ids = append(o.ids, e.ID)
		}
	}
	const pods = "k8sbench"
	for _, f := range []struct {
		name        string
		value, most int
		of          string // the experiment that it is for; empty: all
	}{{"repeats", o.repeats, 1000, ""}, {"pods", o.pods, 256, pods}, {"n", o.sums, mostSums, pods}} {
		switch {
		case !o.given(f.name):
		case f.value < 1 || f.value > f.most:
			return nil, usageError("--%s %d: want 1 to %d", f.name, f.value, f.most)
		case f.of != "" && !slices.Contains(o.ids, f.of):
			return nil, usageError("--%s is for %s, which is not among what is to run", f.name, f.of)
		}
	}
	var list []lab.Experiment
	for _, id := range o.ids {
		e, err := lab.Find(id)
		if err != nil {
			return nil, usageError("%w", err)
		}
		if !slices.ContainsFunc(list, func(have lab.Experiment) bool { return have.ID == id }) {
			list = append(list, e)
		}
	}
	return list, nil
}

func (o *labOptions) resolve(io stdio) (*labRun, error) {
	experiments, err := o.check()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	host, started := session.ThisHost(), time.Now().Truncate(time.Second)
	if o.out == "" {
		o.out = filepath.Join("results", "lab-"+started.Format("20060102-150405"))
	}
	r := &labRun{labOptions: o, io: io, outcome: labOutcome{lab.Outcome{
		Schema: lab.OutcomeSchema, Started: started, Host: host,
		Tool: tool(io.args),
	}}}
	options := lab.Options{
		Quick: o.quick, Procs: o.procs, Quota: o.quota, Go: o.goVersions, Repeats: o.repeats, CPUs: host.EffectiveCPUs, Pods: o.pods, N: o.sums,
	}
	for _, e := range experiments {
		item := labItem{Experiment: e}
		for _, st := range e.Stages(options) {
			item.stages = append(item.stages, o.stage(e, st, self, o.out))
		}
		r.items = append(r.items, item)
	}
	return r, nil
}

// run is procfit lab run.
func (o *labOptions) run(ctx context.Context, io stdio) error {
	r, err := o.resolve(io)
	if err != nil {
		return err
	}
	if o.dryRun {
		return r.printPlan()
	}
	held, err := r.openFolder()
	if err != nil {
		return err
	}
	defer held.Close()
	io.notef("%s", r.cost())
	bar := newProgress(io.err, time.Now)
	builder := newBuilder(func(what string) { bar.say("procfit: " + what) })
	defer builder.close()
	runErr := r.measure(ctx, bar, builder)
	bar.finish()
	return r.conclude(runErr)
}

// measure runs every stage. The error ends the run: Ctrl-C, a journal that cannot
// be written, or one of another plan; what is wrong with one stage is told of that
// stage.
func (r *labRun) measure(ctx context.Context, bar *progress, b *builder) error {
	for i := range r.items {
		item := &r.items[i]
		item.changed = true
		for j := range item.stages {
			l := &item.stages[j]
			if l.session != nil {
				title := fmt.Sprintf("%d/%d %s", i+1, len(r.items), l.session.Header.Name)
				bar.next(title, r.after(i, j))
				if err := r.measureStage(ctx, item.Experiment, l, bar, b); err != nil {
					return err
				}
			}
			if why := l.ran.NotRun; why != "" {
				bar.say(fmt.Sprintf("procfit: %s is not run: %s", strings.TrimSpace(item.ID+" "+l.ID), why))
			}
		}
		if item.Trace != "" {
			files, err := r.look(ctx, item.Experiment)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				bar.say("procfit: " + err.Error())
			}
			item.files = files
		}
		if err := r.write(); err != nil {
			return err
		}
	}
	return nil
}

func (r *labRun) measureStage(ctx context.Context, e lab.Experiment, l *labStage, bar *progress, b *builder) error {
	if err := l.prepare(ctx, b, e, r.language); err != nil {
		return err
	}
	runner, err := local.New(l.session.Spec, local.Config{Environ: os.Environ(), CreateLog: l.session.CreateLog, Programs: l.programs})
	if err != nil {
		return err
	}
	defer runner.Close()
	started, err := l.session.Run(ctx, runner, session.Events{
		Torn:     func(path string, bytes int64) { stdio{err: bar}.torn(path, bytes) },
		Activity: bar.activity, Progress: bar.report,
	})
	var unwritten *session.JournalError
	var refused *session.Refusal
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case errors.As(err, &unwritten) && (started || errors.As(err, &refused)):
		return refusal(err)
	case started:
		l.ran.Stopped = err.Error()
	default:
		l.ran.NotRun = err.Error()
	}
	return nil
}

// conclude reports what was measured, whether or not the run came to its end.
func (r *labRun) conclude(runErr error) error {
	if usage := (*exitError)(nil); errors.As(runErr, &usage) {
		return runErr // another run's folder
	}
	if err := r.write(); err != nil {
		return errors.Join(interrupted(runErr), err)
	}
	if err := r.outcome.show(r.io, r.out, r.json); err != nil {
		return errors.Join(interrupted(runErr), err)
	}
	if err := r.showTraces(); err != nil {
		return errors.Join(interrupted(runErr), err)
	}
	if runErr != nil {
		r.io.notef("what is measured is kept in %s; the same command with --out %s completes what is missing", r.out, r.out)
		return interrupted(runErr)
	}
	if !slices.ContainsFunc(r.outcome.Experiments, lab.Ran.Proved) {
		return errors.New("none of the experiments could be run")
	}
	return nil
}

// write brings the folder's reports up to what the journals hold. Only what has
// run in the meantime is analysed again.
func (r *labRun) write() error {
	for i := range r.items {
		if err := r.update(&r.items[i]); err != nil {
			return err
		}
	}
	return r.outcome.write(r.out)
}

func (r *labRun) update(item *labItem) error {
	ran := lab.Ran{ID: item.ID, Quick: r.quick, Files: item.files}
	for _, l := range item.stages {
		ran.Stages = append(ran.Stages, l.ran)
	}
	list := &r.outcome.Experiments
	i := slices.IndexFunc(*list, func(e lab.Ran) bool { return e.ID == item.ID })
	if i < 0 {
		i = len(*list)
		*list = append(*list, lab.Ran{})
	}
	if !item.changed && (*list)[i].ID != "" {
		return nil
	}
	item.changed = false
	if len(ran.Files) == 0 {
		ran.Files = (*list)[i].Files // of an earlier run
	}
	(*list)[i] = ran
	return conclude(r.out, &(*list)[i], r.outcome.Host.EffectiveCPUs)
}
