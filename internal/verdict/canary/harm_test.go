package canary

import (
	"testing"

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
		got := h.Harm(slicesWith(c.values...))
		if (got != nil) != c.harm {
			t.Errorf("%s: %+v", name, got)
		}
		if got != nil && (got.Setting != "1" || got.Query != "p99" || got.Slices < 4 || (got.Ratio == nil) != (name == "from nothing")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The more is compared, the more it takes.
	h.Canary.Queries, h.Canary.Rounds = append(h.Canary.Queries, journal.Query{Name: "errors"}), append(h.Canary.Rounds, []journal.Setting{SettingOf(nil), SettingOf(new(2))})
	if got := h.Harm(slicesWith(same(4, 20, 10)...)); got != nil {
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
		if got := idle(seenOf(c.cpu, c.requests)); got != c.want {
			t.Errorf("%s: idle %v", name, got)
		}
	}
	tick, none := seenOf(new(0.01), nil), seenOf(new(0.0), nil) // of 4 s
	tick.MeasuredSeconds, none.MeasuredSeconds = 4, 4
	one, all := []Slice{{*tick}, {*none}, {*none}}, []Slice{{*tick}, {*tick}, {*tick}}
	if !Unreached(one) || Unreached(all) {
		t.Errorf("one tick of the kernel in three slices: unreached %v; one in each: %v", Unreached(one), Unreached(all))
	}
}
