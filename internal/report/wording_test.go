package report

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/report/reporttest"
	"github.com/procfit/procfit/internal/stat"
)

func TestALabelIsNotSaidTwice(t *testing.T) {
	for _, c := range []struct {
		verdict        stat.Verdict
		sentence, want string
	}{
		{stat.CannotTell, "Cannot tell: no trial was valid.", "No trial was valid."},
		{stat.TradeOff, "A trade-off: 8 has the throughput.", "8 has the throughput."},
		{stat.NotYourKnob, "GOMAXPROCS is not your knob: élan.", "Élan."},
		{stat.CannotTell, "Cannot tell: ", ""},
	} {
		r := reporttest.Typical()
		r.Groups[0].Recommendation = stat.Recommendation{Verdict: c.verdict, Sentence: c.sentence}
		if got := New(r).Verdict.Sentence; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestGroupTitles(t *testing.T) {
	half := 0.5
	for want, g := range map[string]stat.Group{
		"No quota":                        {Replicas: 1},
		"No quota, 2 replicas":            {Replicas: 2},
		"Quota 0.5 CPUs each, 2 replicas": {Replicas: 2, QuotaCPUs: &half},
		"Quota 0.5 CPUs, Go 1.26":         {QuotaCPUs: &half, GoVersion: "go1.26"},
	} {
		if got := (&group{Group: &g}).title(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := reporttest.Groups()
	r.Groups, r.Gate = r.Groups[:2], nil
	r.Groups[1].Recommendation = r.Groups[0].Recommendation
	if got := New(r).Verdict.Sentence; !strings.HasPrefix(got, "In both groups: ") {
		t.Error(got)
	}
}

func TestAMetricIsItsOwnUnit(t *testing.T) {
	for name, want := range map[string]string{"": "req/s", "runs": "runs/s", "operations": "op/s", "throughput": "", "frames": "frames", "1/took": "1/took"} {
		if got := throughputUnit(name); got != want {
			t.Errorf("%q is in %q, want %q", name, got, want)
		}
	}
	r := reporttest.Typical()
	r.Groups[0].ThroughputUnit = "throughput"
	g := New(r).Groups[0]
	if c := g.Table.Columns[1]; c.Head != "Throughput" || c.Short != "throughput" {
		t.Errorf("column %+v", c)
	}
	if got := g.Throughput.Series[0].Marks[2].Value; got != "12.8k" {
		t.Errorf("value %q", got)
	}
}

func TestHowLongATrialIs(t *testing.T) {
	for want, bend := range map[string]func(*stat.Result){
		"1.5 s in closed loop and 1.5 s in open loop after 500 ms of warm-up, at most 1 % errors": func(*stat.Result) {},
		"3 s under the load command after 500 ms of warm-up, at most 1 % errors":                  func(r *stat.Result) { r.Load.Command = "wrk" },
		"one whole run of the program": func(r *stat.Result) { r.Target.Kind = "batch" },
	} {
		r := reporttest.Typical()
		bend(r)
		if got := trial(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHowToGoOnFromAnIncompleteRun(t *testing.T) {
	for _, c := range []struct {
		run, invalid, pilots int
		want                 string
	}{
		{0, 0, 0, "Incomplete: 0 of 36 planned trials ran. Resume with"},
		{0, 0, 1, "Incomplete: 0 of 36 planned trials ran: the pilot trials were invalid. Mend"},
		{6, 6, 0, "Incomplete: 6 of 36 planned trials ran, and none was valid. Mend"},
		{6, 5, 1, "Incomplete: 6 of 36 planned trials ran. Resume with"},
	} {
		r := &stat.Result{TrialsPlanned: 36, TrialsRun: c.run, TrialsInvalid: c.invalid, PilotsInvalid: c.pilots}
		if got := progress(r); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestNoChartWithoutData(t *testing.T) {
	g := New(reporttest.Invalid()).Groups[0]
	if g.Throughput != nil || g.Latency != nil || len(g.Evidence) != 0 {
		t.Errorf("charts of nothing: %+v %+v %d", g.Throughput, g.Latency, len(g.Evidence))
	}
	if g := New(reporttest.Benchmarks()).Groups[0]; g.Throughput == nil || g.Latency != nil {
		t.Error("benchmarks have a throughput, and no latency")
	}
}

func TestFactsNameWhatIsKnown(t *testing.T) {
	r := reporttest.Typical()
	r.Groups[0].Detectable.P99, r.Groups[0].NoiseFloor.P99 = nil, nil
	for _, p := range New(r).Groups[0].Facts {
		if p.Name == "Detectable effect" && !strings.HasPrefix(p.Value, "throughput 3.4 %: ") || p.Name == "Noise floor" && !strings.HasPrefix(p.Value, "throughput 2.1 %: ") {
			t.Errorf("%+v", p)
		}
	}
}
