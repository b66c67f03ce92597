package migrate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/maxprocs/facts"
)

// The programs of a new go line and of an old one, as the go command lists them.
var (
	young = Program{Runs: true, version: "go1.26.8"}
	old   = Program{Runs: true, version: "go1.26.8", godebug: "containermaxprocs=0,updatemaxprocs=0"}
)

func TestChange(t *testing.T) {
	for _, tc := range []struct {
		name    string
		program Program
		calls   Calls
		limit   float64 // 0: none
		want    string  // before → after effect cause keep
	}{
		{"a quarter", young, Calls{}, 0.25, "1 → 2 higher limit_of_one maxprocs.Set() or GOMAXPROCS=1"},
		{"one", young, Calls{}, 1, "1 → 2 higher limit_of_one maxprocs.Set() or GOMAXPROCS=1"},
		{"one and a half", young, Calls{}, 1.5, "1 → 2 higher fraction maxprocs.Set(maxprocs.Round(maxprocs.Floor)) or GOMAXPROCS=1"},
		{"two", young, Calls{}, 2, "2 → 2 same  "},
		{"two and a half", young, Calls{}, 2.5, "2 → 3 higher fraction maxprocs.Set(maxprocs.Round(maxprocs.Floor)) or GOMAXPROCS=2"},
		{"without a limit", young, Calls{}, 0, "all CPUs → all CPUs same  "},
		{"at least 2", young, Calls{Min: 2}, 0.5, "2 → 2 same  "},
		{"at least 4", young, Calls{Min: 4}, 2, "4 → 2 lower options maxprocs.Set(maxprocs.Min(4)) or GOMAXPROCS=4"},
		{"rounded up", young, Calls{Rounding: facts.Ceil}, 2.5, "3 → 3 same  "},
		{"rounded up, one", young, Calls{Rounding: facts.Ceil}, 1, "1 → 2 higher limit_of_one maxprocs.Set() or GOMAXPROCS=1"},
		{"options open", young, Calls{Open: "its Min is not a constant"}, 2, "not known → 2 unknown  "},
		{"an old go line", old, Calls{}, 2, `2 → all CPUs higher limit_ignored import _ "github.com/procfit/procfit/maxprocs/auto", maxprocs.Set() or GOMAXPROCS=2`},
		{"an old go line, 2.5", old, Calls{}, 2.5, "2 → all CPUs higher limit_ignored maxprocs.Set(maxprocs.Round(maxprocs.Floor)) or GOMAXPROCS=2"},
		{"an old Go", Program{version: "go1.24.6"}, Calls{}, 0.5, `1 → all CPUs higher limit_ignored import _ "github.com/procfit/procfit/maxprocs/auto", maxprocs.Set() or GOMAXPROCS=1`},
		{"an old go line by go.mod alone", Program{language: "1.24"}, Calls{}, 3, `3 → all CPUs higher limit_ignored import _ "github.com/procfit/procfit/maxprocs/auto", maxprocs.Set() or GOMAXPROCS=3`},
	} {
		c := change(subject(tc.program, check.Unit{Observed: limited(tc.limit)}), tc.calls, "")
		got := fmt.Sprintf("%s → %s %s %s %s", c.before, c.after, c.Effect, c.Cause, strings.Join(c.Keep, ", "))
		if i := strings.LastIndex(got, ", "); i >= 0 {
			got = got[:i] + " or " + got[i+2:]
		}
		if got != tc.want {
			t.Errorf("%s: %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// What is not known is never the same value.
func TestChangeOpen(t *testing.T) {
	o := limited(2)
	o.Facts.Env = facts.Fact{State: facts.Unreadable, Error: "a Secret"}
	if c := change(subject(young, check.Unit{Observed: o}), Calls{}, ""); c.Effect != EffectUnknown || c.Why == "" {
		t.Errorf("a variable of a Secret: %+v", c)
	}
	if c := change(subject(young, check.Unit{Observed: limited(2)}), Calls{}, "something sets it"); c.Effect != EffectUnknown {
		t.Errorf("an open unit: %+v", c)
	}
	set := limited(0.5)
	set.Facts.Env = facts.Fact{State: facts.Known, Raw: "500m"} // stops automaxprocs, and means nothing to the runtime
	if c := change(subject(young, check.Unit{Observed: set}), Calls{Open: "x"}, "y"); c.Effect != EffectSame || c.before != "2" {
		t.Errorf("an ignored variable: %+v", c)
	}
	set.AnyMachine, set.Facts.Affinity = false, facts.Fact{State: facts.Known, CPUs: 4}
	set.Facts.Env = facts.Fact{State: facts.Absent}
	set.Facts.Limits = limited(8).Facts.Limits
	if c := change(subject(young, check.Unit{Observed: set}), Calls{}, ""); c.Cause != CauseAffinity || c.before != "8" || c.after != "4" {
		t.Errorf("a limit above the CPUs: %+v", c)
	}
}

// TestGraph finds who imports automaxprocs, and by whom a program does.
func TestGraph(t *testing.T) {
	line := func(words ...string) string { return strings.Join(words, "\t") + "\n" }
	const m, dep = "example.org/m", "example.org/dep"
	out := line(Path+"/maxprocs", "maxprocs", Path, "v1.6.0", "false", "", "", "") +
		line(Path, "automaxprocs", Path, "v1.6.0", "false", "", Path+"/maxprocs", "") +
		line(dep+"/boot", "boot", dep, "v1.2.3", "false", "", Path+"/maxprocs", "") +
		line(dep+"/blank", "blank", dep, "v1.2.3", "false", "", Path, "") +
		line(m+"/start", "start", m, "", "true", "", Path+"/maxprocs fmt", "") +
		line(m+"/cmd/a", "main", m, "", "true", "", m+"/start", "") +
		line(m+"/cmd/b", "main", m, "", "true", "containermaxprocs=0", dep+"/boot", "") +
		line(m+"/cmd/c", "main", m, "", "true", "", "fmt", "") +
		line(m+"/cmd/d", "main", m, "", "true", "", dep+"/blank", "") +
		"no line of it\n"
	all := parseList([]byte(out))
	if len(all) != 9 {
		t.Fatalf("%d packages", len(all))
	}
	r := &Report{Module: Module{Path: m, Builds: "go1.26.8"}}
	r.graph(all, []source.Automaxprocs{{Package: m + "/start", Calls: []source.SetCall{{Min: 2}}}})
	var got []string
	for _, p := range r.Programs {
		got = append(got, fmt.Sprint(p.Package, " ", p.Runs, " ", p.By, p.Calls, " ", p.Follows))
	}
	want := []string{
		"example.org/m/cmd/a true example.org/m/start with Min(2) true",
		"example.org/m/cmd/b true example.org/dep/boot with the options of a dependency, example.org/dep/boot false",
		"example.org/m/cmd/c false  true",
		"example.org/m/cmd/d true example.org/dep/blank true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	var by []string
	for _, i := range r.Module.Imports {
		by = append(by, i.Package+" "+i.Module)
	}
	if want := []string{"example.org/dep/boot example.org/dep@v1.2.3", "example.org/dep/blank example.org/dep@v1.2.3"}; !slices.Equal(by, want) {
		t.Errorf("%q, want %q", by, want)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte("a\tmain\tm\tv1\ttrue\tx=1\tfmt os\t\"no such\\nfile\"\n"))
	f.Add([]byte("\t\t\t\t\t\t\t\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, p := range parseList(out) {
			if p.path == "" {
				t.Errorf("%q: a package without a path", out)
			}
		}
		(&Report{}).graph(parseList(out), nil)
	})
}

func TestTogether(t *testing.T) {
	for _, tc := range []struct {
		calls []source.SetCall
		want  Calls
	}{
		{nil, Calls{}},
		{[]source.SetCall{{}, {Min: 1, Rounding: facts.Floor}}, Calls{}},
		{[]source.SetCall{{Min: 2}, {Min: 2}}, Calls{Min: 2}},
		{[]source.SetCall{{Min: 2}, {}}, Calls{Open: "several calls with different options"}},
	} {
		if got := together(tc.calls); got != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.calls, got, tc.want)
		}
	}
}

// TestReadable refuses a link that leads out of the module.
func TestReadable(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "x.go")
	if err := os.WriteFile(out, []byte("package x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(dir, "x.go")); err != nil {
		t.Fatal(err)
	}
	if err := readable(dir, folder.NewTree(dir)); err == nil {
		t.Error("a link out of the module is followed")
	}
}

// TestTypical holds the table against the two rules.
func TestTypical(t *testing.T) {
	r := &Report{Programs: []Program{young}}
	r.limits()
	if len(r.Limits) != len(typical) {
		t.Fatalf("%d rows", len(r.Limits))
	}
	for _, l := range r.Limits {
		if l.Limit == nil {
			continue
		}
		before, after := int(max(1, math.Floor(*l.Limit))), int(max(2, math.Ceil(*l.Limit)))
		if *l.Before != before || *l.After != after {
			t.Errorf("%g: %d → %d, want %d → %d", *l.Limit, *l.Before, *l.After, before, after)
		}
	}
	if got, want := r.Differ(), []float64{0.25, 0.5, 1, 1.5, 2.5, 7.5}; !slices.Equal(got, want) {
		t.Errorf("they differ at %v, want %v", got, want)
	}
}
