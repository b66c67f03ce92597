package rule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The program with the most Ps has the limit that all share, and nobody else.
func TestGather(t *testing.T) {
	under := func(procs int, limits ...float64) Observed { return machine(64, limits...).live(procs) }
	lonely := map[string]bool{"one alone": true, "no limit": true, "not known what it uses": true, "a limit of all CPUs is none": true}
	for name, c := range map[string]struct {
		programs []Observed
		want     string // the programs with a finding, and what they share
	}{
		"a slice of two":                {[]Observed{under(3, 0, 4), under(4, 0, 4)}, "1: 4 CPUs, 4 3"},
		"the first of equals":           {[]Observed{under(4, 0, 4), under(4, 0, 4)}, "0: 4 CPUs, 4 4"},
		"room for both":                 {[]Observed{under(2, 0, 4), under(2, 0, 4)}, ""},
		"a fraction is rounded up":      {[]Observed{under(2, 0, 3.5), under(2, 0, 3.5)}, ""},
		"one alone":                     {[]Observed{under(4, 4)}, ""},
		"one has too many by itself":    {[]Observed{under(64, 0, 4), under(4, 0, 4)}, ""},
		"no limit":                      {[]Observed{under(64), under(64)}, ""},
		"the tighter of two limits":     {[]Observed{under(4, 0, 4, 6), under(4, 0, 4, 6)}, "0: 4 CPUs, 4 4"},
		"not known what it uses":        {[]Observed{under(4, 0, 4), machine(64, 0, 4).hidden()}, ""},
		"a limit of all CPUs is none":   {[]Observed{under(64, 0, 64), under(64, 0, 64)}, ""},
		"limits of their own that fit":  {[]Observed{under(2, 1.5, 4), under(2, 1.5, 4), under(1, 1, 4)}, ""},
		"limits of their own, too high": {[]Observed{under(2, 1.5, 2), under(2, 1.5, 2)}, "0: 2 CPUs, 2 2"},
	} {
		var list []*Subject
		for _, o := range c.programs {
			s := NewSubject(o)
			list = append(list, &s)
		}
		Gather(list, func(dir string) bool { return dir != "/cg/pod/app" })
		var got []string
		for i, s := range list {
			if s.Shared == lonely[name] {
				t.Errorf("%s: %d is shared: %v", name, i, s.Shared)
			}
			if s.Together != nil {
				var procs []string
				for _, p := range s.Together.Programs {
					procs = append(procs, fmt.Sprint(p.Procs))
				}
				got = append(got, fmt.Sprintf("%d: %g CPUs, %s", i, s.Together.Limit.CPUs, strings.Join(procs, " ")))
			}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A program that shares its limit may have fewer Ps than the limit has CPUs, and a fixed
// value: no command gives it more.
func TestSharedMayHaveFewer(t *testing.T) {
	for _, c := range []struct {
		shared bool
		want   string
	}{{false, "[PF002]"}, {true, "[]"}} {
		o := machine(64, 0, 4).withEnv("2").live(2)
		o.Shared = c.shared
		if got := fmt.Sprint(IDs(Judge(NewSubject(o)))); got != c.want {
			t.Errorf("shared %v: %s, want %s", c.shared, got, c.want)
		}
		o = machine(64, 0, 4).withEnv("4").live(2).custom(true).process()
		o.Shared = c.shared
		found := Judge(NewSubject(o))
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Rule == "PF013" })
		if i < 0 || (found[i].Now == "") != c.shared || strings.HasPrefix(found[i].Fix, "remove GOMAXPROCS=4 from its environment; if you want 4") != c.shared {
			t.Errorf("set by its code, shared %v: %+v", c.shared, found)
		}
	}
}

func TestValuesOfShared(t *testing.T) {
	for _, c := range []struct {
		cpus  float64
		procs []int
		want  []int
	}{
		{4, []int{4, 4}, []int{2, 2}},
		{4, []int{4, 4, 4}, []int{2, 1, 1}},
		{4, []int{4, 1}, []int{3, 1}},
		{3.5, []int{4, 4}, []int{2, 1}},
		{2, []int{2, 2, 2}, nil},
		{0.5, []int{1, 1}, nil},
		{16, []int{16, 4, 4}, []int{10, 3, 3}},
	} {
		together := Together{Limit: machine(64, c.cpus).Facts.Limits[0]}
		for _, p := range c.procs {
			together.Programs = append(together.Programs, Sharer{"x", p})
		}
		if got := together.values(); !slices.Equal(got, c.want) {
			t.Errorf("%g CPUs, %v: %v, want %v", c.cpus, c.procs, got, c.want)
		}
	}
}
