package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

// one are the trials of the setting next to the control, in the first round.
func one(c *journal.Contents) (list []*journal.Trial) {
	for i := range c.Trials[:16] {
		if t := &c.Trials[i]; t.Setting.Label == "1" {
			list = append(list, t)
		}
	}
	return list
}

// prolong makes a metric of a setting longer.
func prolong(t *journal.Trial, name string, times float64) {
	t.Metrics[name] = journal.Metric{Value: times * t.Metrics[name].Value}
}

func TestCanaryVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*journal.Contents)
		state  document.Tone
		label  string
		says   string
	}{
		"better": {func(*journal.Contents) {}, document.Act, "Recommended", "Compared with the default (2): CPU time per request is 20% lower (at least 19%); p99 is the same within 20%."},
		"better, and perhaps worse": {func(c *journal.Contents) {
			for i, t := range one(c) {
				prolong(t, "p99", 1+float64(i%2))
			}
		}, document.Unknown, "Undecided", "GOMAXPROCS 1 is better than the default (2) in CPU time per request (−20.1%), and undecided in p99 (+41.2%): more slices may decide it."},
		"its value was not read": {func(c *journal.Contents) {
			for _, t := range one(c) {
				t.ObservedProcs = []*int{nil}
			}
		}, document.Unknown, "Undecided", "no value is proven better than the default (2). The GOMAXPROCS value that the program really used could not be read: 1."},
		"nothing proven": {func(c *journal.Contents) { c.Trials = c.Trials[16:] }, document.Unknown, "Undecided", "no value is proven better"},
		"worse": {func(c *journal.Contents) {
			c.Trials, c.Header.Canary.Rounds = c.Trials[:16], c.Header.Canary.Rounds[:1]
			for _, t := range one(c) {
				t.CPUSeconds.User *= 2
				*t.RunQueueWaitSeconds *= 2
			}
		}, document.OK, "Keep the default", "Nothing we tried is better than the default (2) under this traffic."},
		"a trade-off": {func(c *journal.Contents) {
			for _, t := range one(c) {
				prolong(t, "p99", 1.3)
			}
		}, document.Attention, "Trade-off", "GOMAXPROCS=1 compared with the default (2): CPU time per request is 20% lower"},
		"the same": {func(c *journal.Contents) {
			c.Trials, c.Header.Canary.Rounds = c.Trials[:16], c.Header.Canary.Rounds[:1]
			for _, t := range one(c) {
				t.CPUSeconds.User /= 0.8
			}
		}, document.OK, "No difference", "All values perform the same under this traffic, within the margins."},
		"nothing counted": {func(c *journal.Contents) { c.Trials = nil }, document.Unknown, "Undecided", "The canary has no complete slice."},
		"interrupted":     {func(c *journal.Contents) { c.End.Code = journal.EndInterrupted }, document.Unknown, "Not finished", "The canary did not finish: it was interrupted."},
		"killed":          {func(c *journal.Contents) { c.End = nil }, document.Unknown, "Not finished", "its journal has no end: procfit was killed"},
		"taken":           {func(c *journal.Contents) { *c.End = journal.End{Code: journal.EndTaken, Reason: "pod x was evicted"} }, document.Unknown, "Not finished", "pod x was evicted"},
		"harm": {func(c *journal.Contents) {
			*c.End = journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmQuery, Setting: "1", Query: "p99", Slices: 5, Ratio: new(1.7)}}
		}, document.Attention, "Harm", "GOMAXPROCS 1 did harm, so the canary ended: p99 was 1.7 times that of the control over 5 slices. The margin is 20%. By chance alone, fewer than 1 canary in 100 ends like this."},
		"harm of the control": {func(c *journal.Contents) {
			*c.End = journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmEnded, Setting: canary.Control, Detail: "container app ended with code 2"}}
		}, document.Unknown, "Harm to the control", "The control did not keep running, so the canary ended: container app ended with code 2. The control runs like the service"},
		"no requests": {func(c *journal.Contents) {
			c.Trials, c.End.Code = c.Trials[:8], journal.EndUnreached
			for i := range c.Trials {
				c.Trials[i].Metrics[canary.Requests], c.Trials[i].CPUSeconds = journal.Metric{}, &journal.CPUSeconds{User: 0.01}
			}
		}, document.Unknown, "No requests", "No request reached the canary pods in 4 slices, so the canary ended: nothing was compared."},
		"few requests": {func(c *journal.Contents) {
			c.Trials, c.End.Code = c.Trials[:8], journal.EndUnreached
			for i := range c.Trials {
				c.Trials[i].Metrics[canary.Requests], c.Trials[i].CPUSeconds = journal.Metric{Value: 5}, &journal.CPUSeconds{User: 0.01}
			}
		}, document.Unknown, "Too few requests", "Fewer than 1 req/s per canary pod arrived in 4 slices, so the canary ended: nothing was compared, because procfit cannot distinguish them from probes."},
	} {
		contents := pagetest.CanaryContents()
		c.change(contents)
		r := canary.Analyze(contents)
		v := page.VerdictOf(r)
		if v.State != c.state || v.Label != c.label || !strings.Contains(v.Answer.Plain, c.says) {
			t.Errorf("%s: %s, %q: %s", name, v.State, v.Label, v.Answer.Plain)
		}
		if p := sections(r)[0]; (len(p.Snippets) > 0) != (name == "better") {
			t.Errorf("%s: to paste: %v", name, p)
		}
		if (len(v.Next) > 0) != (strings.HasSuffix(name, " requests") || strings.HasPrefix(v.Answer.Text, "Undecided")) {
			t.Errorf("%s: what would decide it: %v", name, v.Next)
		}
	}
}

// What helps where no request arrived also helps where few did, and more traffic as well.
func TestCanaryWithoutRequests(t *testing.T) {
	next := func(requests float64) []document.Item {
		c := pagetest.CanaryContents()
		for i := range c.Trials {
			c.Trials[i].Metrics[canary.Requests], c.Trials[i].CPUSeconds = journal.Metric{Value: requests}, &journal.CPUSeconds{User: 0.01}
		}
		return page.VerdictOf(canary.Analyze(c)).Next
	}
	none, few := next(0), next(5)
	if len(none) != 4 || len(few) != 6 || !slices.Equal(few[1:5], none) || !strings.HasPrefix(few[0].Text, "run the canary when") || !strings.HasSuffix(few[5].String(), "procfit kube sweep") {
		t.Errorf("without requests %q, with few %q", none, few)
	}
}

// What is worse and does not decide is reported all the same: the table shows it.
func TestCanarySaysWhatIsWorseBeside(t *testing.T) {
	c := pagetest.CanaryContents()
	for _, t := range one(c) {
		prolong(t, canary.FigureSched, 50)
	}
	v := page.VerdictOf(canary.Analyze(c))
	if want := "; higher, but not judged: scheduling latency p99 50×"; v.Label != "Recommended" || !strings.Contains(v.Reasons[0], want) {
		t.Errorf("%s: %q, want %q", v.Label, v.Reasons, want)
	}
}

// What weakens a result is reported with it.
func TestCanaryWarnings(t *testing.T) {
	few := pagetest.CanaryContents()
	few.Trials = few.Trials[:8]
	for i := range few.Trials {
		t := &few.Trials[i]
		delete(t.Metrics, canary.Requests)
		t.ObservedProcs, t.Warnings = []*int{nil}, []journal.Warning{{Code: journal.WarnQuery, Detail: "p99: no Prometheus"}}
	}
	idle := pagetest.CanaryContents()
	for _, t := range one(idle) {
		t.Metrics[canary.Requests] = journal.Metric{}
	}
	rare := pagetest.CanaryContents()
	for _, t := range one(rare) {
		t.Metrics[canary.Requests], t.CPUSeconds = journal.Metric{Value: 5}, &journal.CPUSeconds{User: 0.01}
	}
	for _, c := range []struct {
		of   *journal.Contents
		want []string
	}{
		{rare, []string{"in most slices fewer than 1 req/s per pod reached GOMAXPROCS 1:"}},
		{few, []string{"CPU time is counted per pod, not per request", "could not be read: default and 1", "8 warnings in trials, the first: a query returned nothing: p99: no Prometheus", "4 slices: an interval of so few is of little use"}},
		{idle, []string{"in most slices no request reached GOMAXPROCS 1:", "GOMAXPROCS 2 is the default here"}},
	} {
		text := ""
		for _, n := range notes(canary.Analyze(c.of)) {
			text += n.Message + "\n"
		}
		has(t, text, c.want...)
	}
}

// A program that reads result.json finds the verdict where any sweep has it.
func TestCanaryAsJSON(t *testing.T) {
	b := must.Get(page.JSON(pagetest.Canary()))(t)
	has(t, string(b), `"verdict": "recommended"`, `"procs": 1`, `"sentence": "Set GOMAXPROCS=1. Compared with the default (2): CPU time per request is 20% lower`, `"outcome": "better"`, `"code": "same_procs"`, `"slices_planned": 16`)
}

// What neither a terminal nor Markdown has is a chart for each value, by slices.
func TestChartsOfACanary(t *testing.T) {
	got := string(asPage(t, pagetest.Canary()))
	has(t, got, "GOMAXPROCS 1: p99", "GOMAXPROCS 2: p99", `aria-label="slice 8: the control, default 0.0`)
	if strings.Contains(got, "GOMAXPROCS 8:") {
		t.Error("a slice is called a value of GOMAXPROCS")
	}
}
