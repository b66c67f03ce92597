package canary

import (
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestWatch(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	fine, unready := Condition{Setting: "1", Pod: "b", Ready: true}, Condition{Setting: "1", Pod: "b", Detail: "ContainersNotReady"}
	var w watch
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
		h, taken := w.see(at(step.at), []Condition{{Setting: Control, Pod: "a", Ready: true}, step.is})
		if (h == nil) != (step.harm == "") || h != nil && (h.Code != step.harm || h.Setting != "1") || taken != step.taken {
			t.Errorf("after %d s: %+v, taken %q; want %q, %q", step.at, h, taken, step.harm, step.taken)
		}
	}
	var other watch
	if h, _ := other.see(start, []Condition{{Setting: Control, Pod: "a", Ended: "code 1"}}); h == nil || h.Setting != Control {
		t.Errorf("of the control: %+v", h)
	}
}

// slicesWith makes slices of a query's values: the control's, then a setting's.
func slicesWith(values ...[2]float64) (list []Slice) {
	for i, v := range values {
		var s Slice
		for j, a := range []journal.Setting{SettingOf(nil), SettingOf(new(1))} {
			seen := journal.Trial{Setting: a, Block: i, Metrics: map[string]journal.Metric{}}
			if v[j] >= 0 {
				seen.Metrics["p99"] = journal.Metric{Value: v[j]}
			}
			s = append(s, seen)
		}
		list = append(list, s)
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
		Plan:   journal.Plan{MarginP99: 0.2},
		Canary: &journal.Canary{Queries: []journal.Query{{Name: "p99"}}, Rounds: [][]journal.Setting{{SettingOf(nil), SettingOf(new(1))}}},
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
		got := harmIn(h, slicesWith(c.values...))
		if (got != nil) != c.harm {
			t.Errorf("%s: %+v", name, got)
		}
		if got != nil && (got.Setting != "1" || got.Query != "p99" || got.Slices < 4 || (got.Ratio == nil) != (name == "from nothing")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The more is compared, the more it takes.
	h.Canary.Queries, h.Canary.Rounds = append(h.Canary.Queries, journal.Query{Name: "errors"}), append(h.Canary.Rounds, h.Canary.Rounds[0])
	if got := harmIn(h, slicesWith(same(4, 20, 10)...)); got != nil {
		t.Errorf("of four comparisons: %+v", got)
	}
}
