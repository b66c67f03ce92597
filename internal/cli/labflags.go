package cli

import (
	"context"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
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
	makeBash     bool
	out          string
	json         bool
	seed         uint64
	dryRun       bool
	untilTold    bool
	maxTime      time.Duration
	load         string
	serverCPUs   string
	loadCPUs     string
	kube         labKube
	given        func(flag string) bool
	asGiven      []string // the flags, for reproduce.sh
}

func (o *labOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.BoolVar(&o.quick, "quick", false, "small sizes: all experiments in less than ten minutes on two CPUs")
	f.StringSliceVar(&o.goVersions, "go", nil, "Go `versions` to build the programs with, each a setting: 1.4,1.13,1.26")
	f.StringVar(&o.language, "lang", "", "go line to build with, such as `1.24` (default the toolchain's own)")
	f.StringVar(&o.procs, "procs", "", "`values` of GOMAXPROCS instead of the experiment's: unset,1,2,4")
	f.StringVar(&o.quota, "quota", "", "CPU `limits` instead of the experiment's: none,0.5,2")
	f.IntVar(&o.repeats, "repeats", 0, "blocks (default the experiment's); intervals need six")
	f.BoolVar(&o.untilTold, "until-told", false, "then add blocks where a hypothesis's interval holds a bound, for --max-time at most")
	f.DurationVar(&o.maxTime, "max-time", 0, "`time` that the added blocks take at most (default about as long as the run itself)")
	f.StringVar(&o.load, "load", "", "load the servers with this `command` instead of procfit's own load, as procfit sweep does")
	f.StringVar(&o.serverCPUs, "server-cpuset", "", "`CPUs` that the programs may run on: 0-1,3")
	f.StringVar(&o.loadCPUs, "load-cpuset", "", "`CPUs` that the servers' load runs on")
	f.IntVar(&o.pods, "pods", 0, "replicas of k8sbench (default the article's, scaled to this machine)")
	f.IntVar(&o.sums, "n", 0, "sums that k8sbench computes a request (default the article's)")
	f.BoolVar(&o.makeBash, "make-bash", false, "in build, build all of Go by make.bash too: an hour and more")
	f.StringVar(&o.out, "out", "", "results `directory` (default results/lab-TIME); an unfinished one is completed")
	f.BoolVar(&o.json, "json", false, "print lab.json instead of the report")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the settings' random order (default from the clock)")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would run and its cost, and stop")
	o.kube.flags(f)
}

// resolve turns the flags into a run, or says which of them is wrong.
func (o *labOptions) resolve(ctx context.Context, std stdio) (*run.Run, error) {
	chosen, err := o.chosen(std)
	if err != nil {
		return nil, err
	}
	if err := o.checkTime(); err != nil {
		return nil, err
	}
	experiments, err := o.experiments()
	if err != nil {
		return nil, err
	}
	if err := o.checkOnly(experiments); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	options := run.Options{
		Experiments: experiments, Chosen: chosen, Language: o.language, Dir: o.out,
		Tool: tool(std.args), Flags: o.asGiven, Self: self, Host: session.ThisHost(), Environ: os.Environ(),
		Machine: run.ThisMachine(os.Environ()), Pages: labPages, Now: time.Now, Grow: o.untilTold,
	}
	if o.given("seed") {
		options.Seed = &o.seed
	}
	if o.given("kube") {
		if err := o.kube.open(ctx, &options); err != nil {
			return nil, err
		}
	}
	return run.New(options), nil
}

// mostSums is how many k8sbench computes for one request.
const mostSums = 200_000

var goLanguage = regexp.MustCompile(`^1\.\d+(\.\d+)?$`)

// chosen is what the user would have otherwise than the documents.
func (o *labOptions) chosen(std stdio) (c lab.Options, err error) {
	if len(o.ids) == 0 {
		return c, usageError("run takes ids of experiments, or all; procfit lab list shows them")
	}
	c = lab.Options{Quick: o.quick, Repeats: o.repeats, Pods: o.pods, N: o.sums, MakeBash: o.makeBash}
	if c.Go, err = parseGoVersions(o.goVersions); err != nil {
		return c, err
	}
	if o.procs != "" {
		procs, err := plan.ParseProcs(o.procs)
		if err != nil {
			return c, usageError("--procs: %w", err)
		}
		c.Procs = &procs
	}
	if o.quota != "" {
		if c.Quotas, err = parseQuotas(o.quota); err != nil {
			return c, err
		}
	}
	if o.language != "" && !goLanguage.MatchString(o.language) {
		return c, usageError("--lang %q: want a go line such as 1.24", o.language)
	}
	err = o.places(&c, std)
	return c, err
}

// experiments are those that are named, each once.
func (o *labOptions) experiments() ([]lab.Experiment, error) {
	if slices.Contains(o.ids, "all") {
		o.ids = nil
		for _, e := range lab.List() {
			o.ids = append(o.ids, e.ID)
		}
	}
	const pods = "k8sbench"
	for _, f := range []struct {
		name        string
		value, most int
		only        string // the experiment that it is for; empty: all
	}{{"repeats", o.repeats, 1000, ""}, {"pods", o.pods, 256, pods}, {"n", o.sums, mostSums, pods}} {
		switch {
		case !o.given(f.name):
		case f.value < 1 || f.value > f.most:
			return nil, usageError("--%s %d: want 1 to %d", f.name, f.value, f.most)
		case f.only != "" && !slices.Contains(o.ids, f.only):
			return nil, usageError("--%s is for %s, which is not among what is to run", f.name, f.only)
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

// places says where programs and load run, and which load it is.
func (o *labOptions) places(c *lab.Options, std stdio) (err error) {
	if c.ServerCPUs, err = parseCPUs("server-cpuset", o.serverCPUs, std); err != nil {
		return err
	}
	if c.LoadCPUs, err = parseCPUs("load-cpuset", o.loadCPUs, std); err != nil {
		return err
	}
	c.Load = o.load
	_, err = parseCommand("load", o.load)
	return err
}

// checkOnly refuses what is for experiments that are not to run.
func (o *labOptions) checkOnly(list []lab.Experiment) error {
	if o.makeBash && !slices.ContainsFunc(list, func(e lab.Experiment) bool { return e.ID == "build" }) {
		return usageError("--make-bash is for build, which is not among what is to run")
	}
	if slices.ContainsFunc(list, func(e lab.Experiment) bool { return e.Kind == lab.Server }) {
		return nil
	}
	for _, flag := range []string{"load", "load-cpuset"} {
		if o.given(flag) {
			return usageError("--%s is for servers, and there is none among what is to run", flag)
		}
	}
	return nil
}

// checkTime refuses a time for blocks that nobody asked for, and none for those.
func (o *labOptions) checkTime() error {
	switch {
	case !o.given("max-time"):
		return nil
	case !o.untilTold:
		return usageError("--max-time is for --until-told: without it no blocks are added")
	case o.maxTime <= 0:
		return usageError("--max-time %s: want a time above zero, as in 30m", o.maxTime)
	}
	return nil
}

// budget is the time that added blocks may take: what the run itself takes, where the
// user names none.
func (o *labOptions) budget(r *run.Run) time.Duration {
	if o.maxTime > 0 {
		return o.maxTime
	}
	return max(r.Cost(), leastBudget)
}

// leastBudget is that of a run whose trials nobody can foretell.
const leastBudget = 5 * time.Minute
