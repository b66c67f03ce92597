package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
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
