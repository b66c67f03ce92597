package main

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// house is a small workspace: verdict is used by its pages and by the command line, which
// uses everything.
func house() []testPackage {
	return []testPackage{
		{dir: "internal/show/number", uses: []string{"internal/show/number"}},
		{dir: "internal/verdict", uses: []string{"internal/verdict", "internal/show/number"}, more: []string{"TestMore"}},
		{dir: "internal/verdict/page", uses: []string{"internal/verdict/page", "internal/verdict", "internal/show/number"}, more: []string{"TestMore"}},
		{dir: "internal/check/source", uses: []string{"internal/check/source"}, more: []string{"TestMore"}},
		{dir: "internal/measure/session", uses: []string{"internal/measure/session", "internal/verdict"}},
		{dir: "internal/cli", uses: []string{"internal/cli", "internal/verdict", "internal/verdict/page", "internal/check/source", "internal/measure/session", "internal/measure/kube", "internal/host/cluster", "internal/show/number", "cmd/procfit"}, more: []string{"TestMore"}},
		{dir: "internal/host/start", uses: []string{"internal/host/start"}},
		{dir: "maxprocs/facts", uses: []string{"maxprocs/facts"}, more: []string{"TestMore"}},
		{dir: "test/automaxprocs", uses: []string{"test/automaxprocs", "maxprocs/facts"}, more: []string{"TestMore"}},
		{dir: "test/cluster", uses: []string{"test/cluster"}, more: []string{"TestMore"}},
		{dir: "test/release", uses: []string{"test/release", "maxprocs/facts"}, more: []string{"TestMore"}},
		{dir: "test/vm", uses: []string{"test/vm", "internal/host/supervisor"}, more: []string{"TestMore"}},
	}
}

func TestDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		changed                  []string
		plain, race              string
		code, library, other, in bool // in a cluster
		all                      string
	}{
		"a page of docs":               {changed: []string{"docs/index.md"}},
		"a page that a release shows":  {changed: []string{"docs/how-to/install.md"}, plain: "test/release"},
		"the README":                   {changed: []string{"README.md"}, plain: "internal/cli"},
		"the change log":               {changed: []string{"CHANGELOG.md"}},
		"a package that others use":    {changed: []string{"internal/verdict/answer.go"}, plain: "internal/cli internal/verdict internal/verdict/page", race: "internal/measure/session", code: true},
		"one that nothing differs in":  {changed: []string{"internal/show/number/rate.go"}, plain: "internal/cli internal/verdict internal/verdict/page", code: true},
		"testdata":                     {changed: []string{"internal/check/source/testdata/a/go.txt"}, plain: "internal/cli", race: "internal/check/source"},
		"a package without tests":      {changed: []string{"cmd/procfit/main.go"}, plain: "internal/cli test/release", code: true},
		"the library":                  {changed: []string{"maxprocs/facts/decide.go"}, plain: "test/automaxprocs test/vm", code: true, library: true},
		"what a cluster proves":        {changed: []string{"internal/measure/kube/run.go"}, plain: "internal/cli", code: true, in: true},
		"a test":                       {changed: []string{"internal/verdict/answer_test.go"}, plain: "internal/verdict", code: true},
		"a chart":                      {changed: []string{"deploy/helm/values.yaml"}, plain: "internal/cli", in: true},
		"a test in a cluster":          {changed: []string{"test/cluster/kill_linux_test.go"}, code: true, in: true},
		"what macOS has":               {changed: []string{"internal/host/start/start.go"}, code: true, other: true},
		"the recipe of a release":      {changed: []string{".goreleaser.yaml"}, plain: "test/release"},
		"what the code is compiled by": {changed: []string{"go.work"}, all: "go.work", code: true},
		"a file that no rule knows":    {changed: []string{"docs/a.md", "odd/file"}, all: "odd/file"},
		"the lane itself":              {changed: []string{".ci/run"}, all: ".ci/run"},
		"the analyzers":                {changed: []string{".ci/lint"}, code: true},
		"nothing":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(tc.changed, house())
			if (tc.all != "") != (d.all != "") || !strings.HasPrefix(d.all, tc.all) {
				t.Fatalf("everything is due since %q, want %q", d.all, tc.all)
			}
			if tc.all != "" {
				if !d.cluster() || !d.library || !d.code || !d.other || len(d.due) < 9 {
					t.Errorf("only %+v", d)
				}
				return
			}
			if got := strings.Join(d.plain(), " "); got != tc.plain {
				t.Errorf("plain: %q, want %q", got, tc.plain)
			}
			if got := strings.Join(d.race(), " "); got != tc.race {
				t.Errorf("race: %q, want %q", got, tc.race)
			}
			if want := tc.plain != "" || tc.race != "" || tc.library || tc.other || tc.in; d.tools != want {
				t.Errorf("tools: %v, want %v", d.tools, want)
			}
			if d.code != tc.code || d.library != tc.library || d.other != tc.other || d.cluster() != tc.in {
				t.Errorf("got %+v, want %+v", d, tc)
			}
		})
	}
}

// TestNoTestTwice: what is due runs plainly, or with the race detector, or as part of the
// library, or in the cluster, and never twice.
func TestNoTestTwice(t *testing.T) {
	d := everything("all", house())
	if len(d.due) != 10 { // all but those in which the tiers are the same and nothing is shared
		t.Errorf("due: %v", d.due)
	}
	ways := map[string]int{}
	for _, dir := range slices.Concat(d.plain(), d.race()) {
		ways[dir]++
	}
	for _, dir := range d.due {
		want := 1
		if dir == inCluster || strings.HasPrefix(dir, "maxprocs") {
			want = 0
		}
		if ways[dir] != want {
			t.Errorf("%s runs %d times", dir, ways[dir])
		}
	}
}

// TestCheck: a row of the tables that names a folder without tests is reported.
func TestCheck(t *testing.T) {
	if err := check(house()); err == nil || !strings.Contains(err.Error(), "which has no tests") {
		t.Errorf("the tables name folders that this workspace lacks: %v", err)
	}
}

// TestPackagesOf reads what go list prints: a package for each test program, with what the
// program is compiled from and the tests and scripts of it that the second tier runs.
func TestPackagesOf(t *testing.T) {
	root := t.TempDir()
	printed := strings.ReplaceAll(`{"ImportPath": "fmt", "Dir": "/go/src/fmt", "Standard": true}
{"ImportPath": "github.com/procfit/procfit/a", "Dir": "/r/a", "Deps": ["fmt"], "XTestGoFiles": []}
{"ImportPath": "github.com/procfit/procfit/test/need", "Dir": "/r/test/need", "GoFiles": ["need.go"]}
{"ImportPath": "github.com/procfit/procfit/b", "Dir": "/r/b", "Deps": ["fmt", "github.com/procfit/procfit/test/need"], "GoFiles": ["b.go"]}
{"ImportPath": "github.com/procfit/procfit/c", "Dir": "/r/c", "Deps": ["github.com/procfit/procfit/a"], "TestGoFiles": []}
{"ImportPath": "github.com/procfit/procfit/d", "Dir": "/r/d", "TestGoFiles": ["d_test.go"]}
{"ImportPath": "github.com/procfit/procfit/d [github.com/procfit/procfit/d.test]", "Dir": "/r/d", "TestGoFiles": ["d_test.go"]}
{"ImportPath": "github.com/procfit/procfit/d.test", "Dir": "/r/d", "Deps": ["fmt", "github.com/procfit/procfit/d [github.com/procfit/procfit/d.test]", "github.com/procfit/procfit/b", "github.com/procfit/procfit/test/need"]}
`, "/r", root)
	for name, text := range map[string]string{
		"test/need/need.go": `package need

func Full() bool                       { return os.Getenv("PROCFIT_REQUIRE") == "1" }
func Whole() bool                      { return os.Getenv("PROCFIT_FULL") == "1" }
func Command(t *testing.T, name string) { exec.LookPath(name) }
func Root(t *testing.T)                 { os.Geteuid() }
func Waiting(n int)                     {}
`,
		"b/b.go": `package b

import "github.com/procfit/procfit/test/need"

type Program struct{}

func (Program) Build(t *testing.T) { need.Command(t, "gcc") }
func (Program) Start(t *testing.T) {}
func Start(t *testing.T)           { need.Command(t, "go") }
func Tool(t *testing.T)            { need.Command(t, "gcc") }
`,
		"d/d_test.go": `package d

import (
	helper "github.com/procfit/procfit/b"
	"github.com/procfit/procfit/test/need"
)

var runs = need.Full()

type kept struct{}

func (kept) method(t *testing.T) { helper.Tool(t) }

func TestMain(m *testing.M)     { need.Waiting(8) }
func TestAsks(t *testing.T)     { need.Root(t) }
func TestReaches(t *testing.T)  { through(t) }
func through(t *testing.T)      { kept{}.method(t) }
func TestMethod(t *testing.T)   { program.Build(t) }
func TestVariable(t *testing.T) { _ = runs }
func TestSkips(t *testing.T)    { t.Skip("why") }
func TestScripts(t *testing.T)  { need.Full() }
func TestSame(t *testing.T)     { println("need.Root"); method(t); need.Whole() }
func TestGo(t *testing.T)       { need.Command(t, "go"); helper.Start(t); program.Start(t) }
func FuzzReads(f *testing.F)    { os.Getenv("PROCFIT_REQUIRE") }
`,
		"d/testdata/first.txtar":      "[!linux] skip\n[!need:git] skip\n",
		"d/testdata/second.txtar":     "x\n[!everything] stop 'why'\n",
		"d/testdata/alone/root.txtar": "[need:root] exec x\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		must.Write(t, file, text)
	}
	got := must.Get(packagesOf(root, []byte(printed)))(t)
	want := []testPackage{{
		dir: "d", uses: []string{"d", "b", "test/need"},
		more: []string{"FuzzReads", "TestAsks", "TestMethod", "TestReaches", "TestSkips", "TestVariable"}, scripts: []string{"root", "second"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := packagesOf(root, []byte(`{"ImportPath": `)); err == nil {
		t.Error("an incomplete list passes")
	}
}

// TestPattern: of the tests that are due all is run, and of the scripts those that are due.
func TestPattern(t *testing.T) {
	got := decision{tests: []string{"TestA", "TestB"}, scripts: []string{"live", "sweep"}}.pattern()
	if want := "^(TestA|TestB)$|^TestScripts(Alone)?$/^(live|sweep)$"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
