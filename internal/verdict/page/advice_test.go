package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// steps are what a page says to do next, with commands.
func steps(r *verdict.Result) string {
	var list []string
	for _, i := range page.VerdictOf(r).Next {
		list = append(list, strings.TrimSpace(i.Text+": "+i.Command))
	}
	return strings.Join(list, "\n")
}

// A value that cannot be compared with what runs now is not to be set, and the page says what to measure.
func TestMeasureTheDefaultToo(t *testing.T) {
	c := verdicttest.Config{CPUs: 8, Noise: quiet, Settings: []verdicttest.Truth{verdicttest.Set(1, 1000, .01), verdicttest.Set(2, 2000, .01)}}
	r := pagetest.Analyze("api", c, func(h *journal.Header, trials []journal.Trial) []journal.Trial {
		h.Spec = specOf("sweep", "--procs", "1,2", "--", "./api")
		return trials
	})
	v := page.VerdictOf(r)
	if want := "Recommended: GOMAXPROCS=2; change nothing yet"; v.Answer.Text != want || v.Answer.Apply != "" || !strings.Contains(v.Answer.Plain, "It is unknown how that compares with what the program runs with now.") {
		t.Errorf("%+v", v.Answer)
	}
	if got := steps(r); !strings.Contains(got, "measure the default too") || !strings.Contains(got, ": procfit sweep --procs default,1,2 -- ./api") {
		t.Errorf("next: %s", got)
	}
}

// That all values are the same is not said where slices, latency or a benchmark shows otherwise.
func TestFlatOnlyIfNothingIsWorse(t *testing.T) {
	world := func(procs int, _ map[string]string) (float64, int64) {
		return []float64{30, 96, 98.5, 100}[procs-1], 50 << 20
	}
	met := 0
	for seed := range uint64(60) {
		h, trials, slices := verdicttest.Sliced(world, world, seed)
		r := verdict.Analyze(h, trials, slices...)
		g := &r.Groups[0]
		if len(g.Flatness.WithinMargin) >= 3 && g.Rows[0].Sliced != nil && g.Rows[0].Sliced.Slower {
			met++
		}
		for _, n := range notes(r) {
			if strings.Contains(n.Message, "within 5% of the best") {
				t.Fatalf("seed %d: %s, but 1 is slower in slices:\n%s", seed, n.Message, onTerminal(t, r, text.Options{}))
			}
		}
	}
	if met == 0 {
		t.Error("no sweep has three values with trials next to one that is slower in slices")
	}
	for _, n := range notes(pagetest.Benchmarks()) {
		if strings.Contains(n.Message, "within 5% of the best") {
			t.Errorf("%s, but the benchmarks need different values", n.Message)
		}
	}
}

// A slower value may have a far lower p99 than the default that is kept: the page does not contradict it.
func TestKeepsNothingThatItsTableContradicts(t *testing.T) {
	for p99, want := range map[float64]string{.004: "by more than 5% (p99: 20%).", .0025: "by more than 5% in throughput."} {
		c := verdicttest.Config{CPUs: 2, Noise: quiet, Rate: 500, Settings: []verdicttest.Truth{verdicttest.Unset(2, 2000, .004), verdicttest.Set(1, 1000, p99), verdicttest.Set(2, 2000, .004)}}
		r := pagetest.Analyze("api", c, nil)
		if v := page.VerdictOf(r); v.Label != "Keep the default" || !strings.HasSuffix(v.Answer.Plain, "beats the default (2) "+want+" For all 8 CPUs keep the default, or measure with the load generator on another machine.") && !strings.HasSuffix(v.Answer.Plain, want) {
			t.Errorf("p99 of 1 is %g: %s. %s", p99, v.Label, v.Answer.Plain)
		}
	}
}

// That no value sustains a rate is an answer, if it is proven.
func TestNoValueIsEnough(t *testing.T) {
	c := verdicttest.Config{CPUs: 8, Noise: quiet, Rate: 90000, SmallFor: true, Settings: []verdicttest.Truth{verdicttest.Unset(8, 8000, .01), verdicttest.Set(1, 1000, .01)}}
	v := page.VerdictOf(analyze(c))
	if v.Label != "No measured value is enough" || !strings.HasPrefix(v.Context, "Proven at 95%") || !strings.Contains(v.Answer.Plain, "No measured value of GOMAXPROCS sustains 90,000 req/s") {
		t.Errorf("%s: %s (%s)", v.Label, v.Answer.Sentence(), v.Context)
	}
	// Of eight CPUs two were used: the next value may be enough.
	c.Rate, c.Settings = 5000, []verdicttest.Truth{verdicttest.Set(1, 1000, .01), verdicttest.Set(2, 2000, .01)}
	if v := page.VerdictOf(analyze(c)); v.Next[0].Command != "procfit sweep --procs default,2,3,4,6,10 -- ./server -addr :{port}" {
		t.Errorf("next: %q", v.Next)
	}
}

// More trials do not read a memory that cannot be read.
func TestNoMoreTrialsForMemory(t *testing.T) {
	h := verdicttest.Varied(journal.Axis{Name: "GOGC", Values: []string{"50", "100"}, Start: "100"})
	h.Plan.MaxMemoryBytes = 512 << 20
	r := verdict.Analyze(h, verdicttest.Race(h, func(procs int, _ map[string]string) (float64, int64) { return float64(procs), 0 }, 1, 60))
	if got := steps(r); !strings.Contains(got, "in which procfit can read the memory") || strings.Contains(got, "procfit sweep") {
		t.Errorf("next: %s", got)
	}
}

// Advice names nothing that the user has already, and no machine that has too few CPUs for it.
func TestAdviceForThisMachine(t *testing.T) {
	for _, c := range []struct {
		os   string
		step verdict.StepCode
		want string
	}{
		{"linux", verdict.StepCount, "measure where procfit can read /proc/stat, and so count what other programs use"},
		{"darwin", verdict.StepCount, "measure on Linux, where procfit counts what other programs use"},
		{"linux", verdict.StepWeigh, "measure longer runs, in which procfit can read the memory"},
		{"darwin", verdict.StepWeigh, "measure on Linux, and longer runs, in which procfit can read the memory"},
	} {
		r := stepped(verdict.Step{Code: c.step}, pagetest.Typical())
		if r.Host.OS = c.os; steps(r) != c.want+":" {
			t.Errorf("%s, %s: %s", c.os, c.step, steps(r))
		}
	}
	for cpus, want := range map[int]bool{1: false, 2: true} {
		r := stepped(verdict.Step{Code: verdict.StepLoadElsewhere}, pagetest.Shared())
		if r.Host.AffinityCPUs = cpus; strings.Contains(steps(r), "--cpus") != want {
			t.Errorf("%d CPUs: %s", cpus, steps(r))
		}
	}
}

// --rate asks a sweep another question: advice says so, unless the run had a rate.
func TestALowerRate(t *testing.T) {
	for _, c := range []struct{ rate, want string }{
		{"", "for a lower rate: --rate N names the smallest value that sustains N req/s"}, {"20000", "use a lower --rate to compare their latency too"},
	} {
		r := analyze(verdicttest.Config{Rate: 20000, Settings: []verdicttest.Truth{verdicttest.Unset(8, 80000, .01), verdicttest.Set(1, 10000, .01), verdicttest.Set(2, 15000, .01)}})
		if r.Spec = specOf("sweep", "--", "./api"); c.rate != "" {
			r.Spec = specOf("sweep", "--rate", c.rate, "--", "./api")
		}
		if got := fmt.Sprint(notes(r)); !strings.Contains(got, c.want) {
			t.Errorf("--rate %q: %s", c.rate, got)
		}
	}
}

// What has not run yet is not invalid, and needs no more than to continue.
func TestWhatHasNotRun(t *testing.T) {
	c := verdicttest.Config{CPUs: 2, Noise: quiet, NoAA: true, Settings: []verdicttest.Truth{verdicttest.Unset(2, 2000, .01), verdicttest.Set(1, 1000, .01), verdicttest.Set(2, 2000, .01)}}
	r := pagetest.Analyze("api", c, func(_ *journal.Header, trials []journal.Trial) []journal.Trial { return trials[:1] })
	got := onTerminal(t, r, text.Options{})
	if strings.Contains(got, "invalid") || strings.Count(got, "not measured") < 1 || strings.Contains(got, "--repeats 9") || strings.Contains(got, "for a proof") {
		t.Error(got)
	}
}

// Only a race measures a value no further; a batch program has no latency.
func TestTooSlowIsNotSkippedInAGrid(t *testing.T) {
	for _, strategy := range []journal.Strategy{"", journal.StrategyRace} {
		r := pagetest.Typical()
		r.Plan.Strategy = strategy
		of := r.Groups[0].Recommendation.Reasons[0].(verdict.ReasonFastest).Of
		r.Groups[0].Recommendation.Reasons = []verdict.Remark{verdict.ReasonSetAside{Difference: verdict.Difference{Pair: verdict.Pair{Of: of, Than: of}, Change: -.07, N: 6}}}
		if got := page.ReasonsOf(r)[0]; strings.Contains(got, "not measured again") != (strategy == journal.StrategyRace) || !strings.HasPrefix(got, "too slow to be the best") {
			t.Errorf("strategy %q: %s", strategy, got)
		}
	}
	r := analyze(verdicttest.Config{Mode: journal.ModeBatch, Settings: []verdicttest.Truth{verdicttest.Unset(8, 8, 0), verdicttest.Set(1, 1, 0), verdicttest.Set(8, 8, 0)}})
	if _, got, _ := strings.Cut(inMarkdown(r), "### All numbers"); strings.Contains(strings.Split(got, "###")[0], "latency") {
		t.Errorf("a batch program has a latency:\n%s", got)
	}
}

// A value that is slower than the default is recommended because it is smaller: the page says so.
func TestWhyASlowerValue(t *testing.T) {
	c := verdicttest.Config{CPUs: 8, Mode: journal.ModeBatch, Noise: quiet, Settings: []verdicttest.Truth{verdicttest.Unset(8, 1000, 0), verdicttest.Set(1, 300, 0), verdicttest.Set(4, 980, 0), verdicttest.Set(8, 1000, 0)}}
	if v := page.VerdictOf(analyze(c)); v.Answer.Text != "Set GOMAXPROCS=4" || !strings.Contains(v.Answer.Plain, "4 is the smallest value that performs as well as the best, within 5% in throughput.") {
		t.Errorf("%s", v.Answer.Sentence())
	}
}

// A gate that lacks pairs says how to get more; programs that ran with different values are named.
func TestUndecidedGateContinues(t *testing.T) {
	undecided := func(g *verdict.Gate) {
		g.Pass, g.Checks[0].Outcome, g.Checks[0].Proven = false, verdict.OutcomeUndecided, false
		g.Unjudged = []verdict.Unjudged{{Code: verdict.UnjudgedUndecided, Pairs: 6, Checks: g.Checks[:1]}}
	}
	r := pagetest.Gate(undecided)
	r.Spec = specOf("compare", "./old", "--repeats", "6", "--", "./new")
	if got := steps(r); got != "measure twice as many pairs: procfit compare ./old --repeats 12 -- ./new" {
		t.Errorf("next: %s", got)
	}
	r.Gate.Unjudged[0].Code = verdict.UnjudgedNoQuantile
	if got := steps(r); got != "" {
		t.Errorf("more pairs have no percentile either: %s", got)
	}
	if r = pagetest.Gate(func(*verdict.Gate) {}); strings.Contains(page.VerdictOf(r).Answer.Plain, "ran with") {
		t.Error(page.VerdictOf(r).Answer.Plain)
	}
	for i := range r.Groups[0].Settings {
		r.Groups[0].Settings[i].ResolvedProcs = new(2 + 2*i)
	}
	if got := page.VerdictOf(r).Answer.Plain; !strings.Contains(got, "ran with GOMAXPROCS 2, the old one with 4") && !strings.Contains(got, "ran with GOMAXPROCS 4, the old one with 2") {
		t.Error(got)
	}
}

// Several groups without an answer have one thing to do next, for all of them.
func TestNextOfSeveralGroups(t *testing.T) {
	r := pagetest.Groups()
	r.Gate, r.Spec, r.Plan.Strategy, r.Plan.MaxTrials, r.Complete = nil, specOf("sweep", "--limit", "0.5,2", "--", "./api"), journal.StrategyRace, 80, true
	r.TrialsRun, r.Plan.GateAgainst = 80, false
	for i := range r.Groups {
		if rec := &r.Groups[i].Recommendation; i < 2 {
			*rec = verdict.Recommendation{Verdict: verdict.Undecided, Claim: verdict.CauseNothingProven{}, Next: []verdict.Step{{Code: verdict.StepGoOn, More: 10 * (i + 1)}}}
		} else {
			rec.Next = nil
		}
	}
	if got := steps(r); !strings.HasPrefix(got, "about 30 more trials should decide: procfit sweep --limit 0.5,2 --until trials=110 ") || strings.Count(got, "\n") > 0 {
		t.Errorf("next: %s", got)
	}
	r.Groups[0].Recommendation.Next = []verdict.Step{{Code: verdict.StepLessRate}}
	r.Groups[1].Recommendation.Next = nil
	if got := steps(r); !strings.Contains(got, ": use a lower --rate") || strings.HasPrefix(got, "use") {
		t.Errorf("next: %s", got)
	}
}
