package live

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

func TestParseQuery(t *testing.T) {
	for text, want := range map[string]string{
		"late=histogram_quantile(0.99, sum by (le) (rate(x_bucket[$slice])))": "",
		"late=":                              "expected NAME=QUERY",
		"up":                                 "expected NAME=QUERY",
		"cpu=rate(x[$slice])":                "choose another name",
		"requests=rate(x[$slice])":           "choose another name",
		"late=rate(x[1m])":                   "$slice must be in it",
		`late=rate(x{pod=~"$pods"}[$slice])`: "$pods is for kube canary",
	} {
		q, err := ParseQuery(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err == nil && strings.Contains(q.Over(Asked(5*time.Second)), "$") {
			t.Errorf("%s is asked as %s", text, q.Over(Asked(5*time.Second)))
		}
	}
	for slice, want := range map[time.Duration]time.Duration{time.Second: time.Second, 5 * time.Second: 4 * time.Second, 40 * time.Second: 32 * time.Second} {
		if got := Asked(slice); got != want {
			t.Errorf("of a slice of %v %v is asked, want %v", slice, got, want)
		}
	}
}

// TestFailuresUnknown: answers that fail cost less CPU time and come sooner, so that no value is proven
// better where nobody knows which failed, neither one that was tried nor the one at start.
func TestFailuresUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		live journal.Live
		want verdict.Confidence
	}{
		"known":           {journal.Live{LatencyBy: ByMetrics, Metrics: &journal.Metrics{Histogram: "h"}}, verdict.Proven},
		"no status":       {journal.Live{LatencyBy: ByMetrics, Metrics: &journal.Metrics{Histogram: "h", FailuresUnknown: true}}, verdict.Likely},
		"nothing counted": {journal.Live{Uncounted: true}, verdict.Likely},
	} {
		for costs, verdicts := range map[float64]verdict.Verdict{0.8: verdict.Recommended, 1.25: verdict.KeepDefault} {
			l := c.live
			l.Start, l.SliceSeconds, l.SlowSeconds, l.Seen = 2, 5, 0.1, []string{FigureMean}
			h := journal.Header{Live: &l}
			h.Plan.Settings = Settings(2, []int{1}, false)
			var list []journal.Trial
			for n := range 40 {
				for value, x := range []float64{1, costs} {
					x *= 1 + 0.01*float64((n+value)%3)
					half := journal.Half{Seconds: 2.5, Requests: 500, CPUSeconds: x}
					list = append(list, journal.Trial{
						Block: n, Setting: h.Plan.Settings[value], Valid: true, Metrics: map[string]journal.Metric{FigureMean: {Value: x / 100}}, Usage: journal.Usage{MeasuredSeconds: 5},
						Live: &journal.Slice{Before: 1 + value, Requests: 1000, CPUSeconds: 2 * x, Halves: [2]journal.Half{half, half}},
					})
				}
			}
			got := Analyze(&journal.Contents{Header: h, Trials: list, End: &journal.End{Code: journal.EndDecided}}).Recommendation
			if got.Verdict != verdicts || got.Confidence != c.want {
				t.Errorf("%s, with %g of the CPU time: %+v; expected %s, %s", name, costs, got, verdicts, c.want)
			}
		}
	}
}

// TestHarmed: what is not known does not count against the budget as 0.
func TestHarmed(t *testing.T) {
	for name, c := range map[string]struct {
		live         journal.Live
		slow, failed bool
	}{
		"nothing is counted":     {journal.Live{Uncounted: true}, false, false},
		"a Meter":                {journal.Live{}, true, true},
		"and its baseline":       {journal.Live{LatencyBy: ByArrival, SlowSeconds: 0.1}, true, true},
		"a histogram":            {journal.Live{Metrics: &journal.Metrics{Histogram: "h"}}, true, true},
		"in no bucket":           {journal.Live{LatencyBy: ByMetrics, Metrics: &journal.Metrics{Histogram: "h"}}, false, true},
		"a histogram, no status": {journal.Live{LatencyBy: ByMetrics, SlowSeconds: 1, Metrics: &journal.Metrics{Histogram: "h", FailuresUnknown: true}}, true, false},
		"a counter":              {journal.Live{Metrics: &journal.Metrics{Counter: "c"}}, false, true},
		"a counter, no status":   {journal.Live{LatencyBy: ByNone, Metrics: &journal.Metrics{Counter: "c", FailuresUnknown: true}}, false, false},
	} {
		if slow, failed := Harmed(&c.live); slow != c.slow || failed != c.failed {
			t.Errorf("%s: slow %t, failed %t", name, slow, failed)
		}
	}
}

// A journal may be anyone's.
func FuzzAnalyze(f *testing.F) {
	const header = `{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"live"},"load":{"duration_seconds":60},"plan":{"settings":[{"label":"2","procs":2},{"label":"4","procs":4}]},"live":{"start":2,"slice_seconds":5}}` + "\n"
	const start = `{"kind":"trial","setting":{"label":"2","procs":2},"role":"measure","valid":true,"measured_seconds":5,"live":{"before":4,"requests":2000,"cpu_seconds":4,"p50_seconds":0.004}}` + "\n"
	const other = `{"kind":"trial","setting":{"label":"4","procs":4},"role":"measure","order":1,"valid":true,"measured_seconds":5,"live":{"before":2,"requests":1000,"cpu_seconds":4,"p50_seconds":0.005}}` + "\n"
	f.Add([]byte(header + start + other + `{"kind":"end","code":"complete"}`))
	f.Add([]byte(header + start + `{"kind":"trial","setting":{"label":"4"},"live":{"before":2}}`))
	f.Add([]byte(header + start + `{"kind":"trial","setting":{"label":"4","procs":4},"measured_seconds":1e-300,"live":{"before":2,"requests":18446744073709551615,"cpu_seconds":1e308}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := journal.Read(bytes.NewReader(b), "x")
		if err != nil || read.Header.Live == nil {
			return
		}
		r := Analyze(read)
		if r.TrialsRun+r.PilotsRun != len(read.Trials) {
			t.Errorf("%d trials and %d pilots of %d", r.TrialsRun, r.PilotsRun, len(read.Trials))
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}

// TestSeen: what is seen from outside stands for latency where that is not known. A difference
// far below its floor is none, CPU time is compared per second where requests are not known,
// and what is not known is not 0.
func TestSeen(t *testing.T) {
	h := Header{journal.Header{Live: &journal.Live{Start: 2, SliceSeconds: 5, Uncounted: true, Seen: []string{FigureSched, FigureUnread, FigureSwitches}}}}
	h.Plan.Settings = Settings(2, []int{1}, false)
	slice := func(block, value int, seen map[string]float64) paired.Slice {
		cpu := 5 + 0.05*float64(block%3)
		if value == 1 {
			cpu *= 0.8
		}
		half := journal.Half{Seconds: 2.5, CPUSeconds: cpu / 2}
		s := journal.Trial{
			Block: block, Setting: h.Plan.Settings[value], Valid: true, Metrics: map[string]journal.Metric{},
			Usage: journal.Usage{MeasuredSeconds: 5}, Live: &journal.Slice{Before: 1 + value, CPUSeconds: cpu, Halves: [2]journal.Half{half, half}},
		}
		for name, x := range seen {
			s.Metrics[name] = journal.Metric{Value: x}
		}
		return h.SliceOf(&s)
	}
	for name, c := range map[string]struct {
		unread, sched [2]float64 // with the start value and with 1
		want          paired.Outcome
	}{
		"as good, below the floors": {[2]float64{0.001, 0.002}, [2]float64{2e-6, 8e-6}, paired.Better},
		"more is unread":            {[2]float64{1, 2}, [2]float64{1e-4, 1e-4}, paired.Mixed},
		"goroutines wait longer":    {[2]float64{0, 0}, [2]float64{1e-3, 4e-3}, paired.Mixed},
	} {
		var list []paired.Slice
		for n := range 40 {
			wobble := 1 + 0.02*float64(n%5)
			list = append(list, slice(n, 0, map[string]float64{FigureUnread: c.unread[0] * wobble, FigureSched: c.sched[0], FigureSwitches: 100}),
				slice(n, 1, map[string]float64{FigureUnread: c.unread[1], FigureSched: c.sched[1] * wobble, FigureSwitches: 100}))
		}
		look := paired.Judge(h.Rules(), list)
		if got := look.Values[0]; got.Outcome != c.want {
			t.Errorf("%s: %+v; expected %s", name, got, c.want)
		}
		for _, b := range look.Values[0].Bounds {
			if b.Name == paired.FigureRequests {
				t.Errorf("%s: requests are compared, which are not known", name)
			}
		}
	}
	// What is seen in no slice is not judged, and CPU time alone makes nothing better.
	var list []paired.Slice
	for n := range 40 {
		list = append(list, slice(n, 0, nil), slice(n, 1, nil))
	}
	if got := paired.Judge(h.Rules(), list).Values[0]; got.Outcome != paired.Cheaper {
		t.Errorf("nothing is seen: %+v; expected %s", got, paired.Cheaper)
	}
}
