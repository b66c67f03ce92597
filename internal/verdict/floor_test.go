package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// The metrics of a claim and of its reasons are those of the rows, and the peak is the
// highest of them, or what is higher is reported to be so by luck.
func TestClaimsHaveTheLevelsOfTables(t *testing.T) {
	h, trials := verdicttest.Generate(verdicttest.Config{Seed: 5, Settings: verdicttest.CPUServer(), Noise: &verdicttest.Noise{Trial: 0.02, P99: 0.1}})
	r := verdict.Analyze(h, trials)
	rec, rows := r.Recommendation, map[string]*verdict.Row{}
	for i := range r.Groups[0].Rows {
		rows[r.Groups[0].Rows[i].Label] = &r.Groups[0].Rows[i]
	}
	if of := rec.Of(); rec.Verdict != verdict.KeepDefault || *of.Throughput.Median != *rows["8"].Throughput.Median || *of.P99.Median != *rows["8"].P99.Median {
		t.Errorf("%+v, want the levels of %+v", rec.Of(), rows["8"])
	}
	if len(rows) != 5 || len(r.Groups[0].Settings) != 6 || len(rows["8"].PooledWith) != 1 || rows["8"].PooledWith[0] != "default" {
		t.Errorf("%d rows of %d settings: %+v", len(rows), len(r.Groups[0].Settings), rows["8"])
	}
	peak := rows[r.Groups[0].Peak]
	for label, a := range rows {
		if *a.Throughput.Median > *peak.Throughput.Median && len(rec.Reasons[0].(verdict.ReasonFastest).Lucky) == 0 {
			t.Errorf("%s is above the peak %s, and nothing says so", label, peak.Label)
		}
	}
}
