package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// TestNextCommand: what a disturbed sweep needs is a command too, which measures the same
// again in a new folder; one that is not complete continues instead.
func TestNextCommand(t *testing.T) {
	for _, complete := range []bool{true, false} {
		r := pagetest.Typical()
		r.Complete, r.Spec = complete, specOf("sweep", "--out", "results/x", "--procs", "1,2", "--", "./server")
		for _, code := range []verdict.StepCode{verdict.StepQuietMachine, verdict.StepSteady} {
			r.Groups[0].Recommendation.Next = []verdict.Step{{Code: code}}
			got := page.VerdictOf(r).Next[0]
			if want := "procfit sweep --procs 1,2 -- ./server"; (got.Command == want) != complete || !complete && got.Command != "" || strings.TrimSpace(got.Text) == "" {
				t.Errorf("complete %v, %s: %+v", complete, code, got)
			}
		}
	}
}

// One that its time ended continues for longer in its folder, and says why it ended.
func TestNextCommandOfARaceOutOfTime(t *testing.T) {
	r := pagetest.Typical()
	r.Plan.Strategy, r.Plan.MaxSeconds, r.Plan.MaxTrials, r.TrialsPlanned, r.TrialSeconds = journal.StrategyRace, 40, 80, 80, 0.1
	r.Spec = specOf("sweep", "--for", "40s", "--out", "results/x", "--", "./server")
	g := &r.Groups[0]
	g.Race, g.Recommendation.Confidence = &verdict.Raced{Stop: string(contest.StopTime)}, verdict.Likely
	for _, code := range []verdict.StepCode{verdict.StepQuietMachine, verdict.StepSteady} {
		g.Recommendation.Next = []verdict.Step{{Code: code}}
		got := page.VerdictOf(r).Next[0]
		if want := "procfit sweep --for 1m --out " + r.Folder + " -- ./server"; got.Command != want || !strings.Contains(got.Text, "continue") {
			t.Errorf("%s: %+v, want %s", code, got, want)
		}
	}
	const why = ": the next trials would take longer than --for."
	said := func(x document.Text) bool { return strings.HasSuffix(x.Text, why) }
	if !slices.ContainsFunc(documenttest.Find[document.Text](page.Brief(r).Blocks), said) {
		t.Error("a terminal does not say why it ended")
	}
	if g.Recommendation.Confidence = verdict.Proven; slices.ContainsFunc(documenttest.Find[document.Text](page.Brief(r).Blocks), said) {
		t.Error("a terminal says why it ended where the answer is proven")
	}
}

// A default that always failed ended it: other values were compared.
func TestEndedByADefaultThatFails(t *testing.T) {
	r := pagetest.Typical()
	r.Plan.Strategy, r.Plan.MaxTrials, r.TrialsPlanned = journal.StrategyRace, 80, 80
	r.Groups[0].Race, r.Groups[0].Recommendation = &verdict.Raced{Stop: string(contest.StopNothing)}, verdict.Recommendation{Verdict: verdict.Undecided, Claim: verdict.CauseNoDefault{}}
	said := func(x document.Text) bool {
		return strings.HasSuffix(x.Text, " of at most 80 trials: what failed three times is not measured again.")
	}
	if !slices.ContainsFunc(documenttest.Find[document.Text](page.Brief(r).Blocks), said) {
		t.Error("a terminal does not say why it ended")
	}
}

// Only procfit sweep has --vary and --profile: of another command there is none to paste.
func TestCommandsThatOnlySweepHas(t *testing.T) {
	for command, want := range map[string]bool{"sweep": true, "compare": false, "live": false} {
		r := pagetest.Typical()
		r.Spec = specOf(command, "--", "./server")
		r.Groups[0].Recommendation.Next = []verdict.Step{{Code: verdict.StepVary}, {Code: verdict.StepProfile}}
		for _, one := range page.VerdictOf(r).Next {
			if (one.Command != "") != want {
				t.Errorf("%s: %+v", command, one)
			}
		}
	}
}

// What is only likely because of the way of the load has another way as its next step, and the
// report names the one that it took.
func TestLoadThroughTheAPIServer(t *testing.T) {
	r := pagetest.Typical()
	r.Load.Arrangement = new(journal.ArrangementTunnel)
	r.Groups[0].Recommendation.Next = []verdict.Step{{Code: verdict.StepLoadElsewhere}}
	if got := page.VerdictOf(r).Next[0].Text; !strings.Contains(got, "--image IMAGE instead of --load-from local") {
		t.Error(got)
	}
	if got, want := fact(r, "Load generator and target"), "connected through the API server, which was measured too"; got != want {
		t.Errorf("the load ran %q, want %q", got, want)
	}
}
