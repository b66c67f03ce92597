package verdict

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

func TestDetectableIsNullWhereItSaysNothing(t *testing.T) {
	for _, c := range []struct {
		sd   float64
		n    int
		null bool
	}{{.03, 2, true}, {.03, 3, false}, {.03, 6, false}, {3, 3, true}} {
		if got := detectableRatio(c.sd, c.n); (got == nil) != c.null {
			t.Errorf("sd %g, n %d: %v", c.sd, c.n, got)
		}
	}
}

// The metrics of a claim and of its reasons are those of the rows, and the peak is the
// highest of them, or what is higher is reported to be so by luck.
func TestClaimsHaveTheLevelsOfTables(t *testing.T) {
	h, trials := verdicttest.Generate(verdicttest.Config{Seed: 5, Settings: verdicttest.CPUServer(), Noise: &verdicttest.Noise{Trial: 0.02, P99: 0.1}})
	r := Analyze(h, trials)
	rec, rows := r.Recommendation, map[string]*Row{}
	for i := range r.Groups[0].Rows {
		rows[r.Groups[0].Rows[i].Label] = &r.Groups[0].Rows[i]
	}
	if of := rec.Of(); rec.Verdict != KeepDefault || *of.Throughput.Median != *rows["8"].Throughput.Median || *of.P99.Median != *rows["8"].P99.Median {
		t.Errorf("%+v, want the levels of %+v", rec.Of(), rows["8"])
	}
	if len(rows) != 5 || len(r.Groups[0].Settings) != 6 || len(rows["8"].PooledWith) != 1 || rows["8"].PooledWith[0] != "default" {
		t.Errorf("%d rows of %d settings: %+v", len(rows), len(r.Groups[0].Settings), rows["8"])
	}
	peak := rows[r.Groups[0].Peak]
	for label, a := range rows {
		if *a.Throughput.Median > *peak.Throughput.Median && len(rec.Reasons[0].(ReasonFastest).Lucky) == 0 {
			t.Errorf("%s is above the peak %s, and nothing says so", label, peak.Label)
		}
	}
}
