package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// result.json has the sentence of the page.
func TestSentences(t *testing.T) {
	eight, one := &contest.Value{Procs: 8}, &contest.Value{Procs: 1}
	for want, rec := range map[string]verdict.Recommendation{
		"Undecided: change nothing yet. No trial was valid.":                                                                                                     {Verdict: verdict.Undecided, Claim: verdict.CauseNoneValid{}},
		"Undecided: change nothing yet. Every value of GOMAXPROCS used more memory than --max-memory 512 MiB.":                                                   {Verdict: verdict.Undecided, Claim: verdict.CauseMemory{}},
		"Undecided: change nothing yet. Every value of GOMAXPROCS but 1 used more memory than --max-memory 512 MiB.":                                             {Verdict: verdict.Undecided, Claim: verdict.CauseMemory{About: verdict.About{Of: one}}},
		"Undecided: change nothing yet. The load came through the API server, which was measured too, so a difference, or that there is none, may be due to it.": {Verdict: verdict.Undecided, Claim: verdict.CauseTunnel{}},
		"Trade-off: choose throughput or latency. 8 is best for throughput, 1 for p99: 1 is 50% slower, but its p99 is 25% lower.": {
			Verdict: verdict.TradeOff, Claim: verdict.ClaimTrade{Pair: verdict.Pair{Of: eight, Than: one}, Change: -0.5, P99Change: -0.25}},
		"GOMAXPROCS makes no difference. All values perform the same, within 5% (p99: 20%). Profile the program first.": {Verdict: verdict.NoDifference, Claim: verdict.ClaimAlike{}},
		"Keep the default (8). Nothing we measured beats the default (8) by more than 5% (p99: 20%).":                   {Verdict: verdict.KeepDefault, Claim: verdict.ClaimKeep{About: verdict.About{Of: eight}}},
	} {
		r := pagetest.Typical()
		r.Plan.MaxMemoryBytes = 512 << 20
		r.Groups[0].Recommendation = rec
		if view, json := page.VerdictOf(r).Answer.Sentence(), recommended(r).Sentence; view != want || json != want {
			t.Errorf("%q and %q, want %q", view, json, want)
		}
	}
}

func TestGroupTitles(t *testing.T) {
	r := pagetest.Groups()
	r.Groups, r.Gate = r.Groups[:2], nil
	for i := range r.Groups {
		r.Groups[i].Recommendation = verdict.Recommendation{Verdict: verdict.Undecided, Claim: verdict.CauseNoneValid{}}
	}
	if got := page.VerdictOf(r).Answer.Plain; got != "In both groups: no trial was valid." {
		t.Error(got)
	}
}

// A batch program is known by how long it takes, and not by runs per second.
func TestRunsAreShownAsTimes(t *testing.T) {
	r := pagetest.Typical()
	g := &r.Groups[0]
	g.ThroughputUnit = "runs"
	for i := range g.Rows {
		g.Rows[i].Throughput = stat.Interval{Median: new(0.5), Low: new(0.4), High: new(0.8), N: 6}
	}
	v := sections(r)[0]
	if c := v.Table.Columns[2]; c.Head != "Time per run" || c.Short != "per run" {
		t.Errorf("column %+v", c)
	}
	if c := v.Table.Rows[0].Cells[2]; c.Value != "2.00 s" || c.Detail != "[1.25 s, 2.50 s]" {
		t.Errorf("cell %+v", c)
	}
	if v.Throughput.Title != "Time per run" || v.Throughput.Series[0].Marks[0].Value != "2.00 s" {
		t.Errorf("chart %q: %+v", v.Throughput.Title, v.Throughput.Series[0].Marks[0])
	}
	if tile := page.VerdictOf(r).Answer.Tiles[1]; tile.Name != "time per run" || tile.After != "2.00 s" || tile.Note != "1.25 s to 2.50 s" {
		t.Errorf("tile %+v", tile)
	}
}

func TestAMetricIsItsOwnUnit(t *testing.T) {
	r := pagetest.Typical()
	r.Groups[0].ThroughputUnit = "throughput"
	g := sections(r)[0]
	if c := g.Table.Columns[2]; c.Head != "Throughput" || c.Short != "throughput" {
		t.Errorf("column %+v", c)
	}
	if got := g.Throughput.Series[0].Marks[1].Value; got != "12.8k" {
		t.Errorf("value %q", got)
	}
}

func TestHowLongATrialIs(t *testing.T) {
	for want, bend := range map[string]func(*verdict.Result){
		"1.5 s of throughput phase and 1.5 s of latency phase after 500 ms of warm-up, at most 1% errors": func(*verdict.Result) {},
		"3 s under the load command after 500 ms of warm-up, at most 1% errors":                           func(r *verdict.Result) { r.Load.Command = "wrk" },
		"whole runs of the program, until they add up to 3 s after 500 ms of warm-up":                     func(r *verdict.Result) { r.Target.Kind = "batch" },
		"one whole run of the program": func(r *verdict.Result) {
			r.Target.Kind, r.Load.DurationSeconds, r.Load.WarmupSeconds = "gobench", 0, 0
		},
		"1.5 s of throughput phase, and of each rate that is tried after 500 ms of warm-up, at most 1% errors": func(r *verdict.Result) { r.Plan.SLO = new(slo.Objective) },
	} {
		r := pagetest.Typical()
		bend(r)
		if got := fact(r, "A trial"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHowToGoOnFromAnIncompleteRun(t *testing.T) {
	for _, c := range []struct {
		run, invalid, pilots int
		want                 string
	}{
		{0, 0, 0, "Incomplete: 0 of 36 planned trials ran. To continue, run"},
		{0, 0, 1, "Incomplete: 0 of 36 planned trials ran: the trials that find the request rate were invalid. Fix"},
		{6, 6, 0, "Incomplete: 6 of 36 planned trials ran, and none was valid. Fix"},
		{6, 5, 1, "Incomplete: 6 of 36 planned trials ran. To continue, run"},
	} {
		r := &verdict.Result{TrialsPlanned: 36, TrialsRun: c.run, TrialsInvalid: c.invalid, PilotsInvalid: c.pilots}
		if got := incomplete(r); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A race that was ended by something else may have its answer: where that is proven, it
// lacks nothing.
func TestIncompleteWithAnAnswer(t *testing.T) {
	of := func(list ...verdict.Confidence) *verdict.Result {
		r := &verdict.Result{TrialsPlanned: 40, TrialsRun: 18, PilotsRun: 2}
		r.Plan.Strategy = journal.StrategyRace
		for _, c := range list {
			r.Groups = append(r.Groups, verdict.Group{Recommendation: verdict.Recommendation{Confidence: c}})
		}
		return r
	}
	const ended = "Incomplete: the sweep ended after 20 of at most 40 trials, "
	for want, r := range map[string]*verdict.Result{
		"before it had an answer. ":                    of(verdict.Proven, ""),
		"when its answer was likely, but not proven. ": of(verdict.Likely, verdict.Proven),
	} {
		if got := incomplete(r); !strings.HasPrefix(got, ended+want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	open := of(verdict.Likely)
	open.Cheapest = &verdict.Cheapest{}
	if got := incomplete(open); !strings.HasPrefix(got, ended+"before it had an answer. ") {
		t.Errorf("%q, and no setting is known to be enough", got)
	}
	if got := incomplete(of(verdict.Proven)); got != "" {
		t.Errorf("%q where the answer is proven", got)
	}
}

func TestNoChartWithoutData(t *testing.T) {
	g := sections(pagetest.Invalid())[0]
	if g.Throughput != nil || g.Latency != nil || len(g.Evidence) != 0 {
		t.Errorf("charts of nothing: %+v %+v %d", g.Throughput, g.Latency, len(g.Evidence))
	}
	if g := sections(pagetest.Benchmarks())[0]; g.Throughput == nil || g.Latency != nil {
		t.Error("benchmarks have a throughput, and no latency")
	}
}

func TestFactsNameWhatIsKnown(t *testing.T) {
	r := pagetest.Typical()
	r.Groups[0].NoiseFloor.P99 = nil
	has(t, fact(r, "Repeat of the default"), "differed by up to 2.2% in throughput, in ")
}

// What a request costs is shown at saturation and, if there is an open loop, at its rate.
func TestCostOfBothPhases(t *testing.T) {
	r := pagetest.Typical()
	costs := func() map[string]string {
		list := map[string]string{}
		rows, _ := page.MultiplesOf(r, nil)
		for _, m := range rows {
			if strings.HasPrefix(m.Title, "CPU per request") {
				list[m.Title] = m.Table.Rows[0].Cells[1].Value
			}
		}
		return list
	}
	one := &r.Groups[0].Settings[0]
	one.Evidence.CPUSecondsEach, one.OpenEvidence = new(0.004), &verdict.Evidence{CPUSecondsEach: new(0.005)}
	if got := costs(); len(got) != 2 || got["CPU per request"] != "4.00 ms" || got["CPU per request, latency phase"] != "5.00 ms" {
		t.Errorf("%v", got)
	}
	one.OpenEvidence = nil
	if got := costs(); got["CPU per request, latency phase"] == "5.00 ms" {
		t.Errorf("%v of no latency phase", got)
	}
}
