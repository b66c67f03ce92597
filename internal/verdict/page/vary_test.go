package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// The verdict of all variables has no reasons, so that a list of them is of its group.
func TestReasonsOfVaried(t *testing.T) {
	r := pagetest.Varied(200)
	if reasons := page.ReasonsOf(r); len(page.VerdictOf(r).Reasons) > 0 || len(reasons) == 0 || !strings.Contains(reasons[0], "throughput") {
		t.Errorf("%q", reasons)
	}
	r = pagetest.Typical()
	if reasons := page.ReasonsOf(r); !slices.Equal(reasons, page.VerdictOf(r).Reasons) || len(reasons) == 0 {
		t.Errorf("%q", reasons)
	}
}

// Where every value takes too much memory, more trials decide nothing.
func TestVariedAllTooLarge(t *testing.T) {
	h := verdicttest.Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100"}, Start: "100"})
	h.Plan.MaxMemoryBytes = 1 << 20
	trials := verdicttest.Race(h, func(int, map[string]string) (float64, int64) { return 100, 2 << 20 }, 1, 30)
	got := unwrapped(onTerminal(t, verdict.Analyze(h, trials), text.Options{Width: 100}))
	has(t, got, "used more memory than --max-memory 1 MiB allows, so there is nothing left to compare", "allow more memory with --max-memory")
	if strings.Contains(got, "--until trials=N") || strings.Contains(got, "best so far") {
		t.Errorf("it asks for more of the same:\n%s", got)
	}
}

// What is to prove a likely answer does not end once that is likely.
func TestVariedUntilLikely(t *testing.T) {
	r := pagetest.Varied(200)
	r.Best[0].Confidence, r.Complete, r.Plan.MaxTrials, r.Folder = verdict.Likely, true, 40, "out"
	r.Spec = specOf("sweep", "--vary", "GOGC=50,100", "--until", "likely,trials=40", "--", "./x")
	next := page.VerdictOf(r).Next
	if got, want := next[len(next)-1].Command, "procfit sweep --vary GOGC=50,100 --until trials=80 --out out -- ./x"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The line to paste holds names of variables as a shell reads them.
func TestAppliedIsQuoted(t *testing.T) {
	r := pagetest.Varied(200)
	r.Best[0].Variables = []journal.Variable{{Name: "A;reboot", Value: journal.Unset}, {Name: "GOGC", Value: journal.Unset}, {Name: "B", Value: "x y"}}
	if got, want := page.VerdictOf(r).Answer.Apply, "export GOMAXPROCS=2 'B=x y'; unset 'A;reboot' GOGC"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A pair that is likely since nothing was counted of other programs, or that the load generator hides, is
// not proven by more trials: the page says where it would be.
func TestBestUncounted(t *testing.T) {
	for code, want := range map[verdict.StepCode]string{verdict.StepCount: "measure on Linux, where procfit counts", verdict.StepLoadElsewhere: "run the load generator on another machine"} {
		r := &verdict.Result{
			Spec: specOf("sweep", "--", "x"), Plan: journal.Plan{Blocks: 6},
			Best:     []verdict.Best{{Complete: true, Confidence: verdict.Likely, Setting: journal.Setting{Variables: []journal.Variable{{Name: "GOGC", Value: "200"}}}}},
			Compared: []verdict.Group{{Setting: journal.Setting{Compares: "GOGC"}, Recommendation: verdict.Recommendation{Next: []verdict.Step{{Code: code}}}}},
		}
		if v := page.VerdictOf(r); len(v.Next) != 2 || !strings.HasPrefix(v.Next[0].Text, want) {
			t.Errorf("%s: %q", code, v.Next)
		}
	}
}
