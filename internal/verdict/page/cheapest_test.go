package page_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/bench"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/internal/verdict/stat"
	"github.com/procfit/procfit/test/must"
)

func TestCheapestWords(t *testing.T) {
	priced := func(quota float64, procs *int, replicas int, carries verdict.Carries) verdict.Priced {
		p := verdict.Priced{Setting: journal.Setting{Label: "default", Procs: procs, Replicas: replicas}, CPUs: quota, TotalCPUs: quota * float64(replicas), Trials: 5, Met: 5, Carries: carries}
		if p.CPUs < 8 {
			p.QuotaCPUs = &quota
		}
		p.Capacity = stat.Interval{Median: new(401.0), Low: new(380.0), High: new(424.0), N: 5}
		return p
	}
	today, half := priced(1, nil, 1, verdict.CarriesIt), priced(0.5, new(1), 1, verdict.CarriesIt)
	two, none := priced(0.25, new(1), 2, verdict.CarriesIt), priced(8, nil, 1, verdict.CarriesIt)
	for name, tc := range map[string]struct {
		answer, today  *verdict.Priced
		settings, open int
		label, want    string
		state          document.Tone
	}{
		"half of today":      {&half, &today, 2, 0, "Cheapest", "0.5 CPUs with GOMAXPROCS=1 sustains 300 req/s with p99 within 50 ms, with 50% of the CPUs of the setting that was named first (1 CPU with the default GOMAXPROCS).", document.Act},
		"as much":            {&two, &half, 2, 0, "Cheapest", "2 replicas of 0.25 CPUs with GOMAXPROCS=1 sustain 300 req/s with p99 within 50 ms, with as many CPUs as the setting that was named first (0.5 CPUs with GOMAXPROCS=1).", document.Act},
		"today's":            {&today, &today, 2, 0, "Change nothing", "1 CPU with the default GOMAXPROCS sustains 300 req/s with p99 within 50 ms.", document.OK},
		"no CPU limit":       {&none, nil, 1, 0, "Cheapest", "No limit (8 CPUs) with the default GOMAXPROCS sustains 300 req/s with p99 within 50 ms.", document.Act},
		"one may be cheaper": {&today, nil, 2, 1, "Cheapest", "1 CPU with the default GOMAXPROCS sustains 300 req/s with p99 within 50 ms. 1 setting may do so with fewer CPUs: this is not proven yet.", document.Act},
		"none carries it":    {nil, &today, 2, 0, "No setting is enough", "None of the measured settings sustains 300 req/s with p99 within 50 ms.", document.Attention},
		"not told":           {nil, &today, 2, 2, "Undecided", "No setting is proven to sustain 300 req/s with p99 within 50 ms.", document.Unknown},
	} {
		c := &verdict.Cheapest{
			Objective: slo.Objective{Quantile: 0.99, Seconds: 0.05}, RatePerSecond: 300,
			Answer: tc.answer, Today: tc.today, Open: tc.open, Settings: make([]verdict.Priced, tc.settings),
		}
		v := page.VerdictOf(&verdict.Result{Cheapest: c, Spec: specOf("sweep", "--repeats=3", "--", "x")})
		if v.Label != tc.label || v.State != tc.state || !strings.HasPrefix(v.Answer.Plain, tc.want) {
			t.Errorf("%s: %s %q: %s", name, v.State, v.Label, v.Answer.Plain)
		}
		if tc.open > 0 && v.Next[0].String() != "measure more: procfit sweep --repeats 12 -- x" {
			t.Errorf("%s: %q", name, v.Next)
		}
	}
}

// A setting that was not seen to run at its value is no proven answer, and the page says what would
// make it one.
func TestCheapestUnseen(t *testing.T) {
	unseen := verdict.Priced{Setting: journal.Setting{Procs: new(1), QuotaCPUs: new(0.5), Replicas: 1}, CPUs: 0.5, TotalCPUs: 0.5, Trials: 5, Met: 5, Unseen: true}
	for carries, want := range map[verdict.Carries]page.Verdict{
		verdict.CarriesLikely: {Label: "Likely, but not proven", State: document.Attention, Answer: page.Answer{Text: "Likely: 0.5 CPUs with GOMAXPROCS=1",
			Plain: "0.5 CPUs with GOMAXPROCS=1 sustains 300 req/s with p99 within 50 ms. This is likely, but not proven: procfit could not read the GOMAXPROCS that it ran with."}},
		verdict.CarriesMaybe: {Label: "Undecided", State: document.Unknown, Answer: page.Answer{Text: "Undecided", Plain: "No setting is proven to sustain 300 req/s with p99 within 50 ms."}},
	} {
		s := unseen
		s.Carries = carries
		c := &verdict.Cheapest{Objective: slo.Objective{Quantile: 0.99, Seconds: 0.05}, RatePerSecond: 300, Settings: []verdict.Priced{s}}
		if c.Open = 1; carries == verdict.CarriesLikely {
			c.Answer, c.Open = &s, 0
		}
		v := page.VerdictOf(&verdict.Result{Cheapest: c, Spec: specOf("sweep", "--slo", "p99=20ms", "--", "x")})
		if v.Label != want.Label || v.State != want.State || v.Answer.Plain != want.Answer.Plain || v.Answer.Text != want.Answer.Text {
			t.Errorf("%s: %s %q %q: %s", carries, v.State, v.Label, v.Answer.Text, v.Answer.Plain)
		}
		if len(v.Next) != 1 || !strings.HasPrefix(v.Next[0].Text, "measure the Go binary itself") {
			t.Errorf("%s: %q", carries, v.Next)
		}
	}
}

// What carries the rate through the API server is likely to, and the page says why, and what would
// prove it.
func TestCheapestThroughTheAPIServer(t *testing.T) {
	const unread = "procfit could not read the GOMAXPROCS that it ran with"
	const tunnel = "the load came through the API server, which was measured too"
	for why, next := range map[string][]string{
		tunnel:                    {"send the load from a pod"},
		unread + " and " + tunnel: {"send the load from a pod", "measure the Go binary itself"},
	} {
		s := verdict.Priced{Setting: journal.Setting{Procs: new(1), Replicas: 1}, CPUs: 0.5, TotalCPUs: 0.5, Trials: 5, Met: 5, Carries: verdict.CarriesLikely, Unseen: len(next) > 1}
		r := &verdict.Result{Spec: specOf("kube sweep", "deployment/api"), Cheapest: &verdict.Cheapest{RatePerSecond: 300, Answer: &s, Settings: []verdict.Priced{s}}}
		r.Load.Arrangement = new(journal.ArrangementTunnel)
		v := page.VerdictOf(r)
		if v.Label != "Likely, but not proven" || !strings.HasSuffix(v.Answer.Plain, " This is likely, but not proven: "+why+".") || len(v.Next) != len(next) {
			t.Fatalf("%q: %s, next %q", v.Label, v.Answer.Plain, v.Next)
		}
		for i, want := range next {
			if !strings.HasPrefix(v.Next[i].Text, want) {
				t.Errorf("next is %q, want %q", v.Next, next)
			}
		}
	}
}

// slowed is a sweep of three limits that ran out of time: 1 and 0.5 CPUs met the objective at
// many times the rate, and of 0.25 CPUs no trial was valid.
func slowed(perLimit int) *verdict.Result {
	h := journal.Header{Name: "caddy", Spec: specOf("sweep", "--slo", "p99=50ms", "--rate", "300", "--limit", "1,0.5,0.25", "--procs", "1", "--for", "4m", "--out", "slo", "--", "caddy"),
		TargetHost: journal.Host{CPUs: 2, EffectiveCPUs: 2}, Target: journal.Target{Kind: journal.KindServer, Command: []string{"caddy"}, URL: "http://127.0.0.1/"}}
	h.Load.RatePerSecond, h.Load.DurationSeconds = new(300.0), 1.5
	h.Plan = journal.Plan{Strategy: journal.StrategyRace, Goal: journal.GoalProven, Listed: true, MaxTrials: 30, MaxSeconds: 240, Margin: 0.05, MarginP99: 0.2, SLO: &slo.Objective{Quantile: 0.99, Seconds: 0.05}}
	var trials []journal.Trial
	for i, limit := range []float64{1, 0.5, 0.25} {
		a := journal.Setting{Label: "1", Procs: new(1), QuotaCPUs: &limit, Replicas: 1}
		h.Plan.Settings = append(h.Plan.Settings, a)
		for n := range perLimit {
			t := journal.Trial{
				Setting: a, Role: journal.RoleMeasure, Origin: journal.OriginLocal, Block: 3*n + i, DurationSeconds: 234 / float64(3*perLimit), ObservedProcs: []*int{new(1)},
				Valid: limit > 0.25, ThroughputPerSecond: new(12000 * limit * (1 + 0.01*float64(n))), ThroughputUnit: "requests", Attained: &journal.Attainment{Met: true, Probes: 7},
				Phases: []journal.Phase{{Mode: journal.ModeClosed, RatePerSecond: new(12000.0), LatencySeconds: &journal.Latency{P50: new(0.002), P99: new(0.06)}}},
			}
			if !t.Valid {
				t.InvalidCode, t.InvalidReason = journal.InvalidSlow, "the machine itself was slower"
			}
			trials = append(trials, t)
		}
	}
	r := verdict.Analyze(h, trials)
	r.Folder = "slo"
	return r
}

// A sweep for the cheapest limit that ran out of time says which limit probably is enough, and
// why that is no proof, what it knows of each limit, and one thing to do next, which continues.
func TestCheapestOutOfTime(t *testing.T) {
	got := onTerminal(t, slowed(2), text.Options{})
	has(t, got,
		"No setting is proven to sustain 300 req/s with p99 within 50 ms, but 0.5 CPUs\nwith GOMAXPROCS=1 probably does: it reached 20× the rate in 2 trials, and a\nproof needs 3. The time of --for was over after 6 trials.",
		"0.25 CPUs with GOMAXPROCS=1  0.25      –  none of 2 is valid       0",
		"0.5 CPUs with GOMAXPROCS=1    0.5  6.03k  probably, 20×            2",
		"Next, measure more, about 5 minutes:\nprocfit sweep --slo p99=50ms --rate 300 --limit 1,0.5,0.25 --procs 1 --for 9m --out slo -- caddy",
		"LATENCY AT FULL LOAD")
	if n := strings.Count(got, "procfit sweep"); n != 1 {
		t.Errorf("%d commands in\n%s", n, got)
	}
	_, empty, _ := strings.Cut(got, "── Limit 0.25 CPUs ")
	if _, empty, _ = strings.Cut(empty, "\n"); strings.HasPrefix(strings.TrimSpace(empty), "setting ") {
		t.Errorf("nothing says why the section is empty:\n%s", got)
	}
	if whole, half := strings.Count(lineWith(got, "12.1k req/s"), "━"), strings.Count(lineWith(got, "6.03k req/s"), "━"); whole < half*3/2 {
		t.Errorf("bars of %d and %d for twice the throughput:\n%s", whole, half, got)
	}
	if got := onTerminal(t, slowed(3), text.Options{}); !strings.Contains(got, "0.5 CPUs with GOMAXPROCS=1    0.5  6.06k  yes, 20×                 3") || strings.Contains(got, "probably") {
		t.Errorf("with three trials it is\n%s", got)
	}
}

func lineWith(s, part string) string {
	for line := range strings.Lines(s) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// A rate that missed the objective is no capacity: it is shown as a bound, in the report and for
// benchstat, and the verdict says what was missed.
func TestUnmet(t *testing.T) {
	r := missed()
	got := unwrapped(onTerminal(t, r, text.Options{Width: 120}))
	has(t, got,
		"Undecided", "No rate that was tried had p99 within 20 ms, in half or more of the trials of each value of GOMAXPROCS that could be compared.",
		"use a longer --slo, more CPUs, or a higher --limit", "below 112")
	if strings.Contains(got, "Proven") || strings.Contains(got, "Keep the default") {
		t.Errorf("it has an answer:\n%s", got)
	}
	if text := string(must.Get(page.JSON(r))(t)); strings.Count(text, `"objective_missed": 4`) != 2 || strings.Count(text, `"excluded": "objective"`) != 4 {
		t.Errorf("the JSON has not how often it was missed:\n%s", text)
	}
	var b bytes.Buffer
	must.OK(t, bench.Write(&b, r))
	if strings.Contains(b.String(), "112") {
		t.Errorf("benchstat gets a rate that missed the objective:\n%s", b.String())
	}
}

// A default that missed the objective is not what a report keeps, and what it proposes is not
// another trial, which would decide nothing.
func TestUnmetDefault(t *testing.T) {
	got := unwrapped(onTerminal(t, missed("1"), text.Options{Width: 120}))
	has(t, got,
		"1 is proven to perform as well as any other value", "No value is proven worse, but in half of the trials of the default (2) or more, no rate that was tried met --slo.",
		"use a longer --slo, more CPUs, or a higher --limit")
	if strings.Contains(got, "eep the default") || strings.Contains(got, "more trials") {
		t.Errorf("it keeps the default, or continues:\n%s", got)
	}
	r := missed("1")
	r.Groups[0].Race.Stop = string(contest.StopUnmet)
	open := []*contest.Value{{Procs: 1}, {Procs: 2, Default: true, Unmet: true}}
	r.Groups[0].Recommendation.Claim = verdict.CauseThroughputOpen{Rivals: verdict.Rivals{List: open, Default: open[1]}}
	if got := string(must.Get(page.JSON(r))(t)); !strings.Contains(got, "because the throughput of one that missed --slo is not known") || strings.Contains(got, "keep it until") {
		t.Errorf("why it ended is not in, or the default is to be kept:\n%s", got)
	}
}

// One report has one rule for a bound: half of the trials.
func TestCheapestBelow(t *testing.T) {
	for met, want := range map[int]bool{4: false, 3: false, 2: true, 0: true} {
		r := slowed(4)
		for i := range r.Cheapest.Settings {
			if s := &r.Cheapest.Settings[i]; *s.QuotaCPUs == 0.5 {
				s.Met = met
			}
		}
		if got := lineWith(onTerminal(t, r, text.Options{}), "0.5 CPUs with GOMAXPROCS=1    0.5"); strings.Contains(got, "below") != want {
			t.Errorf("%d of 4 met it: %q", met, got)
		}
	}
}

// missed is a sweep whose trials met the objective at no rate, except those of some settings.
func missed(met ...string) *verdict.Result {
	h := journal.Header{Name: "slow", Spec: specOf("sweep", "--slo", "p99=20ms", "--", "./slow"),
		TargetHost: journal.Host{CPUs: 2, EffectiveCPUs: 2}, Target: journal.Target{Kind: journal.KindServer, Command: []string{"./slow"}, URL: "http://127.0.0.1/"}}
	h.Plan = journal.Plan{Strategy: journal.StrategyRace, Goal: journal.GoalProven, MaxTrials: 40, Margin: 0.05, MarginP99: 0.2, SLO: &slo.Objective{Quantile: 0.99, Seconds: 0.02}}
	h.Plan.Settings = []journal.Setting{{Label: journal.Default, Replicas: 1}, {Label: "1", Procs: new(1), Replicas: 1}}
	var trials []journal.Trial
	for n := range 4 {
		for i, a := range h.Plan.Settings {
			trials = append(trials, journal.Trial{
				Setting: a, Role: journal.RoleMeasure, Origin: journal.OriginLocal, Block: n, Order: i, ObservedProcs: []*int{new(2 - i)}, Valid: true,
				ThroughputPerSecond: new(112 + 0.1*float64(n)), ThroughputUnit: "requests", Attained: &journal.Attainment{Met: slices.Contains(met, a.Label), Probes: 7},
				Usage: journal.Usage{MeasuredSeconds: 1, HostUse: &journal.HostUse{TargetCPUs: 2, OtherCPUSeconds: new(0.0)}},
			})
		}
	}
	return verdict.Analyze(h, trials)
}
