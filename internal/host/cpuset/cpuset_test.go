package cpuset

import (
	"slices"
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
		if Count(list) != len(cpus) {
			t.Errorf("Count(%q) = %d, want %d", list, Count(list), len(cpus))
		}
	})
}
