package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestMain is procfit's own processes, too.
func TestMain(m *testing.M) {
	for _, stage := range []func([]string) (int, bool){supervisor.Stage, source.Stage} {
		if code, ok := stage(os.Args); ok {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// The programs of a new go line and of an old one, as the go command lists them.
var (
	young = Program{Runs: true, version: "go1.26.8"}
	old   = Program{Runs: true, version: "go1.26.8", godebug: "containermaxprocs=0,updatemaxprocs=0"}
)

func TestChange(t *testing.T) {
	for _, tc := range []struct {
		name    string
		program Program
		calls   source.SetCall
		limit   float64 // 0: none
		want    string  // before → after effect cause keep
	}{
		{"a quarter", young, source.SetCall{}, 0.25, "1 → 2 higher limit_of_one maxprocs.Set() or GOMAXPROCS=1"},
		{"one", young, source.SetCall{}, 1, "1 → 2 higher limit_of_one maxprocs.Set() or GOMAXPROCS=1"},
		{"one and a half", young, source.SetCall{}, 1.5, "1 → 2 higher fraction maxprocs.Set(maxprocs.Round(maxprocs.Floor)) or GOMAXPROCS=1"},
		{"two", young, source.SetCall{}, 2, "2 → 2 same  "},
		{"two and a half", young, source.SetCall{}, 2.5, "2 → 3 higher fraction maxprocs.Set(maxprocs.Round(maxprocs.Floor)) or GOMAXPROCS=2"},
		{"without a limit", young, source.SetCall{}, 0, "all CPUs → all CPUs same  "},
		{"at least 2", young, source.SetCall{Min: 2}, 0.5, "2 → 2 same  "},
		{"at least 4", young, source.SetCall{Min: 4}, 2, "4 → 2 lower options maxprocs.Set(maxprocs.Min(4)) or GOMAXPROCS=4"},
		{"options open", young, source.SetCall{Open: "its Min is not a constant"}, 2, "not known → 2 unknown  "},
		{"an old go line", old, source.SetCall{}, 2, `2 → all CPUs higher limit_ignored import _ "github.com/procfit/procfit/maxprocs/auto", maxprocs.Set() or GOMAXPROCS=2`},
		{"an old go line, 2.5", old, source.SetCall{}, 2.5, "2 → all CPUs higher limit_ignored maxprocs.Set(maxprocs.Round(maxprocs.Floor)) or GOMAXPROCS=2"},
		{"an old Go", Program{version: "go1.24.6"}, source.SetCall{}, 0.5, `1 → all CPUs higher limit_ignored import _ "github.com/procfit/procfit/maxprocs/auto", maxprocs.Set() or GOMAXPROCS=1`},
		{"an old go line by go.mod alone", Program{language: "1.24"}, source.SetCall{}, 3, `3 → all CPUs higher limit_ignored import _ "github.com/procfit/procfit/maxprocs/auto", maxprocs.Set() or GOMAXPROCS=3`},
	} {
		c := change(subject(tc.program, manifest.Limited(tc.limit)), tc.calls, "")
		got := fmt.Sprintf("%s → %s %s %s %s", c.before, c.after, c.Effect, c.Cause, strings.Join(c.Keep, ", "))
		if i := strings.LastIndex(got, ", "); i >= 0 {
			got = got[:i] + " or " + got[i+2:]
		}
		if got != tc.want {
			t.Errorf("%s: %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// TestRounding holds the values before and after of each Go version, limit by limit, on a machine that has
// more CPUs than any of them.
func TestRounding(t *testing.T) {
	limits := []float64{0.1, 0.5, 1, 1.001, 1.5, 2, 2.001, 2.5, 3, 3.01, 3.5, 7.2, 8, 63.9}
	const (
		floor   = "1 1 1 1 1 2 2 2 3 3 3 7 8 63" // automaxprocs, at least 1
		floor3  = "3 3 3 3 3 3 3 3 3 3 3 7 8 63" // automaxprocs with Min(3)
		runtime = "2 2 2 2 2 2 3 3 3 4 4 8 8 64" // rounded up, at least 2
	)
	every := strings.TrimSpace(strings.Repeat(" all", len(limits)))
	const off = "containermaxprocs=0,updatemaxprocs=0"
	for _, tc := range []struct {
		name          string
		program       Program
		calls         source.SetCall
		before, after string
	}{
		{"go1.21", Program{version: "go1.21.13"}, source.SetCall{}, floor, every},
		{"go1.24", Program{version: "go1.24.6"}, source.SetCall{}, floor, every},
		{"go1.25.0", Program{version: "go1.25.0"}, source.SetCall{}, floor, runtime},
		{"go1.26", young, source.SetCall{}, floor, runtime},
		{"go1.27", Program{version: "go1.27.1"}, source.SetCall{}, floor, runtime},
		{"go1.26, go line 1.24", Program{version: "go1.26.8", godebug: off}, source.SetCall{}, floor, every},
		{"go1.26, go line 1.24, containermaxprocs=1", Program{version: "go1.26.8", godebug: "updatemaxprocs=0"}, source.SetCall{}, floor, runtime},
		{"by go.mod alone, 1.25", Program{language: "1.25"}, source.SetCall{}, floor, runtime},
		{"by go.mod alone, 1.23", Program{language: "1.23"}, source.SetCall{}, floor, every},
		{"go1.26, at least 3", young, source.SetCall{Min: 3}, floor3, runtime},
	} {
		var before, after []string
		for _, cpus := range limits {
			c := change(subject(tc.program, manifest.Limited(cpus)), tc.calls, "")
			before, after = append(before, strings.TrimSuffix(c.before, " CPUs")), append(after, strings.TrimSuffix(c.after, " CPUs"))
			if same := before[len(before)-1] == after[len(after)-1]; same != (c.Effect == EffectSame) {
				t.Errorf("%s, %v CPUs: %s → %s is %s", tc.name, cpus, c.before, c.after, c.Effect)
			}
		}
		if got := strings.Join(before, " "); got != tc.before {
			t.Errorf("%s, before: %s\nwant %s", tc.name, got, tc.before)
		}
		if got := strings.Join(after, " "); got != tc.after {
			t.Errorf("%s, after: %s\nwant %s\nof   %v", tc.name, got, tc.after, limits)
		}
	}
}

// What is not known is never the same value.
func TestChangeOpen(t *testing.T) {
	o := manifest.Limited(2)
	o.Facts.Env = facts.Fact{State: facts.Unreadable, Error: "a Secret"}
	if c := change(subject(young, o), source.SetCall{}, ""); c.Effect != EffectUnknown || c.Why == "" {
		t.Errorf("a variable of a Secret: %+v", c)
	}
	if c := change(subject(young, manifest.Limited(2)), source.SetCall{}, "something sets it"); c.Effect != EffectUnknown {
		t.Errorf("an open unit: %+v", c)
	}
	set := manifest.Limited(0.5)
	set.Facts.Env = facts.Fact{State: facts.Known, Raw: "500m"} // stops automaxprocs, and means nothing to the runtime
	if c := change(subject(young, set), source.SetCall{Open: "x"}, "y"); c.Effect != EffectSame || c.before != "2" {
		t.Errorf("an ignored variable: %+v", c)
	}
	set.AnyMachine, set.Facts.Affinity = false, facts.Fact{State: facts.Known, CPUs: 4}
	set.Facts.Env = facts.Fact{State: facts.Absent}
	set.Facts.Limits = manifest.Limited(8).Facts.Limits
	if c := change(subject(young, set), source.SetCall{}, ""); c.Cause != CauseAffinity || c.before != "8" || c.after != "4" {
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
	got := phrase.Each(r.Programs, func(p Program) string { return fmt.Sprint(p.Package, " ", p.Runs, " ", p.By, p.Calls, " ", p.Follows) })
	want := []string{
		"example.org/m/cmd/a true example.org/m/start with Min(2) true",
		"example.org/m/cmd/b true example.org/dep/boot with the options of a dependency, example.org/dep/boot false",
		"example.org/m/cmd/c false  true",
		"example.org/m/cmd/d true example.org/dep/blank true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	by := phrase.Each(r.Module.Imports, func(i Import) string { return i.Package + " " + i.Module })
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
		want  source.SetCall
	}{
		{nil, source.SetCall{}},
		{[]source.SetCall{{}, {}}, source.SetCall{}},
		{[]source.SetCall{{Min: 2}, {Min: 2}}, source.SetCall{Min: 2}},
		{[]source.SetCall{{Min: 2}, {}}, source.SetCall{Open: "several calls with different options"}},
	} {
		if got := together(tc.calls); got != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.calls, got, tc.want)
		}
	}
}

// module makes a module that imports automaxprocs, of files by their names, and is its folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	base := t.TempDir()
	all := map[string]string{
		"stub/go.mod": "module go.uber.org/automaxprocs\n\ngo 1.20\n", "stub/auto.go": "package automaxprocs\n",
		"m/go.mod":  "module example.org/m\n\ngo 1.26\n\nrequire go.uber.org/automaxprocs v1.6.0\n\nreplace go.uber.org/automaxprocs => ../stub\n",
		"m/main.go": "package main\n\nimport _ \"go.uber.org/automaxprocs\"\n\nfunc main() {}\n",
	}
	for name, text := range files {
		all["m/"+name] = text
	}
	for name, text := range all {
		must.Write(t, filepath.Join(base, filepath.FromSlash(name)), text)
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	return filepath.Join(base, "m")
}

// commit has git keep all files of a folder.
func commit(t *testing.T, dir string) {
	t.Helper()
	need.Command(t, "git")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"}} {
		must.Output(t, exec.Command("git", append([]string{"-C", dir}, args...)...))
	}
}

// fix looks at a module and removes automaxprocs.
func fix(t *testing.T, dir string) error {
	t.Helper()
	o := Options{Dir: dir, Environ: os.Environ()}
	r := must.Get(Look(t.Context(), o))(t)
	return r.Fix(t.Context(), o)
}

// holds are the files of a module by their names.
func holds(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	})
	must.OK(t, err)
	return all
}

// instead puts a script in front of the go command: what it does before a call that begins with
// some words.
func instead(t *testing.T, words, script string) {
	t.Helper()
	real := must.Get(exec.LookPath("go"))(t)
	dir := t.TempDir()
	text := "#!/bin/sh\ncase \"$*\" in '" + words + "'*)\n" + script + "\n;; esac\nexec " + real + " \"$@\"\n"
	must.OK(t, os.WriteFile(filepath.Join(dir, "go"), []byte(text), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// A fix that fails leaves every file as it is, also what procfit cannot read and what somebody has
// written meanwhile.
func TestFixFails(t *testing.T) {
	sum := strings.Repeat("example.org/x v1.0.0 h1:"+strings.Repeat("A", 43)+"=\n", 80_000) // 5.6 MB
	for _, tc := range []struct {
		name, words, script string
		files               map[string]string
		want                string
	}{
		{"a large go.sum", "mod tidy", "exit 1", map[string]string{"go.sum": sum}, "go mod tidy fails"},
		{"an edit, and a failure", "mod tidy", "echo '// edited' >> main.go; exit 1", nil, "go mod tidy fails"},
		{"an edit", "mod tidy", "echo '// edited' >> main.go", nil, "changed during the check"},
		{"an edit of go.mod", "mod tidy", "echo '// edited' >> go.mod", nil, "changed during the check"},
		{"a test of what is not there", "", "", map[string]string{"x_test.go": "package main\n\nimport _ \"example.org/nowhere\"\n"}, "go mod tidy fails"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := module(t, tc.files)
			before := holds(t, dir)
			if tc.words != "" {
				instead(t, tc.words, tc.script)
			}
			if err := fix(t, dir); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			after := holds(t, dir)
			for name, text := range before {
				got := strings.TrimSuffix(after[name], "// edited\n")
				if edited := got != after[name]; got != text || edited != strings.Contains(tc.script, ">> "+name) {
					t.Errorf("%s is %.80q, was %.80q", name, after[name], text)
				}
			}
			if len(after) != len(before) {
				t.Errorf("%d files, there were %d", len(after), len(before))
			}
		})
	}
}

// vendored is a vendor folder with automaxprocs.
var vendored = map[string]string{
	"vendor/modules.txt":                      "# go.uber.org/automaxprocs v1.6.0 => ../stub\n## explicit; go 1.20\ngo.uber.org/automaxprocs\n# go.uber.org/automaxprocs => ../stub\n",
	"vendor/go.uber.org/automaxprocs/auto.go": "package automaxprocs\n",
}

// A vendor folder is part of the commit, and of what is reported. One and git has no copy of it stays.
func TestFixVendor(t *testing.T) {
	dir := module(t, vendored)
	o := Options{Dir: dir, Environ: os.Environ()}
	r := must.Get(Look(t.Context(), o))(t)
	refused := func(want string) {
		t.Helper()
		before := holds(t, dir)
		if err := r.Fix(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if after := holds(t, dir); !maps.Equal(after, before) || len(r.Fixed) > 0 {
			t.Errorf("changed: %q, was %q", after, before)
		}
	}
	refused("and git has no copy of it: there is no git repository; try: git init && ")
	must.Write(t, dir+"/.gitignore", "vendor/\n")
	commit(t, dir+"/..") // of which the module is a folder
	refused("vendor/modules.txt: git does not have it: commit it first; try: git add -f vendor && ")
	must.Output(t, exec.Command("git", "-C", dir, "add", "-f", "vendor"))
	commit(t, dir+"/..")
	must.OK(t, r.Fix(t.Context(), o))
	for _, i := range r.steps().Items { // also from a folder outside of the repository
		must.Output(t, exec.Command("sh", "-c", i.Command))
	}
	if got, want := must.Output(t, exec.Command("git", "-C", dir, "status", "--porcelain", ".")), "M  m/go.mod\nM  m/main.go\nD  m/vendor/go.uber.org/automaxprocs/auto.go\nM  m/vendor/modules.txt\n"; got != want {
		t.Errorf("staged: %q, want %q", got, want)
	}
	fixed := strings.ReplaceAll(strings.Join(r.Fixed, " "), filepath.ToSlash(dir)+"/", "")
	if want := "main.go go.mod vendor"; fixed != want {
		t.Errorf("reported as changed: %s, want %s", fixed, want)
	}
	all := holds(t, dir)
	if strings.Contains(all["vendor/modules.txt"], "v1.6.0") || strings.Contains(all["go.mod"], "require") || strings.Contains(all["main.go"], "automaxprocs") {
		t.Errorf("%q", all)
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor", "go.uber.org")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder stays: %v", err)
	}
}

// A vendor folder that is not created again is what is left to do, also after an interruption.
func TestFixVendorFails(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		dir := module(t, vendored)
		commit(t, dir+"/..")
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		reached := filepath.Join(t.TempDir(), "reached")
		script := "exit 1"
		if interrupted {
			script = "touch " + reached + "; sleep 60"
			go func() {
				for {
					if _, err := os.Stat(reached); err == nil || ctx.Err() != nil {
						interrupt()
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
		instead(t, "mod vendor", script)
		o := Options{Dir: dir, Environ: os.Environ()}
		r := must.Get(Look(ctx, o))(t)
		err := r.Fix(ctx, o)
		left := "automaxprocs is removed, but the vendor folder is not up to date; try: GOWORK=off go -C " + filepath.ToSlash(dir) + " mod vendor"
		if err == nil || errors.Is(err, context.Canceled) != interrupted || !strings.HasPrefix(err.Error(), left) || r.Unvendored() != left {
			t.Errorf("interrupted %v: %v, %q, want %q", interrupted, err, r.Unvendored(), left)
		}
		commands := phrase.Each(r.steps().Items, func(i document.Item) string { return strings.ReplaceAll(i.Command, filepath.ToSlash(dir), "DIR") })
		if want := []string{"GOWORK=off go -C DIR mod vendor", "git -C DIR add -f -- main.go go.mod vendor"}; !slices.Equal(commands, want) || !strings.HasSuffix(r.Answer(), "so the module may not build.") {
			t.Errorf("interrupted %v: %q, %q, want %q", interrupted, r.Answer(), commands, want)
		}
	}
}

// Where the values are not known, somebody has to agree.
func TestDoubt(t *testing.T) {
	unknown := []LimitRow{{Change: Change{Effect: EffectUnknown, Why: "its Min is not a constant"}}}
	runs := []Program{{Runs: true}}
	two := []Program{{Package: "m/api", Runs: true}, {Package: "m/worker", Runs: true}, {Package: "m/tool"}}
	for name, tc := range map[string]struct {
		report Report
		want   string // "": nobody is asked
	}{
		"the same":     {Report{Programs: runs, Limits: []LimitRow{{Change: Change{Effect: EffectSame}}}}, ""},
		"open options": {Report{Programs: runs, Limits: unknown}, "its Min is not a constant"},
		"a library":    {Report{}, "no program of this module"},
		"one of two":   {Report{Module: Module{Path: "m"}, manifests: true, Programs: two, Workloads: []Workload{{program: "m/api", Change: Change{Effect: EffectSame}}}}, "no container is known to run worker"},
		"both":         {Report{manifests: true, Programs: two, Workloads: []Workload{{program: "m/api"}, {program: "m/worker"}}}, ""},
		"named":        {Report{manifests: true, Programs: two, Workloads: []Workload{{program: "m/api"}, {}}}, ""},
		"not listed":   {Report{Programs: runs, Problems: []check.Problem{{Path: "go.mod", Message: "go list fails"}}}, "not everything could be read"},
	} {
		if got := tc.report.Doubt(); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// What is not judged is named, and never taken for nothing.
func TestLeftOver(t *testing.T) {
	const uses = "import _ \"go.uber.org/automaxprocs\"\n"
	dir := module(t, map[string]string{
		"main.go":           "package main\n\nfunc main() {}\n",
		"x_windows.go":      "package main\n\n" + uses,
		"tagged.go":         "//go:build special\n\npackage main\n\n" + uses,
		"main_test.go":      "package main\n\n" + uses,
		"testdata/a/a.go":   "package a\n\n" + uses,
		"sub/go.mod":        "module example.org/sub\n\ngo 1.26\n",
		"sub/sub.go":        "package sub\n\n" + uses,
		"node_modules/n.go": "package n\n\n" + uses,
	})
	r := must.Get(Look(t.Context(), Options{Dir: dir, Environ: os.Environ()}))(t)
	got := phrase.Each(r.Module.Imports, func(i Import) string {
		return fmt.Sprint(strings.TrimPrefix(i.Path, dir+"/"), " ", i.Removable, " ", i.Why)
	})
	want := []string{
		"main_test.go false it is a test",
		"node_modules/n.go false git ignores it, or it is in a folder that procfit check skips",
		"tagged.go false it is built for another system or with other tags",
		"x_windows.go false it is built for another system or with other tags",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	notes := phrase.Each(r.Notes, func(n Place) string { return strings.TrimPrefix(n.Path, dir+"/") + " " + n.Message })
	for _, want := range []string{"testdata/a/a.go imports automaxprocs, and is not looked at", "sub is another module"} {
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("%q lack %q", notes, want)
		}
	}
	if r.Removable || !strings.Contains(r.NotRemovable(), "main_test.go:3 is not looked at") {
		t.Errorf("removable %v, %s", r.Removable, r.NotRemovable())
	}
}

// The fixes of a folder are those of its module.
func TestFixNested(t *testing.T) {
	dir := module(t, map[string]string{
		"sub/go.mod": "module example.org/sub\n\ngo 1.26\n\nrequire go.uber.org/automaxprocs v1.6.0\n\nreplace go.uber.org/automaxprocs => ../../stub\n",
		"sub/sub.go": "package sub\n\nimport _ \"go.uber.org/automaxprocs\"\n",
	})
	before := holds(t, dir)["sub/sub.go"]
	must.OK(t, fix(t, dir))
	if all := holds(t, dir); all["sub/sub.go"] != before || strings.Contains(all["main.go"], Path) {
		t.Errorf("%q", all)
	}
}

// The go command is not asked where it would read what is elsewhere.
func TestLinks(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must.OK(t, os.WriteFile(secret, []byte("ghp_TOKEN\n"), 0o600))
	with := "module example.org/m\n\ngo 1.26\n\nrequire example.org/r v1.0.0\n\nreplace example.org/r => ./r\n"
	for link, files := range map[string]map[string]string{
		"x.go":               nil,
		"x.s":                nil,
		"vendor/modules.txt": {"vendor/x": ""},
		"go.sum":             nil,
		"r/go.mod":           {"go.mod": with, "r/r.go": "package r\n"},
		"other/go.mod":       {"go.work": "go 1.26\n\nuse (\n\t.\n\t./other\n)\n", "other/x": ""},
		"go.work.sum":        {"go.work": "go 1.26\n\nuse .\n"},
	} {
		t.Run(link, func(t *testing.T) {
			dir := module(t, files)
			t.Setenv("GOWORK", "")
			must.OK(t, os.Symlink(secret, filepath.Join(dir, filepath.FromSlash(link))))
			o := Options{Dir: dir, Environ: os.Environ()}
			r := must.Get(Look(t.Context(), o))(t)
			if text := fmt.Sprint(r.Problems, r.Notes); !strings.Contains(text, "is outside of the folder") || strings.Contains(text, "TOKEN") {
				t.Errorf("%s", text)
			}
			if err := r.Fix(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is outside of the folder") {
				t.Errorf("a fix: %v", err)
			}
		})
	}
}

// TestTypical: the table has a row for each limit; TestRounding has the values.
func TestTypical(t *testing.T) {
	r := &Report{Programs: []Program{young}}
	r.limits()
	if len(r.Limits) != len(typical) {
		t.Fatalf("%d rows", len(r.Limits))
	}
	if got, want := r.Differ(), []float64{0.25, 0.5, 1, 1.5, 2.5, 7.5}; !slices.Equal(got, want) {
		t.Errorf("they differ at %v, want %v", got, want)
	}
}

// TestOldRelease: before v1.5.1 automaxprocs does nothing on cgroup v2.
func TestOldRelease(t *testing.T) {
	for version, want := range map[string]string{"v1.4.0": "automaxprocs v1.4.0 reads the limits of cgroup v1 only", "v1.5.1": ""} {
		dir := t.TempDir()
		must.Write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n\nrequire go.uber.org/automaxprocs "+version+"\n")
		r := &Report{}
		must.OK(t, r.module(Options{Dir: dir}, folder.NewTree(dir)))
		if got := fmt.Sprint(r.Notes); !strings.Contains(got, want) || (want == "") != (len(r.Notes) == 0) {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// TestContainers: a container that the user names runs the program of its own name, or one that runs
// automaxprocs.
func TestContainers(t *testing.T) {
	r := &Report{Programs: []Program{{Package: "example.org/m/cmd/api", Runs: true}, {Package: "example.org/m/cmd/tool"}}}
	all, _ := r.candidates(Options{Containers: []string{"tool", "app", "api"}})
	got := phrase.Each(all, func(c check.Candidate) string { return strings.Join(c.Names, " ") })
	if want := []string{"api app", "tool"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMissing: that a program runs in no container that is known is neither "nothing changes" nor agreed to.
func TestMissing(t *testing.T) {
	const runs = "package main\n\nimport _ \"go.uber.org/automaxprocs\"\n\nfunc main() {}\n"
	dir := module(t, map[string]string{"main.go": "package m\n", "cmd/api/main.go": runs, "cmd/worker/main.go": runs})
	file := filepath.Join(t.TempDir(), "pods.yaml")
	must.Write(t, file, "apiVersion: v1\nkind: Pod\nmetadata: {name: shop}\nspec:\n  containers:\n"+
		"  - {name: api, image: x/api, resources: {limits: {cpu: 2}}}\n  - {name: jobs, image: x/jobs, resources: {limits: {cpu: 2}}}\n")
	unit := filepath.Join(t.TempDir(), "jobs.service")
	must.Write(t, unit, "[Service]\nExecStart=/usr/bin/jobs\nCPUQuota=200%\n")
	for _, tc := range []struct {
		file         string
		named        []string
		doubt, label string
		answer       string
	}{
		{file, nil, "no container is known to run cmd/worker", "not known", "1 container has the same GOMAXPROCS without automaxprocs. No container is known to run cmd/worker: name those that do with --container."},
		{file, []string{"jobs"}, "", "nothing changes", "Nothing changes: 2 containers have the same GOMAXPROCS without automaxprocs."},
		{unit, []string{"jobs"}, "", "nothing changes", "Nothing changes: 1 container has the same GOMAXPROCS without automaxprocs."},
	} {
		r := must.Get(Look(t.Context(), Options{Dir: dir, Environ: os.Environ(), Manifests: []string{tc.file}, Containers: tc.named}))(t)
		if r.Doubt() != tc.doubt || r.Answer() != tc.answer || r.answer().Label != tc.label {
			t.Errorf("%q: %q, %q, %q; want %+v", tc.named, r.Doubt(), r.Answer(), r.answer().Label, tc)
		}
		if text := string(must.Get(r.JSON())(t)); strings.Contains(text, "no container is known to run cmd/worker: name") != (tc.doubt != "") {
			t.Errorf("%q: %s, want %q", tc.named, text, tc.doubt)
		}
	}
}
