package page_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// of are the slices of a setting.
func of(c *journal.Contents, label string) (list []*journal.Trial) {
	for i := range c.Trials {
		if t := &c.Trials[i]; t.Setting.Label == label && t.Role != journal.RolePilot {
			list = append(list, t)
		}
	}
	return list
}

// longer makes CPU time and latency of a setting longer than the start value's.
func longer(c *journal.Contents, label string, cpu, latency float64) {
	for i, t := range of(c, label) {
		start := of(c, "2")[i].Live
		t.Live.CPUSeconds = cpu * start.CPUSeconds / float64(start.Requests) * float64(t.Live.Requests)
		t.Live.P50Seconds, t.Live.P99Seconds = new(latency**start.P50Seconds), new(latency**start.P99Seconds)
	}
}

func TestLiveVerdicts(t *testing.T) {
	harm := func(code journal.HarmCode) func(*journal.Contents) {
		return func(c *journal.Contents) {
			*c.End = journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: code, Setting: "1", Detail: "the program was restarted, or ended"}}
		}
	}
	for name, tc := range map[string]struct {
		change func(*journal.Contents)
		state  document.Tone
		answer string
		says   string
	}{
		"better": {func(*journal.Contents) {}, document.Act, "Set GOMAXPROCS=1", "Compared with GOMAXPROCS=2: CPU time per request is 20% lower"},
		"worse": {func(c *journal.Contents) {
			longer(c, "1", 1, 1.5)
			c.Header.Plan.Settings = c.Header.Plan.Settings[:2]
		}, document.OK, "Keep GOMAXPROCS=2", "Nothing we tried is better than GOMAXPROCS=2 under this traffic."},
		"worse, and another one was left": {func(c *journal.Contents) { longer(c, "1", 1, 1.5) }, document.Attention, "Likely: keep GOMAXPROCS=2", "It is not proven that a value that was left does harm: bursts that the baseline did not have look the same."},
		"a trade-off":                     {func(c *journal.Contents) { longer(c, "1", 0.7, 1.5) }, document.Attention, "Trade-off: choose CPU time per request or latency p50", "GOMAXPROCS=1 compared with GOMAXPROCS=2: CPU time per request is "},
		"the same": {func(c *journal.Contents) {
			longer(c, "1", 1, 1)
			c.Header.Plan.Settings = c.Header.Plan.Settings[:2]
		}, document.OK, "GOMAXPROCS makes no difference", "All values perform the same under this traffic, within the margins."},
		"cheaper, latency unknown": {func(c *journal.Contents) {
			c.Header.Live.LatencyBy = "handler"
		}, document.Unknown, "Undecided: GOMAXPROCS 1 costs less CPU, but latency is not known", "Under this traffic GOMAXPROCS 1 takes less CPU time than GOMAXPROCS=2: CPU time per request −20.0% [−20.3%, −19.7%]. Do not change the value for that alone: latency is not known, because no request came through the Meter's Listener; add it to the program, or name a --query."},
		"better, failures unknown": {func(c *journal.Contents) {
			c.Header.Live.Metrics = &journal.Metrics{URL: "http://x/metrics", Histogram: "h", FailuresUnknown: true}
		}, document.Attention, "Likely: set GOMAXPROCS=1", "Which requests failed is not known: answers that fail cost less, and come sooner."},
		"cheaper, p99 undecided": {func(c *journal.Contents) {
			for i, t := range of(c, "1") {
				*t.Live.P99Seconds *= []float64{0.4, 1, 2.5}[i%3]
			}
		}, document.Unknown, "Undecided: GOMAXPROCS 1 costs less CPU, but latency p99 may be worse", "Do not change the value for that alone: latency p99 may be worse, and more slices may decide it."},
		"cheaper, few requests": {func(c *journal.Contents) {
			for i := range c.Trials {
				c.Trials[i].Live.CPUSeconds *= 10 / float64(c.Trials[i].Live.Requests)
				c.Trials[i].Live.Requests = 10
			}
		}, document.Unknown, "Undecided: GOMAXPROCS 1 costs less CPU, but latency is not known", "latency is not judged with fewer than 20 requests in a slice; use a longer --slice."},
		"too few": {func(c *journal.Contents) { c.Trials = c.Trials[:8] }, document.Unknown, "Undecided: change nothing yet", "more slices may decide it"},
		"too few, on a busy machine": {func(c *journal.Contents) {
			c.Trials, c.Header.Live.Seen = c.Trials[:8], []string{live.FigureOthers}
			for i := range c.Trials {
				c.Trials[i].Metrics = map[string]journal.Metric{live.FigureOthers: {Value: 3.2}}
			}
		}, document.Unknown, "Undecided: change nothing yet", "more slices, or a quieter machine, may decide it, since other programs used 3.2 of 8 CPUs."},
		"compared with itself": {func(c *journal.Contents) {
			c.Header.Live.Same, c.Header.Plan.Settings = true, live.Settings(2, nil, true)
			start := of(c, "2")
			for i, t := range of(c, "1") {
				t.Setting, t.Live = c.Header.Plan.Settings[1], start[i].Live
			}
		}, document.OK, "No difference", "compared with itself, and no difference was found: there is none"},
		"compared with itself, and left": {func(c *journal.Contents) {
			c.Header.Live.Same, c.Header.Plan.Settings = true, live.Settings(2, nil, true)
			for _, t := range of(c, "1") {
				t.Setting, t.Valid, t.InvalidCode = c.Header.Plan.Settings[1], false, journal.InvalidLeft
			}
		}, document.Attention, "Left because of bursts", "The traffic or the machine has bursts that the baseline did not have: use a longer --baseline"},
		"compared with itself, no slice counts": {func(c *journal.Contents) {
			c.Header.Live.Same, c.Header.Plan.Settings, c.Trials = true, live.Settings(2, nil, true), nil
		}, document.Unknown, "Undecided: change nothing yet", "no value is proven better than GOMAXPROCS=2"},
		"budget": {harm(journal.HarmBudget), document.Attention, "Ended by its budget", "ended before another slice with GOMAXPROCS 1: it might cost more than is left of the budget of 500 slow or failed requests beyond those of GOMAXPROCS=2. That the value caused them is not proven by this."},
		"panic":  {harm(journal.HarmPanic), document.Attention, "Harm at GOMAXPROCS 1", "A handler panicked with GOMAXPROCS 1, so the experiment ended."},
		"a query": {func(c *journal.Contents) {
			c.Header.Live.Queries = []journal.Query{{Name: "late"}}
			*c.End = journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmQuery, Setting: "1", Query: "late", Slices: 5, Ratio: new(1.4)}}
		}, document.Attention, "Harm at GOMAXPROCS 1", "A query is proven worse with GOMAXPROCS 1, so the experiment ended: late was 1.4 times that of the value at start over 5 slices. The margin is 20%. By chance alone, fewer than 1 experiment in 100 ends like this."},
		"restarted":   {harm(journal.HarmEnded), document.Attention, "Harm at GOMAXPROCS 1", "The process did not keep running with GOMAXPROCS 1, so the experiment ended: the program was restarted, or ended."},
		"interrupted": {func(c *journal.Contents) { c.End.Code = journal.EndInterrupted }, document.Unknown, "Not finished", "The experiment did not finish: it was interrupted."},
		"killed":      {func(c *journal.Contents) { c.End = nil }, document.Unknown, "Not finished", "its journal has no end: procfit was killed, or is still running"},
		"taken":       {func(c *journal.Contents) { *c.End = journal.End{Code: journal.EndTaken, Reason: "something else"} }, document.Unknown, "Not finished", "The experiment did not finish: something else."},
		"no trials":   {func(c *journal.Contents) { c.Trials, c.End = nil, nil }, document.Unknown, "Not finished", "has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			c := pagetest.LiveContents()
			tc.change(c)
			r := live.Analyze(c)
			v, p := page.VerdictOf(r), sections(r)[0]
			if v.State != tc.state || v.Answer.Text != tc.answer || !strings.Contains(v.Answer.Plain, tc.says) {
				t.Errorf("%q %q %q\n%q", v.State, v.Answer.Text, v.Answer.Plain, v.Reasons)
			}
			if reasons := strings.Join(v.Reasons, "\n"); !strings.HasSuffix(reasons, "with 2 at start: what sized itself at start has kept its size") {
				t.Error(reasons)
			}
			if len(c.Trials) == 0 && strings.Contains(v.Context, "req/s") {
				t.Errorf("no slice counts: %q", v.Context)
			}
			// There is something to set where a value is named, and the value at start may have been set.
			if (len(p.Snippets) > 0) != (name == "better") || len(p.Snippets) == 0 && strings.HasSuffix(p.Lead, ":") || strings.Contains(p.Lead, "default") || strings.Contains(p.Lead, "unset") {
				t.Errorf("to paste: %+v", p)
			}
			if named := r.Recommendation.Verdict != verdict.Undecided; named && !r.Complete {
				t.Errorf("recommended without an end: %+v", r.Recommendation)
			}
			if r.Recommendation.Procs = nil; r.Recommendation.Verdict == verdict.Recommended { // of several values
				want := "Choose one of 1; each is proven better than GOMAXPROCS=2."
				if r.Recommendation.Confidence == verdict.Likely {
					want = "Nothing to set: keep GOMAXPROCS=2, the value at start."
				}
				if lead := sections(r)[0].Lead; lead != want {
					t.Error(lead)
				}
			}
		})
	}
}

// The same journal has the same result, byte for byte, and it can be read.
func TestLiveAsJSON(t *testing.T) {
	a, err := page.JSON(live.Analyze(pagetest.LiveContents()))
	b, _ := page.JSON(live.Analyze(pagetest.LiveContents()))
	if err != nil || !bytes.Equal(a, b) || !json.Valid(a) || !bytes.Contains(a, []byte(`"outcome": "left"`)) {
		t.Errorf("%v\n%s", err, a)
	}
}

func TestLiveLimit(t *testing.T) {
	for want, l := range map[string]journal.Live{"limit 1.5 CPUs": {LimitCPUs: 1.5}, "no CPU limit": {}, "no known CPU limit": {LimitUnknown: true}} {
		c := pagetest.LiveContents()
		c.Header.Live.LimitCPUs, c.Header.Live.LimitUnknown = l.LimitCPUs, l.LimitUnknown
		if got := page.VerdictOf(live.Analyze(c)).Context; !strings.Contains(got, "8 CPUs · "+want+" · Go 1.26.8") {
			t.Errorf("%q has no %q", got, want)
		}
	}
}

// A value that was left is named as left, also where its other slices have an answer.
func TestLeftIsSaid(t *testing.T) {
	r := live.Analyze(pagetest.LiveContents())
	for i := range r.Live.Settings {
		s := &r.Live.Settings[i]
		if s.Came != string(paired.Left) && s.Came != "" && s.Left == 0 {
			s.Left, s.LeftAfter, s.InSystem = 1, 6.68, 219
			want := "; left once after 6.68 s with 219 requests in the system, where GOMAXPROCS=2 had at most 45"
			if got := strings.Join(page.VerdictOf(r).Reasons, "\n") + "\n"; !strings.Contains(got, want+"\n") {
				t.Errorf("no reason ends with %q: %s", want, got)
			}
			return
		}
	}
	t.Fatal("no value has an answer")
}

// TestLiveByURL: of a program behind a URL only the number of its CPUs is known.
func TestLiveByURL(t *testing.T) {
	c := pagetest.LiveContents()
	c.Header.TargetHost = journal.Host{CPUs: 8, EffectiveCPUs: 8}
	report := inMarkdown(live.Analyze(c))
	if !strings.Contains(report, "8 online") || strings.Contains(report, "System") {
		t.Error(report)
	}
}

// TestLiveConfirms: a value that is better is to be confirmed in a program that has started
// with it, by a command that can be pasted.
func TestLiveConfirms(t *testing.T) {
	for _, tc := range []struct {
		procs int
		args  []string
		want  string
	}{
		{4, []string{"live", ":8080"}, "procfit live :8080 --procs 2"},
		{1, []string{"live", "api"}, "procfit live api --for 1m"},
		{4, []string{"live", "4711"}, ""},
		{4, []string{"kube", "live", "deployment/api", "--image", "i:v1", "--procs", "1,4", "--out", "results/x"}, "procfit kube live deployment/api --image i:v1 --procs 2"},
		{1, []string{"kube", "live", "deployment/api", "--image", "i:v1", "--procs", "1,4"}, ""},
		{4, nil, ""},
	} {
		c := pagetest.LiveContents()
		c.Header.Spec = specOf(tc.args...)
		r := live.Analyze(c)
		r.Recommendation.Procs = &tc.procs
		got := page.VerdictOf(r).Next
		if len(got) != 1 || got[0].Command != tc.want || !strings.HasPrefix(got[0].Text, "restart the program with GOMAXPROCS=") {
			t.Errorf("%d: %+v", tc.procs, got)
		}
	}
}

// Whatever numbers the slices have, what comes of them is a number or not known.
func TestLiveOfAnyNumbers(t *testing.T) {
	for i, x := range extremes {
		c := pagetest.LiveContents()
		for k := 0; k < len(c.Trials); k += 3 {
			t := &c.Trials[k]
			t.MeasuredSeconds, t.Live.CPUSeconds, t.Live.P99Seconds = extremes[(i+k)%len(extremes)], x, &x
		}
		if _, err := json.Marshal(live.Analyze(c)); err != nil {
			t.Errorf("%g: %v", x, err)
		}
	}
}
