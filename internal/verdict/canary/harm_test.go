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
		harm  HarmCode
		taken string
	}{
		{0, fine, "", ""}, {1, unready, "", ""}, {10, unready, "", ""},
		{10, fine, "", ""}, // in time
		{11, unready, "", ""}, {20, unready, "", ""}, {21, unready, HarmUnready, ""},
		{22, Condition{Setting: "1", Pod: "b", Ended: "code 2"}, HarmEnded, ""},
		{23, Condition{Setting: "1", Pod: "b", Taken: "evicted", Ended: "code 137"}, "", "evicted"},
	} {
		h, taken := w.see(at(step.at), []Condition{{Setting: Control, Pod: "a", Ready: true}, step.is})
		if (h == nil) != (step.harm == "") || h != nil && (h.Code != step.harm || h.Setting != "1" || h.OfControl()) || taken != step.taken {
			t.Errorf("after %d s: %+v, taken %q; want %q, %q", step.at, h, taken, step.harm, step.taken)
		}
	}
	var other watch
	if h, _ := other.see(start, []Condition{{Setting: Control, Pod: "a", Ended: "code 1"}}); h == nil || !h.OfControl() {
		t.Errorf("of the control: %+v", h)
	}
}

// slicesOf makes slices of a query's values: the control's, then a setting's.
func slicesOf(values ...[2]float64) (list []Slice) {
	for i, v := range values {
		s := Slice{Index: i}
		for j, a := range []journal.Setting{SettingOf(nil), SettingOf(new(1))} {
			seen := Seen{Setting: a, Queries: map[string]*float64{"p99": nil}}
			if v[j] >= 0 {
				seen.Queries["p99"] = new(v[j])
			}
			s.Settings = append(s.Settings, seen)
		}
		list = append(list, s)
	}
	return list
}

func TestHarmIn(t *testing.T) {
	for name, c := range map[string]struct {
		slices []Slice
		harm   bool
	}{
		"none":                   {nil, false},
		"one slice":              {slicesOf([2]float64{10, 20}), false},
		"two on end":             {slicesOf([2]float64{10, 10}, [2]float64{10, 12.1}, [2]float64{20, 25}), true},
		"two, not on end":        {slicesOf([2]float64{10, 20}, [2]float64{10, 10}, [2]float64{10, 20}), false},
		"as much as may be":      {slicesOf([2]float64{10, 12}, [2]float64{10, 12}), false},
		"one of them not known":  {slicesOf([2]float64{10, 20}, [2]float64{10, -1}), false},
		"the control not known":  {slicesOf([2]float64{-1, 20}, [2]float64{10, 20}), false},
		"the control is the bad": {slicesOf([2]float64{20, 10}, [2]float64{20, 10}), false},
		"from nothing":           {slicesOf([2]float64{0, 1}, [2]float64{0, 1}), true},
	} {
		h := harmIn(c.slices, 0.2)
		if (h != nil) != c.harm {
			t.Errorf("%s: %+v", name, h)
		}
		if h != nil && (h.Setting != "1" || h.Query != "p99" || len(h.Values) != 2 || len(h.Controls) != 2) {
			t.Errorf("%s: %+v", name, h)
		}
	}
}
