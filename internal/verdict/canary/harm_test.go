package canary

import (
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// slicesWith makes slices of a query's values: the control's, then a setting's.
func slicesWith(values ...[2]float64) (list []journal.Trial) {
	for i, v := range values {
		for j, a := range []journal.Setting{SettingOf(nil), SettingOf(new(1))} {
			seen := journal.Trial{Setting: a, Block: i, Metrics: map[string]journal.Metric{}}
			if v[j] >= 0 {
				seen.Metrics["p99"] = journal.Metric{Value: v[j]}
			}
			list = append(list, seen)
		}
	}
	return list
}

// harm is what ends a canary after these slices; nil: it does not end for harm.
func harm(h Header, trials []journal.Trial) *journal.Harm {
	if end := h.Next(trials).End; end != nil {
		return end.Harm
	}
	return nil
}

func TestHarmIn(t *testing.T) {
	same := func(n int, is, was float64) (list [][2]float64) {
		for i := range n {
			wobble := 1 + 0.02*float64(i%2)
			list = append(list, [2]float64{was, is * wobble})
		}
		return list
	}
	h := Header{journal.Header{
		Load: journal.Load{DurationSeconds: 1800}, Plan: journal.Plan{MarginP99: 0.2},
		Canary: &journal.Canary{SliceSeconds: 60, Queries: []journal.Query{{Name: "p99"}}, Rounds: [][]journal.Setting{{SettingOf(nil), SettingOf(new(1))}}},
	}}
	for name, c := range map[string]struct {
		values [][2]float64
		harm   bool
	}{
		"one slice":              {same(1, 20, 10), false},
		"three, which is few":    {same(3, 20, 10), false},
		"four":                   {same(4, 20, 10), true},
		"all but one":            {append(same(6, 20, 10), [2]float64{10, 2}), false},
		"within the margin":      {same(20, 11.5, 10), false},
		"some are not known":     {append([][2]float64{{10, -1}, {-1, 20}}, same(4, 20, 10)...), true},
		"the control not known":  {same(6, 20, -1), false},
		"the control is the bad": {same(6, 10, 20), false},
		"from nothing":           {same(4, 5, 0), true},
		"one error in all":       {append(same(9, 0, 0), [2]float64{0, 1}), false},
		"nothing at all":         {same(9, 0, 0), false},
	} {
		got := harm(h, slicesWith(c.values...))
		if (got != nil) != c.harm {
			t.Errorf("%s: %+v", name, got)
		}
		if got != nil && (got.Setting != "1" || got.Query != "p99" || got.Slices < 4 || (got.Ratio == nil) != (name == "from nothing")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The more is compared, the more it takes.
	h.Canary.Queries, h.Canary.Rounds = append(h.Canary.Queries, journal.Query{Name: "errors"}), append(h.Canary.Rounds, []journal.Setting{SettingOf(nil), SettingOf(new(2))})
	if got := harm(h, slicesWith(same(4, 20, 10)...)); got != nil {
		t.Errorf("of four comparisons: %+v", got)
	}
}

// seenOf is one pod in 60 seconds.
func seenOf(cpu, requests *float64) *journal.Trial {
	t := &journal.Trial{ObservedProcs: []*int{nil}, Usage: journal.Usage{MeasuredSeconds: 60}, Metrics: map[string]journal.Metric{}}
	if cpu != nil {
		t.CPUSeconds = &journal.CPUSeconds{User: *cpu}
	}
	if requests != nil {
		t.Metrics[Requests] = journal.Metric{Value: *requests}
	}
	return t
}

func TestIdle(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, requests *float64 // of 60 s
		want          bool
	}{
		"nothing is known":        {nil, nil, false},
		"next to no CPU time":     {new(0.1), nil, true},
		"some":                    {new(0.2), nil, false},
		"probes alone":            {new(0.1), new(12.0), true},
		"cheap requests":          {new(0.1), new(600.0), false},
		"none, by the query":      {nil, new(0.0), true},
		"one, by the query":       {nil, new(1.0), false},
		"none, and it is at work": {new(6.0), new(0.0), false},
	} {
		if got := useOf(seenOf(c.cpu, c.requests)).idle(); got != c.want {
			t.Errorf("%s: idle %v", name, got)
		}
	}
	tick, none := seenOf(new(0.01), nil), seenOf(new(0.0), nil) // of 4 s
	tick.MeasuredSeconds, none.MeasuredSeconds = 4, 4
	one, all := []journal.Trial{*tick, *none, *none}, []journal.Trial{*tick, *tick, *tick}
	if !Unreached(one) || Unreached(all) {
		t.Errorf("one tick of the kernel in three slices: unreached %v; one in each: %v", Unreached(one), Unreached(all))
	}
}

func TestWatch(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	fine, unready := Condition{Setting: "1", Pod: "b", Ready: true}, Condition{Setting: "1", Pod: "b", Detail: "ContainersNotReady"}
	var w Watch
	for _, step := range []struct {
		at    int
		is    Condition
		harm  journal.HarmCode
		taken string
	}{
		{0, fine, "", ""}, {1, unready, "", ""}, {10, unready, "", ""},
		{10, fine, "", ""}, // in time
		{11, unready, "", ""}, {20, unready, "", ""}, {21, unready, journal.HarmUnready, ""},
		{22, Condition{Setting: "1", Pod: "b", Ended: "code 2"}, journal.HarmEnded, ""},
		{23, Condition{Setting: "1", Pod: "b", Taken: "evicted", Ended: "code 137"}, "", "evicted"},
	} {
		end := w.See(at(step.at), []Condition{{Setting: Control, Pod: "a", Ready: true}, step.is})
		var got journal.End
		if end != nil {
			got = *end
		}
		if (got.Harm == nil) != (step.harm == "") || got.Harm != nil && (got.Harm.Code != step.harm || got.Harm.Setting != "1") || got.Reason != step.taken || (end == nil) != (step.harm == "" && step.taken == "") {
			t.Errorf("after %d s: %+v; want %q, %q", step.at, end, step.harm, step.taken)
		}
	}
	var other Watch
	if end := other.See(start, []Condition{{Setting: Control, Pod: "a", Ended: "code 1"}}); end == nil || end.Harm == nil || end.Harm.Setting != Control {
		t.Errorf("of the control: %+v", end)
	}
}

// TestNext: a round ends where none of its settings is open any longer, and not before, and the
// next one has new settings.
func TestNext(t *testing.T) {
	long := contents(30)
	h := Header{long.Header}
	h.Canary.Rounds = [][]journal.Setting{{SettingOf(nil), SettingOf(new(1))}, {SettingOf(nil), SettingOf(new(2))}}
	first := h.Canary.Rounds[0]
	var done []journal.Trial
	for _, trial := range long.Trials {
		if trial.Setting.Procs == nil || *trial.Setting.Procs == 1 {
			done = append(done, trial)
		}
	}
	for n := 0; ; n++ {
		next := h.Next(done[:2*n])
		if next.End == nil && next.Block == n && next.Settings[0][1].Label == first[1].Label {
			continue
		}
		if n < 9 || n > 25 || next.End != nil || next.Block != 30 || next.Settings[0][1].Label != "2" {
			t.Errorf("after %d slices: %+v", n, next)
		}
		// Where it is the last round, the canary is decided.
		h.Canary.Rounds = h.Canary.Rounds[:1]
		if h.Next(done[:2*9]).End != nil {
			t.Error("decided after 9 slices")
		}
		end := h.Next(done[:2*n]).End
		if end == nil || end.Code != journal.EndDecided {
			t.Errorf("the last round: %+v", end)
		}
		if c := (&journal.Contents{Header: h.Header, Trials: done[:2*n], End: end}); !Analyze(c).Complete || Analyze(c).Recommendation.Verdict != verdict.Recommended {
			t.Errorf("%+v", Analyze(c).Recommendation)
		}
		break
	}
	h.Canary.Rounds = [][]journal.Setting{first}
	open := done[:60] // whether p99 is longer is not known
	for i := range open {
		if i%2 == 1 {
			open[i].Metrics["p99"] = journal.Metric{Value: open[i].Metrics["p99"].Value * []float64{0.4, 2.5}[i/2%2]}
		}
	}
	for n := 1; n < 30; n++ {
		if end := h.Next(open[:2*n]).End; end != nil {
			t.Fatalf("what is open ends after %d slices: %+v", n, end)
		}
	}
	if end := h.Next(open).End; end == nil || end.Code != journal.EndComplete {
		t.Errorf("after all slices: %+v", end)
	}
}
