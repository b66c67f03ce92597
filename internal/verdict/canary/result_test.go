package canary

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
	"github.com/procfit/procfit/test/must"
)

// contents are of two settings next to a control: 1 takes 20% less CPU time per request and
// has the control's latency, 2 is the control. The traffic doubles on the way.
func contents(n int) *journal.Contents {
	c := &journal.Contents{Header: journal.Header{
		Spec: spec.Spec{Command: "kube canary"}, Started: time.Unix(1000, 0).UTC(), Load: journal.Load{DurationSeconds: float64(60 * n)}, Plan: journal.Plan{MarginP99: 0.2},
		Canary: &journal.Canary{
			SliceSeconds: 60, Rounds: [][]journal.Setting{{SettingOf(nil), SettingOf(new(1)), SettingOf(new(2))}},
			Queries: []journal.Query{{Name: Requests, Text: "$pods"}, {Name: "p99", Text: "$pods"}},
		},
	}, End: &journal.End{Code: journal.EndComplete}}
	for i := range n {
		wobble := 1 + 0.01*float64(i%3)
		requests := 1000 * (1 + float64(i)/float64(n))
		for j, a := range c.Header.Canary.Rounds[0] {
			cpu, ran := requests*0.001*wobble, 2
			if j == 1 {
				cpu, ran = cpu*0.8/wobble, 1
			}
			c.Trials = append(c.Trials, journal.Trial{
				Setting: a, Block: i, Order: j, Pods: []journal.Pod{{Name: "p"}}, ObservedProcs: []*int{&ran}, DurationSeconds: 60,
				Metrics: map[string]journal.Metric{Requests: {Value: requests}, "p99": {Value: 0.02 * wobble}, FigureSched: {Value: 0.001 * wobble}},
				Usage:   journal.Usage{MeasuredSeconds: 60, CPUSeconds: &journal.CPUSeconds{User: cpu}, RunQueueWaitSeconds: new(cpu / 10), Cgroup: &journal.Cgroup{Periods: 600}},
			})
		}
	}
	return c
}

func TestAnalyze(t *testing.T) {
	result := Analyze(contents(12))
	r := result.Canary
	if !r.PerRequest || r.Slices != 12 || r.Planned != 12 || len(r.Settings) != 3 || r.Comparisons != 4 {
		t.Fatalf("%+v", r)
	}
	control, one, two := r.Settings[0], r.Settings[1], r.Settings[2]
	if control.Verdict != "" || control.Same || control.In(verdict.OutcomeBetter) != nil {
		t.Errorf("control: %+v", control)
	}
	if one.Verdict != verdict.Recommended || one.Same || !slices.Equal(one.In(verdict.OutcomeBetter), []string{paired.FigureCPU}) || one.In(verdict.OutcomeWorse) != nil {
		t.Errorf("1: %+v", one)
	}
	if two.Verdict != verdict.NoDifference || !two.Same {
		t.Errorf("2: %+v", two)
	}
	if rec := result.Recommendation; rec.Verdict != verdict.Recommended || rec.Procs == nil || *rec.Procs != 1 || !result.Complete || result.TrialsRun != 36 || result.TrialsPlanned != 36 {
		t.Errorf("%+v, %d of %d trials", rec, result.TrialsRun, result.TrialsPlanned)
	}
	// Paired by slice the doubled traffic is in neither.
	cpu := one.Of(paired.FigureCPU)
	if math.Abs(*cpu.Ratio.Median-0.8/1.01) > 0.01 || cpu.Ratio.N != 12 || *cpu.Ratio.High > 0.82 {
		t.Errorf("CPU time: %g [%g, %g]", *cpu.Ratio.Median, *cpu.Ratio.Low, *cpu.Ratio.High)
	}
	if m := one.Of(FigureThrottled); m == nil || *m.Value.Median != 0 || m.Ratio.Median != nil {
		t.Errorf("throttled: %+v", m)
	}
	if m := one.Of(paired.FigureRequests); m == nil || *m.Value.Median < 16 || *m.Value.Median > 34 {
		t.Errorf("requests: %+v", m)
	}
}

func TestAnalyzeWithoutRequests(t *testing.T) {
	c := contents(12)
	c.Header.Canary.Queries = nil
	for _, t := range c.Trials {
		delete(t.Metrics, Requests)
	}
	r := Analyze(c).Canary
	// No query tells a latency: waiting represents it.
	if r.Comparisons != 6 || !slices.Contains(r.Settings[1].In(verdict.OutcomeBetter), FigureWait) {
		t.Errorf("%d comparisons: %+v", r.Comparisons, r.Settings[1])
	}
	if m := r.Settings[1].Of(paired.FigureCPU); r.PerRequest || m == nil || *m.Value.Median > 0.05 || r.Settings[1].Of(paired.FigureRequests) != nil {
		t.Errorf("%+v", m)
	}
	if r := Analyze(&journal.Contents{Header: c.Header}).Canary; r.Slices != 0 || r.Settings[1].Verdict != verdict.Undecided || len(r.Settings[1].Figures) != 0 {
		t.Errorf("of no slice: %+v", r)
	}
}

// What the programs' Meters have is used without any query: the requests, and the latency
// from arrival, which decides in place of the waits that are a part of it.
func TestAnalyzeMeter(t *testing.T) {
	c := contents(12)
	c.Header.Canary.Queries = nil
	for i, trial := range c.Trials {
		m := trial.Metrics
		m[paired.FigureP50], m[paired.FigureP99], m[paired.FigureFailed] = m["p99"], m["p99"], journal.Metric{Value: 0}
		if i%3 == 1 {
			m[paired.FigureP99] = journal.Metric{Value: 1.5 * m["p99"].Value}
		}
		delete(m, "p99")
	}
	r := Analyze(c).Canary
	one := r.Settings[1]
	if !r.PerRequest || r.Comparisons != 6 || one.Verdict != verdict.TradeOff || !slices.Equal(one.In(verdict.OutcomeWorse), []string{paired.FigureP99}) || one.Of(FigureWait).Outcome != verdict.OutcomeNotJudged {
		t.Errorf("%d comparisons: %+v", r.Comparisons, one)
	}
	if h := harm(Header{c.Header}, c.Trials); h == nil || h.Setting != "1" || h.Query != paired.FigureP99 {
		t.Errorf("a p99 of 1.5 times the control's: %+v", h)
	}
	for i := range c.Trials {
		c.Trials[i].Metrics[paired.FigureP99] = c.Trials[i].Metrics[paired.FigureP50]
		if i%3 == 2 {
			c.Trials[i].Metrics[paired.FigureFailed] = journal.Metric{Value: 0.1}
		}
	}
	if h := harm(Header{c.Header}, c.Trials); h == nil || h.Setting != "2" || h.Query != paired.FigureFailed || h.Ratio != nil {
		t.Errorf("a tenth failed, of the control none: %+v", h)
	}
	// The Meters count from one reading to the next, which is longer than a slice.
	for i := range c.Trials {
		c.Trials[i].MeasuredSeconds = 90
	}
	if was, is := *one.Of(paired.FigureRequests).Value.Median, *Analyze(c).Canary.Settings[1].Of(paired.FigureRequests).Value.Median; math.Abs(is/was-60.0/90) > 1e-9 {
		t.Errorf("%g req/s of 60 s are %g of 90 s", was, is)
	}
}

// Better in one metric is not better while another may be worse by more than its margin.
func TestBetterIsNoWorseInAnyOther(t *testing.T) {
	for name, c := range map[string]struct {
		p99  func(slice int) float64 // over the control's
		want verdict.Verdict
		open []string
	}{
		"the same":          {func(int) float64 { return 1 }, verdict.Recommended, nil},
		"5% longer":         {func(int) float64 { return 1.05 }, verdict.Recommended, nil},
		"25% longer":        {func(int) float64 { return 1.25 }, verdict.TradeOff, nil},
		"may be 3.6 times":  {func(i int) float64 { return 1.5 * math.Exp(1.2*math.Sin(float64(5*i))) }, verdict.Undecided, []string{"p99"}},
		"may be a bit more": {func(i int) float64 { return 1 + 0.1*math.Sin(float64(5*i)) }, verdict.Recommended, nil},
		"not known":         {nil, verdict.Undecided, []string{"p99"}},
	} {
		contents := contents(12)
		for i := 0; i < len(contents.Trials); i += 3 {
			control, one := contents.Trials[i].Metrics, contents.Trials[i+1].Metrics
			if c.p99 == nil {
				delete(one, "p99")
			} else {
				one["p99"] = journal.Metric{Value: control["p99"].Value * c.p99(i/3)}
			}
		}
		one := Analyze(contents).Canary.Settings[1]
		if one.Verdict != c.want || !slices.Equal(one.In(verdict.OutcomeBetter), []string{paired.FigureCPU}) || !slices.Equal(one.In(verdict.OutcomeUndecided), c.open) {
			t.Errorf("%s: %+v", name, one)
		}
	}
}

// Nothing is proven by pods whose value nobody saw, that no request reached, or whose control is such.
// What differs between a setting and a control of the same value is chance.
func TestProvesNothing(t *testing.T) {
	unseen := func(t *journal.Trial) { t.ObservedProcs = []*int{nil} }
	unused := func(t *journal.Trial) {
		t.CPUSeconds, t.RunQueueWaitSeconds = &journal.CPUSeconds{User: 0.01}, new(0.001)
	}
	for name, c := range map[string]struct {
		setting string
		change  func(*journal.Trial)
		want    verdict.Verdict
		void    verdict.Remark
	}{
		"not read":                {"1", unseen, verdict.Undecided, verdict.ProcsUnread{Settings: []string{"1"}}},
		"the control is not read": {Control, unseen, verdict.Undecided, verdict.ProcsUnread{Settings: []string{Control}}},
		"another value": {"1", func(t *journal.Trial) {
			if t.Block > 6 {
				t.ObservedProcs = []*int{new(8)}
			}
		}, verdict.Undecided, OtherProcs{[]string{"1"}}},
		"no request":               {"1", unused, verdict.Undecided, Idle{[]string{"1"}, false}},
		"few requests":             {"1", func(t *journal.Trial) { unused(t); t.Metrics[Requests] = journal.Metric{Value: 5} }, verdict.Undecided, Idle{[]string{"1"}, true}},
		"the control gets none":    {Control, unused, verdict.Undecided, Idle{[]string{Control}, false}},
		"the value of the control": {"1", func(t *journal.Trial) { t.ObservedProcs, t.Setting.Procs = []*int{new(2)}, new(2) }, verdict.NoDifference, nil},
	} {
		contents := contents(12)
		contents.Header.Canary.Queries, contents.Header.Canary.Rounds[0] = nil, contents.Header.Canary.Rounds[0][:2]
		contents.Trials = slices.DeleteFunc(contents.Trials, func(t journal.Trial) bool { return t.Setting.Label == "2" })
		if c.void == nil {
			contents.Header.Canary.Rounds[0][1].Procs = new(2)
		}
		for i := range contents.Trials {
			x := &contents.Trials[i]
			delete(x.Metrics, Requests)
			if delete(x.Metrics, "p99"); x.Setting.Label == c.setting {
				c.change(x)
			}
		}
		r := Analyze(contents)
		one := r.Canary.Settings[1]
		if one.Verdict != c.want || !reflect.DeepEqual(one.Void, c.void) || r.Recommendation.Verdict != c.want || r.Recommendation.Procs != nil || c.void != nil && (one.In(verdict.OutcomeBetter) != nil || r.Recommendation.Confidence != "") {
			t.Errorf("%s: %+v, %+v", name, one, r.Recommendation)
		}
		if c.void != nil && !slices.ContainsFunc(r.Warnings, func(w verdict.Warning) bool { return reflect.DeepEqual(w.Remark, c.void) }) {
			t.Errorf("%s: no warning says it: %+v", name, r.Warnings)
		}
	}
}

// Where nothing watched the pods, a query alone makes a value likely.
func TestUnwatched(t *testing.T) {
	c := contents(12)
	for i := range c.Trials {
		x := &c.Trials[i]
		x.Usage, x.ObservedProcs = journal.Usage{}, []*int{nil}
		if delete(x.Metrics, FigureSched); x.Setting.Label == "1" {
			x.Metrics["p99"] = journal.Metric{Value: 0.7 * x.Metrics["p99"].Value}
		}
	}
	if r := Analyze(c).Recommendation; r.Verdict != verdict.Recommended || r.Confidence != verdict.Likely || r.Procs == nil || *r.Procs != 1 {
		t.Errorf("%+v", r)
	}
}

// write makes a journal of contents in a new folder.
func write(t testing.TB, c *journal.Contents) (path string) {
	t.Helper()
	dir := must.Get(folder.Make(filepath.Join(t.TempDir(), "out")))(t)
	defer dir.Close()
	w := must.Get(journal.Create(dir, c.Header, func(text string) string { return text }))(t)
	for _, one := range c.Trials {
		must.OK(t, w.Append(one))
	}
	must.OK(t, errors.Join(w.AppendEnd(*c.End), w.Close()))
	return dir.Path()
}

func TestJournal(t *testing.T) {
	c := contents(2)
	got := must.Get(journal.ReadDirectory(write(t, c)))(t)
	if len(got.Trials) != 6 || got.End == nil || got.End.Code != journal.EndComplete {
		t.Fatalf("%+v", got)
	}
	one := got.Trials[3:]
	if one[1].DurationSeconds != 60 || cpuSeconds(&one[1]) != cpuSeconds(&c.Trials[4]) || *one[2].Setting.Procs != 2 || metric(&one[0], "p99") != metric(&c.Trials[3], "p99") {
		t.Errorf("%+v", one)
	}
	for _, seconds := range []string{"0", "1e9", "-1"} {
		text := `{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"kube canary"},"load":{"duration_seconds":1},"canary":{"slice_seconds":` + seconds + "}}\n"
		if _, err := journal.Read(strings.NewReader(text), "x"); err == nil {
			t.Errorf("slices of %s s are read", seconds)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	text := must.Get(os.ReadFile(filepath.Join(write(f, contents(2)), journal.Name)))(f)
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add(regexp.MustCompile(`"(user|value)":[^,}]*`).ReplaceAll(text, []byte(`"$1":1e308`)))
	f.Add(regexp.MustCompile(`"(user|value)":[^,}]*`).ReplaceAll(text, []byte(`"$1":1e-300`)))
	f.Add([]byte(`{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"kube canary"},"load":{"duration_seconds":1},"canary":{"slice_seconds":1,"rounds":[[]]}}` + "\n" + `{"kind":"trial","block":-1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := journal.Read(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		if read.Header.Canary == nil {
			return
		}
		r := Analyze(read)
		if n := len(read.Trials); r.Canary.Slices > n || (r.Canary.Slices == 0) != (n == 0) {
			t.Errorf("%d slices of %d trials", r.Canary.Slices, n)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}
