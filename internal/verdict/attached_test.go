package verdict_test

import (
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Of a server that ran already there is what was seen, and nothing to choose: no
// warning asks for more values, and its p99 is that of all trials, although a late
// generator keeps most of them out of comparisons.
func TestAttached(t *testing.T) {
	h, trials := Generate(Config{CPUs: 2, Noise: quiet, Rate: 300, Blocks: 6, Settings: []Truth{Set(4, 3000, .010)}})
	h.Target.Attached, h.Plan.AA, h.Plan.SmallestFor = &journal.Process{PID: 1, Name: "caddy"}, nil, false
	trials = slices.DeleteFunc(trials, func(tr journal.Trial) bool { return tr.Role != journal.RoleMeasure })
	for i := range trials {
		tr := &trials[i]
		if i > 0 {
			tr.Load.SendLagP99Seconds = new(0.009)
			continue
		}
		for _, l := range []*journal.Latency{tr.LatencySeconds, tr.Phases[len(tr.Phases)-1].LatencySeconds} {
			l.P99 = new(0.080)
		}
	}
	r := verdict.Analyze(h, trials)
	g := r.Groups[0]
	if rec := g.Recommendation; rec.Verdict != verdict.Measured || rec.Of().Procs != 4 || len(rec.Next) != 0 {
		t.Fatalf("%+v", rec)
	}
	if p := g.Recommendation.Of().P99.Median; p == nil || *p > 0.02 || *g.Rows[0].Judged.Median != *p {
		t.Errorf("p99 %v, in the table %v: want about 10 ms", *p, *g.Rows[0].Judged.Median)
	}
	if has[verdict.FewSettings](r) || !has[verdict.SentLate](r) {
		t.Errorf("warnings %v: want the late generator, and no call for more values", codes(r))
	}
	for i := range trials {
		trials[i].Valid, trials[i].InvalidCode = false, journal.InvalidCrashed
	}
	if got := verdict.Analyze(h, trials).Groups[0].Recommendation; got.Verdict != verdict.Undecided {
		t.Errorf("without a valid trial: %+v", got)
	}
}
