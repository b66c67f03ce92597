package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func TestTheGateIsTheHeadlineWhereNothingElseWasAsked(t *testing.T) {
	for _, c := range []struct {
		name     string
		bend     func(*verdict.Gate)
		state    document.Tone
		label    string
		sentence string
	}{
		{"passed", func(g *verdict.Gate) { g.Checks[1].Proven = false }, document.OK, "Not slower", "New version is not proven slower. Throughput +0.6% [−0.1%, +2.1%], allowed −5%; p99 −2.1% [−17%, +16%], allowed +20%."},
		{"all proven", func(g *verdict.Gate) { g.Checks[1].Proven = true }, document.OK, "Not slower", "New version is not slower. Throughput +0.6% [−0.1%, +2.1%], allowed −5%; p99 −2.1% [−17%, +16%], allowed +20%."},
		{"faster", func(g *verdict.Gate) {
			g.Checks[1].Proven, g.Checks[0].Outcome = true, verdict.OutcomeBetter
			g.Checks[0].Ratio.Median, g.Checks[0].Bounds.Low, g.Checks[0].Bounds.High = new(3.3), new(1.99), new(5.6)
		}, document.OK, "Faster", "New version is faster: throughput 3.3× [2.0×, 5.6×]. Also p99 −2.1% [−17%, +16%], allowed +20%."},
		{"old cannot carry the rate", func(g *verdict.Gate) {
			g.Checks[1].Proven, g.Checks[1].Behind, g.Checks[1].Outcome = true, verdict.BehindOld, verdict.OutcomeBetter
		}, document.OK, "Not slower", "New version is not slower. Throughput +0.6% [−0.1%, +2.1%], allowed −5%; p99 not compared: the old version could not keep up with 5,900 req/s."},
		{"new cannot carry the rate", func(g *verdict.Gate) { g.Pass, g.Checks[1].Worse, g.Checks[1].Behind = false, true, verdict.BehindNew }, document.Attention, "Slower", "New version is slower: p99 not compared: the new version could not keep up with 5,900 req/s. Also throughput +0.6% [−0.1%, +2.1%], allowed −5%."},
		{"worse", func(g *verdict.Gate) { g.Pass, g.Checks[1].Worse = false, true }, document.Attention, "Slower", "New version is slower: p99 −2.1% [−17%, +16%], allowed +20%. Also throughput +0.6% [−0.1%, +2.1%], allowed −5%."},
		{"worse, another not judged", func(g *verdict.Gate) { g.Pass, g.Checks[1].Worse, g.Checks[0].Judged = false, true, false }, document.Attention, "Slower", "New version is slower: p99 −2.1% [−17%, +16%], allowed +20%. Also throughput +0.6% [−0.1%, +2.1%], allowed −5%."},
		{"not judged", func(g *verdict.Gate) {
			g.Pass, g.Checks[0].Judged, g.Checks[0].Proven, g.Unjudged = false, false, false, []verdict.Unjudged{{Code: verdict.UnjudgedTooFew, Checks: g.Checks[:1]}}
		}, document.Unknown, "Undecided", "Undecided: the throughput of the new version may be lower; its p99 is not higher. Throughput with the default GOMAXPROCS: no pair of trials can be compared."},
		{"the objective was missed", func(g *verdict.Gate) {
			g.Pass, g.Checks[0].Judged, g.Checks[0].Proven, g.Unjudged = false, false, false, []verdict.Unjudged{{Code: verdict.UnjudgedMissed, Pairs: 2, Checks: g.Checks[:1]}}
		}, document.Unknown, "Undecided", "Undecided: the throughput of the new version may be lower; its p99 is not higher. Throughput with the default GOMAXPROCS: in some trials no rate met --slo, so only 2 pairs of trials are valid, and 3 are needed."},
		{"it was missed, with enough pairs", func(g *verdict.Gate) {
			g.Pass, g.Checks[0].Judged, g.Checks[0].Proven, g.Unjudged = false, false, false, []verdict.Unjudged{{Code: verdict.UnjudgedMissed, Pairs: 6, Checks: g.Checks[:1]}}
		}, document.Unknown, "Undecided", "Undecided: the throughput of the new version may be lower; its p99 is not higher. Throughput with the default GOMAXPROCS: in some trials no rate met --slo, so 6 pairs do not prove it worse, or within its margin."},
		{"the new one differs from itself", func(g *verdict.Gate) {
			g.Checks[0].Judged, g.Checks[0].Itself = false, new(0.6)
			g.Pass, g.Checks[0].Proven, g.Unjudged = false, false, []verdict.Unjudged{{Code: verdict.UnjudgedItself, Pairs: 6, Checks: g.Checks[:1]}}
		}, document.Unknown, "Undecided", "Undecided: the throughput of the new version may be lower; its p99 is not higher. Throughput with the default GOMAXPROCS: the new program differs from itself by more than the margin, between its two trials in a block."},
		{"it does in both, not by as much", func(g *verdict.Gate) {
			g.Pass, g.Checks[0].Judged, g.Checks[0].Itself, g.Checks[1].Judged, g.Checks[1].Itself = false, false, new(0.6), false, new(2.1)
			g.Unjudged = []verdict.Unjudged{{Code: verdict.UnjudgedItself, Pairs: 6, Checks: g.Checks}}
		}, document.Unknown, "Undecided", "Undecided: the new version may be slower. Throughput with the default GOMAXPROCS and p99 with the default GOMAXPROCS: the new program differs from itself by more than the margin, between its two trials in a block."},
		{"only p99 open", func(g *verdict.Gate) {
			g.Pass, g.Checks[1].Proven, g.Checks[1].Outcome, g.Unjudged = false, false, verdict.OutcomeUndecided, []verdict.Unjudged{{Code: verdict.UnjudgedUndecided, Pairs: 6, Checks: g.Checks[1:]}}
		}, document.Unknown, "Undecided", "Undecided: the p99 of the new version may be higher; its throughput is not lower. P99 with the default GOMAXPROCS: 6 pairs do not prove it worse, or within its margin."},
		{"only throughput open", func(g *verdict.Gate) {
			g.Pass, g.Checks[0].Proven, g.Checks[1].Proven, g.Unjudged = false, false, true, []verdict.Unjudged{{Code: verdict.UnjudgedUndecided, Pairs: 6, Checks: g.Checks[:1]}}
		}, document.Unknown, "Undecided", "Undecided: the throughput of the new version may be lower; its p99 is not higher. Throughput with the default GOMAXPROCS: 6 pairs do not prove it worse, or within its margin."},
		{"only p99 open, and the new one fails", func(g *verdict.Gate) {
			g.Pass, g.Checks[1].Proven, g.Unjudged = false, false, []verdict.Unjudged{{Code: verdict.UnjudgedTooFewCPUs, Setting: g.Checks[0].Setting}}
		}, document.Unknown, "Undecided", "Undecided: the new version may be slower. Other programs left the default GOMAXPROCS too few CPUs to be compared."},
		{"said to pass, and yet not judged", func(g *verdict.Gate) { g.Checks[0].Judged = false }, document.Unknown, "Undecided", "Undecided: the throughput of the new version may be lower; its p99 is not higher. Too few valid trials of both programs."},
		{"a benchmark", func(g *verdict.Gate) { g.Pass, g.Checks[1].Metric, g.Checks[1].Worse = false, "Parse", true }, document.Attention, "Slower", "New version is slower: speed of Parse −2.1% [−17%, +16%], allowed −20%. Also throughput +0.6% [−0.1%, +2.1%], allowed −5%."},
		{"without checks", func(g *verdict.Gate) { g.Checks = nil }, document.Unknown, "Undecided", "Undecided: the new version may be slower. Too few valid trials of both programs."},
		{"baseline", func(g *verdict.Gate) { g.Kind, g.Checks = "baseline", g.Checks[:1] }, document.OK, "Gains no less", "New run gains no less over the default. Throughput +0.6% [−0.1%, +2.1%], allowed −5%. Compared with the earlier run by what each value gains over the default: what all values lost together is not seen."},
		{"baseline, worse", func(g *verdict.Gate) {
			g.Kind, g.Checks, g.Pass = "baseline", g.Checks[:1], false
			g.Checks[0].Worse = true
		}, document.Attention, "Gains less", "New run gains less over the default: throughput +0.6% [−0.1%, +2.1%], allowed −5%. Compared with the earlier run by what each value gains over the default: what all values lost together is not seen."},
	} {
		r := pagetest.Gate(c.bend)
		if v := page.VerdictOf(r); v.State != c.state || v.Label != c.label || v.Answer.Sentence() != c.sentence || leads(r) != "" {
			t.Errorf("%s: %s, %s. %s\nwant %s, %s. %s", c.name, v.State, v.Label, v.Answer.Sentence(), c.state, c.label, c.sentence)
		}
		if lead := sections(r)[0].Lead; !strings.Contains(lead, "not values of GOMAXPROCS") {
			t.Errorf("%s: to paste: %s", c.name, lead)
		}
	}
	for pairs, want := range map[int]string{2: "cannot be judged: only 2 pairs of trials are valid, and 3 are needed", 6: "cannot be judged: in some trials no rate met --slo"} {
		c := gateRows(pagetest.Gate(func(g *verdict.Gate) {
			g.Checks[0].Judged, g.Checks[0].Outcome, g.Checks[0].Ratio.N = false, verdict.OutcomeNotJudged, pairs
		}))[0].Cells
		if c[3].Value != "not judged" || c[4].Value != want {
			t.Errorf("the check's outcome is %q: %s, want %s", c[3].Value, c[4].Value, want)
		}
	}
}

// Changes and levels may differ, also where one of the checks is not judged.
func TestSaysWhatChangesAreOf(t *testing.T) {
	const note = "Changes are between neighbouring trials, levels over the whole run."
	for _, c := range []struct {
		want bool
		bend func(*verdict.Gate)
	}{
		{true, func(*verdict.Gate) {}},
		{true, func(g *verdict.Gate) { g.Checks[1].Judged = false }},
		{false, func(g *verdict.Gate) { g.Checks[0].Ratio.Median, g.Checks[1].Ratio.Median = nil, nil }},
		{false, func(g *verdict.Gate) { g.Kind = verdict.GateKindBaseline }},
	} {
		texts := documenttest.Find[document.Text](page.Report(pagetest.Gate(c.bend)).Blocks)
		if got := slices.ContainsFunc(texts, func(x document.Text) bool { return x.Text == note }); got != c.want {
			t.Errorf("the note is there: %v, want %v", got, c.want)
		}
	}
}

// What was compared in nothing has no table of it.
func TestAGateWithoutChecks(t *testing.T) {
	r := pagetest.Gate(func(g *verdict.Gate) { g.Checks = nil })
	for _, table := range documenttest.Find[document.Table](page.Report(r).Blocks) {
		if table.StripHead == "Within the margin?" {
			t.Errorf("%+v", table)
		}
	}
}

func TestAVerdictStaysTheHeadlineBesideAGate(t *testing.T) {
	r := pagetest.Typical()
	r.Gate = pagetest.Gate(func(g *verdict.Gate) { g.Kind = verdict.GateKindBaseline }).Gate
	if v := page.VerdictOf(r); v.Label != "Recommended" || leads(r) != "New run gains no less over the default" {
		t.Errorf("%+v beside %q", v, leads(r))
	}
}

// gateRows are the checks of a gate, as a report has them.
func gateRows(r *verdict.Result) []document.Row {
	for _, table := range documenttest.Find[document.Table](page.Report(r).Blocks) {
		if table.StripHead == "Within the margin?" {
			return table.Rows
		}
	}
	return nil
}

// leads is what the section of a gate begins with; empty: the page does.
func leads(r *verdict.Result) string {
	for _, s := range documenttest.Find[document.Section](page.Report(r).Blocks) {
		if text, is := s.Blocks[1].(document.Text); is && strings.HasPrefix(s.Class, "gate ") {
			return text.Lead
		}
	}
	return ""
}

// What would decide is a flag that can be given: a gate that ends by itself takes no
// --repeats, and one that is bounded in time takes none with --for.
func TestWhatWouldDecideCanBeGiven(t *testing.T) {
	check := verdict.GateCheck{Metric: "throughput", Margin: 0.05, Ratio: stat.Interval{Median: new(0.97), N: 4}}
	for want, p := range map[string]journal.Plan{
		"; more --repeats would decide":                              {},
		"; a higher --until trials=N would decide":                   {Strategy: journal.StrategyRace, MaxTrials: 9},
		"; a longer --for or a higher --until trials=N would decide": {Strategy: journal.StrategyRace, MaxTrials: 9, MaxSeconds: 60},
	} {
		r := pagetest.Gate(func(g *verdict.Gate) { g.Checks = []verdict.GateCheck{check} })
		r.Plan.Strategy, r.Plan.MaxTrials, r.Plan.MaxSeconds = p.Strategy, p.MaxTrials, p.MaxSeconds
		if got := gateRows(r)[0].Cells; !strings.HasSuffix(got[len(got)-1].Value, want) {
			t.Errorf("%q, want it to end in %q", got[len(got)-1].Value, want)
		}
	}
}
