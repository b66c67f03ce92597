package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
)

// modulesTest is a tree of files with what is expected of it.
type modulesTest struct {
	dir                            string
	environ, want, problems, notes []string
	fixed                          []string
	saysFixed, saysNo              bool
}

func readModules(t *testing.T, path string) modulesTest {
	a := must.Get(txtar.ParseFile(path))(t)
	m, files := modulesTest{}, map[string]string{}
	lines := func(b []byte) []string { return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' }) }
	for _, f := range a.Files {
		switch f.Name {
		case "environ":
			m.environ = lines(f.Data)
		case "want":
			m.want = lines(f.Data)
		case "problems":
			m.problems = lines(f.Data)
		case "notes":
			m.notes, m.saysNo = lines(f.Data), true
		case "fixed":
			m.fixed, m.saysFixed = lines(f.Data), true
		default:
			files[f.Name] = string(f.Data)
		}
	}
	m.dir = written(t, files)
	return m
}

// TestModules holds trees of files against what their archive says of them: settings of
// a module, and all that can be wrong with loading one.
func TestModules(t *testing.T) {
	archives, err := filepath.Glob("testdata/modules/*.txtar")
	if err != nil || len(archives) < 20 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			m, parallel := readModules(t, path), true
			for _, v := range m.environ {
				if name, value, _ := strings.Cut(v, "="); name == "PATH" {
					t.Setenv(name, value) // by which the go command is found
					parallel = false
				}
			}
			if parallel {
				t.Parallel() // it waits for the go command
			}
			run := checked(t, []string{m.dir}, m.environ)
			r := must.Get(run(t.Context(), nil))(t)
			m.compare(t, r)
			if m.saysFixed {
				m.compareFixed(t, run)
			}
		})
	}
}

func (m modulesTest) rel(path string) string {
	rel, err := filepath.Rel(m.dir, filepath.FromSlash(path))
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func (m modulesTest) compare(t *testing.T, r *check.Report) {
	t.Helper()
	if len(r.Findings) != len(m.want) {
		t.Errorf("%d findings, want %d", len(r.Findings), len(m.want))
	}
	for i, f := range r.Findings {
		got := fmt.Sprintf("%s:%d %s %s: %s", m.rel(f.Path), f.Line, f.Rule, f.Severity, f.Message)
		head, words := "", ""
		if i < len(m.want) {
			head, words, _ = strings.Cut(m.want[i], ": ")
		}
		if head == "" || !strings.HasPrefix(got, head) || !strings.Contains(got, words) {
			t.Errorf("found  %s\nwanted %s: %s", got, head, words)
		}
	}
	var problems []string
	for _, p := range r.Problems {
		at := m.rel(p.Path)
		if p.Line > 0 {
			at += fmt.Sprint(":", p.Line)
		}
		problems = append(problems, at)
		t.Logf("%s: %s", at, p.Message)
	}
	if !slices.EqualFunc(problems, m.problems, strings.HasPrefix) {
		t.Errorf("problems at %v, want %v", problems, m.problems)
	}
	notes := phrase.Each(r.Notes, func(n check.Note) string { return m.rel(n.Path) })
	if m.saysNo && !slices.Equal(notes, m.notes) {
		t.Errorf("notes at %v, want %v", notes, m.notes)
	}
}

func (m modulesTest) compareFixed(t *testing.T, run func(context.Context, map[string][]byte) (*check.Report, error)) {
	t.Helper()
	r := must.Get(check.Fixer{Check: run, Least: rule.Info}.Run(t.Context()))(t)
	fixed := phrase.Each(r.Fixed, func(f check.Fixed) string { return m.rel(f.Path) })
	if !slices.Equal(fixed, m.fixed) {
		t.Errorf("fixed %v, want %v", fixed, m.fixed)
	}
}

// TestSlow holds that a go command which takes long is reported, once.
func TestSlow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the go command here is a script")
	}
	dir := written(t, map[string]string{"go.mod": "module example.org/m\n\ngo 1.25\n", "main.go": healthy})
	instead(t, "sleep 0.2\nexit 1")
	said := make(chan string, 9)
	k := New(Options{Environ: os.Environ(), Patience: time.Millisecond, Slow: func(message string) { said <- message }})
	r, err := check.Run(t.Context(), check.Options{Paths: []string{dir}, Checkers: []check.Checker{k}})
	if err != nil || len(r.Findings) != 1 {
		t.Fatalf("%v, %v", r, err)
	}
	if message := <-said; len(said) > 0 || !strings.Contains(message, "loading 1 Go package of ") || !strings.Contains(message, "--syntax") {
		t.Errorf("said %q, and %d more", message, len(said))
	}
}

// TestListedWithoutFiles: a go command that lists a server without its files, where nothing speaks of GOMAXPROCS.
func TestListedWithoutFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the go command here is a script")
	}
	dir := written(t, map[string]string{"go.mod": "module example.org/m\n\ngo 1.26\n", "main.go": "package main\n\nimport \"net/http\"\n\nfunc main() { _ = http.ListenAndServe(\":0\", nil) }\n"})
	instead(t, `case "$*" in *-json*) echo '{"ImportPath":"example.org/m","Error":{"Err":"no files"}}';; *) echo '[go1.26]';; esac`)
	r, err := checked(t, []string{dir}, nil)(t.Context(), nil)
	if err != nil || len(r.Findings)+len(r.Problems) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNamedFiles holds that a file which is named by itself has the findings that it has
// when its whole module is checked, but for those of go.mod, which is not named then.
func TestNamedFiles(t *testing.T) {
	for _, archive := range []string{"server", "server_grpc"} {
		m := readModules(t, "testdata/modules/"+archive+".txtar")
		whole, err := checked(t, []string{m.dir}, m.environ)(t.Context(), nil)
		must.OK(t, err)
		silent := 0
		err = filepath.WalkDir(m.dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			alone, err := checked(t, []string{path}, m.environ)(t.Context(), nil)
			if err != nil {
				return err
			}
			ofFile := slices.DeleteFunc(slices.Clone(whole.Findings), func(f check.Finding) bool { return f.Path != filepath.ToSlash(path) })
			silent += alone.Count(rule.Info)
			if !slices.EqualFunc(alone.Findings, ofFile, func(a, b check.Finding) bool { return a.Rule == b.Rule && a.Place == b.Place }) {
				t.Errorf("%s has %+v by itself, and %+v in its module", m.rel(path), alone.Findings, ofFile)
			}
			return nil
		})
		if err != nil || silent == 0 {
			t.Errorf("%s: %d findings, %v", archive, silent, err)
		}
	}
}

// TestPlacesInAnOverlay: a finding about main is at its line in what a fix has made.
func TestPlacesInAnOverlay(t *testing.T) {
	m := readModules(t, "testdata/modules/fix_moves_main.txtar")
	path := filepath.ToSlash(filepath.Join(m.dir, "main.go"))
	text := "package main\n\nimport \"net/http\"\n\nfunc main() {\n\t_ = http.ListenAndServe(\":0\", nil)\n}\n"
	r, err := checked(t, []string{m.dir}, m.environ)(t.Context(), map[string][]byte{path: []byte(text)})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Rule != "PF035" || r.Findings[0].Line != 5 {
		t.Errorf("%+v, %v; want PF035 in line 5", r.Findings, err)
	}
}

// TestConditionalCalls: what decides whether Set is called is not known, unless it is the environment.
func TestConditionalCalls(t *testing.T) {
	var got []string
	k := New(Options{Environ: os.Environ(), Automaxprocs: func(a Automaxprocs) {
		for _, c := range a.Calls {
			got = append(got, c.Open)
		}
	}})
	must.Get(check.Run(t.Context(), check.Options{Paths: []string{"testdata/corpus/new/automaxprocsif/main.go"}, Checkers: []check.Checker{k}}))(t)
	const open = "a condition decides whether its call of Set runs"
	if want := []string{open, "", open, ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDebugLines: of the lines of a program, which may be very many, only those count that decide whether it
// follows a limit.
func TestDebugLines(t *testing.T) {
	const line, n = "default=go1.24", 100_000
	many := strings.Repeat("//go:debug "+line+"\n", n)
	s := must.Get(scan("main.go", []byte(many+"//go:debug panicnil=1\n\npackage main\n")))(t)
	if len(s.debug) != n*len(line+",")-1 || !strings.HasPrefix(s.debug, line+",") || strings.Contains(s.debug, "panicnil") {
		t.Errorf("%d bytes, %.60q", len(s.debug), s.debug)
	}
}

// TestImportsOfTheLibrary: of its packages only some set GOMAXPROCS, report it, or change it at run time.
func TestImportsOfTheLibrary(t *testing.T) {
	for p, want := range map[string][3]bool{
		"": {true, true, false}, "/auto": {true, true, true}, "/metrics/auto": {true, true, true}, "/metrics": {false, true, false},
		"/live": {false, false, true}, "/memlimit": {}, "/memlimit/auto": {}, "/facts": {}, "/slogger": {}, "else": {},
	} {
		if got := [3]bool{setsWhenImported(pkgMaxprocs + p), exports(pkgMaxprocs + p), changesByImport(pkgMaxprocs + p)}; got != want {
			t.Errorf("maxprocs%s: sets, exports, changes %v; want %v", p, got, want)
		}
	}
}
