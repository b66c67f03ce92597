package cpuset

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string][]int{
		"":         nil,
		" ":        nil,
		"0":        {0},
		"0,0":      {0},
		"0-1,1-2":  {0, 1, 2},
		"3, 0-1":   {0, 1, 3},
		"8,0-3":    {0, 1, 2, 3, 8},
		"65535":    {65535},
		"10-10":    {10},
		"0-3,8\n":  {0, 1, 2, 3, 8},
		"007,0007": {7},
	} {
		got, err := Parse(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Parse(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{",", "0,", "-1", "1-", "3-1", "65536", "0-65536", "a", "0-3:2", "1 2", "+1", "0x1"} {
		if got, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", in, got)
		}
	}
}

func TestSets(t *testing.T) {
	a, b := Set{0, 1, 2}, Set{2, 5}
	if both := a.Within(b); !slices.Equal(both, Set{2}) || !a.Overlaps(b) || a.Overlaps(Set{5}) || Set(nil).Overlaps(a) {
		t.Errorf("%v and %v share %v", a, b, both)
	}
	type record struct {
		CPUs Set `json:"cpus,omitempty"`
	}
	for set, want := range map[string]string{"": "{}", "0,2,1": `{"cpus":"0-2"}`} {
		cpus, _ := Parse(set)
		got, err := json.Marshal(record{cpus})
		var again record
		if err != nil || string(got) != want || json.Unmarshal(got, &again) != nil || !slices.Equal(again.CPUs, cpus) {
			t.Errorf("%q: %s, %v, and again %v; want %s", set, got, err, again, want)
		}
	}
	if err := json.Unmarshal([]byte(`{"cpus":"0-x"}`), &record{}); err == nil || !strings.Contains(err.Error(), `"0-x"`) {
		t.Errorf("a list that is none: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0-3,8")
	f.Add("0,0,1-1")
	f.Fuzz(func(t *testing.T, list string) {
		cpus, err := Parse(list)
		if err != nil {
			return
		}
		again, err := Parse(Format(cpus))
		if err != nil || !slices.Equal(again, cpus) {
			t.Errorf("%q: %v written as %q is read as %v, %v", list, cpus, Format(cpus), again, err)
		}
		text, _ := cpus.MarshalText()
		var same Set
		if err := same.UnmarshalText(text); err != nil || !slices.Equal(same, cpus) {
			t.Errorf("%v as %q is read as %v, %v", cpus, text, same, err)
		}
	})
}
