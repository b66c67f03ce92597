// Package aa measures one setting under two names, for real, again and again, and
// counts how often a sweep says that they differ: a claim that can only be false. The
// plan, the trials and the verdict are those of any sweep; only the Runner is told 2
// where the plan says 1. A second count, of the same names at their own values, shows
// that the sweep would have seen a difference.
//
// TestAgain sweeps real servers next to other work, and measures again what the values that
// the sweeps named lose on a quiet machine.
//
// Both take an hour, so they are run by hand, in the background of .ci/full, and continue
// where they were stopped.
package aa

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// alias runs one value under another's name, and hides what the target really ran at.
type alias struct {
	plan.Runner
	name, value int
}

func (a alias) Run(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	named := task.Setting
	if named.Procs == nil || *named.Procs != a.name {
		return a.Runner.Run(ctx, task, observe)
	}
	task.Setting.Procs = &a.value
	trial, err := a.Runner.Run(ctx, task, observe)
	trial.Setting = named
	for i, p := range trial.ObservedProcs {
		if p != nil && *p == a.value {
			trial.ObservedProcs[i] = &a.name
		}
	}
	return trial, err
}

// TestAA runs PROCFIT_AA sweeps of two equal settings of the built-in service in the
// folder PROCFIT_AA_DIR (by default one in the user's cache), less those that stand
// there already, and a tenth as many of two that differ.
func TestAA(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PROCFIT_AA"))
	if err != nil || n < 1 {
		t.Skip("a hundred sweeps of a minute: by hand, with PROCFIT_AA=100")
	}
	if missing := need.Missing("cpus"); missing != "" {
		need.Skip(t, missing)
	}
	root := os.Getenv("PROCFIT_AA_DIR")
	if root == "" {
		root = filepath.Join(cacheDir(t), "aa")
	}
	program := build(t)
	var equal, differ tally
	for i := range n {
		equal.add(one(t, program, filepath.Join(root, fmt.Sprintf("equal-%03d", i)), 2))
		t.Logf("equal: %s", equal)
		if i%10 == 0 {
			differ.add(one(t, program, filepath.Join(root, fmt.Sprintf("differ-%03d", i)), 1))
			t.Logf("differ: %s", differ)
		}
	}
	if equal.claimed > n/100 {
		t.Errorf("equal settings: %s", equal)
	}
	if differ.claimed < differ.sweeps {
		t.Errorf("settings that differ: %s", differ)
	}
}

// tally counts sweeps and what they claim.
type tally struct {
	sweeps, claimed, trials int
	verdicts                map[verdict.Verdict]int
}

func (c *tally) add(r *verdict.Result) {
	c.sweeps++
	c.trials += r.TrialsRun + r.PilotsRun
	if c.verdicts == nil {
		c.verdicts = map[verdict.Verdict]int{}
	}
	c.verdicts[r.Recommendation.Verdict]++
	if claims(r) {
		c.claimed++
	}
}

// String gives the count with its 95% interval (Clopper and Pearson).
func (c tally) String() string {
	k, n := float64(c.claimed), float64(c.sweeps)
	low, high := 0.0, 1.0
	if k > 0 {
		low = stat.BetaQuantile(0.025, k, n-k+1)
	}
	if k < n {
		high = stat.BetaQuantile(0.975, k+1, n-k)
	}
	return fmt.Sprintf("%d of %d claim a difference (%.1f to %.1f%%), %d trials, %v", c.claimed, c.sweeps, 100*low, 100*high, c.trials, c.verdicts)
}

// claims reports whether a result calls one of its settings worse than another.
func claims(r *verdict.Result) bool {
	worse := []contest.Excluded{contest.ExcludedSlower, contest.ExcludedSaturated}
	return slices.ContainsFunc(r.Groups, func(g verdict.Group) bool {
		return slices.ContainsFunc(g.Rows, func(row verdict.Row) bool {
			return row.Later || row.Excluded != nil && slices.Contains(worse, *row.Excluded)
		})
	})
}

// one runs or completes a sweep of 1 and 2 Ps in the folder, where 1 is really value.
func one(t *testing.T, program, dir string, value int) *verdict.Result {
	t.Helper()
	spec := plan.Default()
	spec.Target.BuiltIn = "cpuserver"
	spec.Target.Command = []string{program, "lab", "serve", "cpuserver", "--addr", "127.0.0.1:" + plan.PortPlaceholder}
	spec.Target.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/"
	spec.Procs = plan.Procs{Values: []*int{new(1), new(2)}}
	spec.Load.Duration, spec.Load.Stretch = 2*time.Second, false
	spec.Budget = &plan.Budget{Goal: journal.GoalProven}
	must.OK(t, spec.Validate())
	s := session.New(spec, session.Options{
		Dir: dir, Tool: journal.Tool{GoVersion: runtime.Version()}, Host: session.ThisHost(), Environ: os.Environ(), Started: time.Now(),
	})
	if s.Missing() > 0 {
		runner := must.Get(local.New(s.Spec, local.Config{Environ: os.Environ(), CreateLog: s.CreateLog}))(t)
		defer runner.Close()
		must.Get(s.Run(t.Context(), alias{runner, 1, value}, session.Events{}))(t)
	}
	contents := s.Journal()
	return verdict.Analyze(contents.Header, contents.Trials)
}

// cacheDir is procfit's folder in the user's cache.
func cacheDir(t *testing.T) string {
	t.Helper()
	cache := must.Get(os.UserCacheDir())(t)
	return filepath.Join(cache, "procfit")
}

// build makes the program once for all sweeps, resumed ones too: a journal goes on with
// the command that it began with.
func build(t *testing.T) string {
	t.Helper()
	built.ReadsProcfit(t)
	path := filepath.Join(cacheDir(t), "aa-server")
	must.Output(t, exec.Command("go", "build", "-o", path, "../../cmd/procfit"))
	return path
}
