package page

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestTheCommandThatDecides(t *testing.T) {
	race := journal.Plan{Strategy: journal.StrategyRace, Goal: journal.GoalProven, MaxTrials: 30}
	interrupted := race
	interrupted.MaxTrials = 40
	step := verdict.Step{Code: verdict.StepGoOn, More: 9, Have: 30, TrialSeconds: 4, Metric: verdict.MetricThroughput, List: []*contest.Value{{Procs: 1}, {Procs: 2}}}
	for name, c := range map[string]struct {
		plan journal.Plan
		args []string
		want string
	}{
		"a race goes on in its folder": {race, []string{"sweep", "--for", "2m", "--", "./x y", "--out", "b"},
			"about 9 more trials, about 40 seconds, should separate 1 from 2 by throughput: procfit sweep --until trials=39 --out 'results/my run' -- './x y' --out b"},
		"a folder that was named": {race, []string{"sweep", "--out=results/other", "--until=trials=30", "--", "./x"},
			"about 9 more trials, about 40 seconds, should separate 1 from 2 by throughput: procfit sweep --out 'results/my run' --until trials=39 -- ./x"},
		"an interrupted race has trials left": {interrupted, []string{"sweep", "--until", "trials=40", "--", "./x"},
			"about 9 more trials, about 40 seconds, should separate 1 from 2 by throughput: procfit sweep --until trials=40 --out 'results/my run' -- ./x"},
		"a grid begins another": {journal.Plan{Blocks: 5, Settings: make([]journal.Setting, 2)}, []string{"sweep", "--repeats", "5", "--out", "a", "--", "./x"},
			"about 9 more trials, about 60 seconds, should separate 1 from 2 by throughput: procfit sweep --repeats 7 -- ./x"},
		"another command's trials": {race, []string{"lab", "run", "chain"}, "about 9 more trials should separate 1 from 2 by throughput"},
	} {
		r := &verdict.Result{Folder: "results/my run", Plan: c.plan, TrialsRun: 28, PilotsRun: 2, Spec: specOf(c.args...)}
		if got := (words{&verdict.Group{}, r}).step(step).String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestTheCommandThatCompletes(t *testing.T) {
	r := &verdict.Result{Folder: "out", Spec: specOf("sweep", "--out", "./elsewhere", "--procs", "1,2", "--", "./x")}
	if got, want := (words{&verdict.Group{}, r}).step(verdict.Step{Code: verdict.StepResume}).String(), "continue it: procfit sweep --out out --procs 1,2 -- ./x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Folder = ""
	if got, want := howToComplete(r), "run procfit sweep --out ./elsewhere --procs 1,2 -- ./x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := howToComplete(&verdict.Result{}), "run the same command with this directory as --out"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
