package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
)

func TestTheCommandThatDecides(t *testing.T) {
	race := journal.Plan{Strategy: journal.StrategyRace, Goal: journal.GoalProven, MaxTrials: 30}
	interrupted, likely := race, race
	interrupted.MaxTrials, likely.Goal, likely.MaxTrials = 40, journal.GoalLikely, 40
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
		"a race that was to end at a likely answer": {likely, []string{"sweep", "--until", "likely", "--", "./x"},
			"about 9 more trials, about 40 seconds, should separate 1 from 2 by throughput: procfit sweep --out 'results/my run' -- ./x"},
		"such a race without trials left": {race, []string{"sweep", "--until", "likely,trials=30", "--", "./x"},
			"about 9 more trials, about 40 seconds, should separate 1 from 2 by throughput: procfit sweep --until trials=39 --out 'results/my run' -- ./x"},
		"a grid begins another": {journal.Plan{Blocks: 5, Settings: make([]journal.Setting, 2)}, []string{"sweep", "--repeats", "5", "--out", "a", "--", "./x"},
			"about 9 more trials, about 60 seconds, should separate 1 from 2 by throughput: procfit sweep --repeats 7 -- ./x"},
		"another command's trials": {race, []string{"lab", "run", "chain"}, "about 9 more trials should separate 1 from 2 by throughput"},
	} {
		r := stepped(step, &verdict.Result{Folder: "results/my run", Plan: c.plan, TrialsRun: 28, PilotsRun: 2, Spec: specOf(c.args...)})
		if got := page.VerdictOf(r).Next[0].String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestTheCommandThatCompletes(t *testing.T) {
	r := stepped(verdict.Step{Code: verdict.StepResume}, &verdict.Result{Folder: "out", Spec: specOf("sweep", "--out", "./elsewhere", "--procs", "1,2", "--", "./x")})
	if got, want := page.VerdictOf(r).Next[0].String(), "continue it: procfit sweep --out out --procs 1,2 -- ./x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Folder = ""
	if got, want := incomplete(r), "To continue, run: procfit sweep --out ./elsewhere --procs 1,2 -- ./x"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := incomplete(&verdict.Result{}), "To continue, run the same command with this directory as --out."; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// stepped is a Result whose one group has that as its next step.
func stepped(s verdict.Step, r *verdict.Result) *verdict.Result {
	r.Groups = []verdict.Group{{Recommendation: verdict.Recommendation{Verdict: verdict.Undecided, Next: []verdict.Step{s}}}}
	return r
}

// incomplete is what the head of a report says of a run that did not come to its end.
func incomplete(r *verdict.Result) string {
	for _, a := range documenttest.Find[document.Alert](page.Report(r).Blocks) {
		if strings.HasPrefix(a.Text, "Incomplete") {
			return a.Text
		}
	}
	return ""
}
