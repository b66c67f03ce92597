// Package internal_test holds the house together: who may import whom, and how large
// a room is.
package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/procfit/procfit"

// shared are the small rooms that every package of the tool may go to.
var shared = []string{"phrase", "cpuset", "show/number"}

// anything stands for every package but main and the test helpers.
const anything = "*"

// mayImport names, for each package, what of ours its files may import. Names
// are relative to internal, but for maxprocs and cmd. A row holds for the
// packages below it too, which may also import one another and the row's own;
// the longest row that fits counts. A package without a row fails the test:
// give it one, as narrow as it can be.
var mayImport = map[string][]string{
	"maxprocs":      {}, // and not its facts, which a program that sets a number has no need of
	"phrase":        {},
	"cpuset":        {},
	"show/number":   {},
	"topology":      {},
	"folder":        {},
	"race":          {},
	"secret":        {},
	"container":     {},
	"schedtrace":    {},
	"exectrace":     {},
	"axis":          {},
	"page":          {},
	"terminal":      {},
	"journal":       {"folder", "slo"},
	"live":          {"report", "report/html"},
	"rule":          {"maxprocs/facts"},
	"goproc":        {"maxprocs/facts", "procstat"},
	"procstat":      {},
	"cgroup":        {"maxprocs/facts", "procstat"},
	"load":          {},
	"load/foreign":  {"load", "journal"},
	"load/requests": {"load"},
	"slo":           {},
	"supervisor":    {"cgroup", "procstat"},
	"toolchain":     {"supervisor"},
	"gobench":       {"toolchain"},
	"ready":         {"supervisor"},
	"target":        {"supervisor", "ready"},
	"observe":       {"goproc", "procstat", "maxprocs/facts", "rule"},
	"heat":          {"journal", "race"},
	"sweep":         {"journal", "slo", "load", "ready", "gobench", "heat", "race"},
	"trial":         {"journal", "heat", "slo", "load", "load/foreign", "gobench"},
	"trial/course":  {"sweep", "trial", "journal", "slo", "load"},
	"local":         {"sweep", "trial", "trial/course", "journal", "load", "load/foreign", "ready", "target", "supervisor", "gobench", "toolchain", "cgroup", "observe", "topology"},
	"kube":          {"sweep", "trial", "trial/course", "journal", "load", "observe", "secret", "canary", "maxprocs/facts"},
	"canary":        {"journal", "folder", "stat"},
	"prometheus":    {},
	"image":         {},
	"sim":           {"sweep", "trial", "journal", "load"},
	"check":         {"rule", "maxprocs/facts", "folder"},
	"stat":          {"journal", "heat", "race", "slo"},
	"report":        {"heat", "slo", "stat", "journal", "axis", "lab", "canary"},
	"session":       {"sweep", "topology", "load", "ready", "journal", "folder", "secret", "procstat", "maxprocs/facts", "stat", "report/files"},
	"ps":            {"observe", "rule", "maxprocs/facts", "terminal"},
	"explain":       {"rule", "maxprocs/facts", "maxprocs/memlimit", "cgroup", "terminal"},
	"start":         {},
	"tui":           {"observe", "rule", "ps"},
	"exporter":      {"observe", "rule", "container", "ps", "page"},
	"tracing":       {"schedtrace", "schedtrace/view", "schedtrace/text", "schedtrace/html", "exectrace", "exectrace/text", "exectrace/svg", "supervisor", "terminal"},
	"lab":           {"sweep", "load", "journal", "stat"},
	"cli":           {anything},
	"cmd":           {"cli"},
	"golangci":      {"check/source", "rule"}, // public, since others' builds import it

	"maxprocs/facts":    {"maxprocs"},
	"maxprocs/metrics":  {"maxprocs/facts"},
	"maxprocs/memlimit": {"maxprocs/facts"},
	"check/output":      {"rule", "terminal"},
	"check/manifest":    {"rule", "maxprocs/facts", "folder"},
	"check/source":      {"rule", "maxprocs/facts"},
	"check/binary":      {"rule", "maxprocs/facts", "goproc", "folder"},
	"check/cluster":     {"rule", "check/manifest", "container"},

	// Renderers place a View: what it says is made before.
	"report/text":     {"terminal"},
	"report/markdown": {},
	"report/html":     {"page"},
	"report/bench":    {"stat"},
	"report/files":    {"report", "report/text", "report/markdown", "report/html", "report/bench", "stat", "lab", "canary", "folder"},

	"schedtrace/view": {"axis"},
	"schedtrace/text": {"schedtrace/view", "terminal"},
	"schedtrace/html": {"schedtrace/view", "page"},
	"exectrace/text":  {"terminal"},
	"exectrace/svg":   {"axis"},

	"lab/run":  {"lab", "session", "sweep", "local", "toolchain", "supervisor", "tracing", "journal", "folder", "report/files"},
	"lab/pods": {"lab", "lab/run", "kube", "session", "sweep", "local", "check", "check/manifest", "rule", "folder"},

	"need":              {},
	"load/loadtest":     {},
	"race/racetest":     {"race"},
	"stat/stattest":     {"journal"},
	"report/reporttest": {"stat", "stat/stattest", "journal", "lab", "canary"},
	"goproc/goproctest": {"need"},

	"check/binary/binarytest": {},
	"test":                    {"need"},
	"test/cluster":            {},
	"test/cluster/run":        {"test/cluster"},
}

// testHelpers may be imported by tests alone, and by one another as their rows
// say.
var testHelpers = []string{"need", "load/loadtest", "race/racetest", "stat/stattest", "report/reporttest", "goproc/goproctest", "check/binary/binarytest", "test", "test/cluster", "test/cluster/run"}

func TestImports(t *testing.T) {
	problems, packages, err := checkImports(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	// A checker that looks in the wrong place finds nothing to complain of.
	for _, want := range []string{"maxprocs", "journal", "need"} {
		if !slices.Contains(packages, want) {
			t.Errorf("package %s was not looked at, only %v", want, packages)
		}
	}
}

// checkImports holds every Go file that is no test against the table, for all
// systems alike. Modules of their own are left out, but for maxprocs.
func checkImports(root fs.FS) (problems, packages []string, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(root, name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		from := shortName(path.Dir(name))
		if !slices.Contains(packages, from) {
			packages = append(packages, from)
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, b, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
			}
			if to, ours := strings.CutPrefix(imported, module+"/"); ours {
				if why := forbidden(from, shortName(to)); why != "" {
					problems = append(problems, name+": "+why)
				}
			}
		}
		if rowOf(from) == "" {
			problems = append(problems, fmt.Sprintf("%s: package %s has no row in mayImport", name, from))
		}
		return nil
	})
	return problems, packages, err
}

func skipDir(root fs.FS, name string) error {
	base := path.Base(name)
	if name == "." {
		return nil
	}
	if base == "testdata" || base == "results" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil && name != "maxprocs" {
		return fs.SkipDir
	}
	return nil
}

// shortName is the table's name of a directory or of an import path below the
// module.
func shortName(dir string) string { return strings.TrimPrefix(dir, "internal/") }

// rowOf is the longest row that the package is in or below.
func rowOf(pkg string) string {
	for p := pkg; p != "." && p != "/"; p = path.Dir(p) {
		if _, ok := mayImport[p]; ok {
			return p
		}
	}
	return ""
}

// forbidden says why from may not import to, or nothing.
func forbidden(from, to string) string {
	row, target := rowOf(from), rowOf(to)
	switch {
	case slices.Contains(testHelpers, target) && !slices.Contains(testHelpers, row):
		return fmt.Sprintf("imports %s, which is for tests alone", to)
	case target != "" && target == row:
		return ""
	case slices.Contains(shared, target) && row != "" && row != "maxprocs" && !slices.Contains(shared, row):
		return ""
	case slices.Contains(mayImport[row], anything) && target != "cmd" && !slices.Contains(testHelpers, target):
		return ""
	case target != "" && slices.Contains(mayImport[row], target):
		return ""
	case row != target && strings.HasPrefix(row, target+"/") && target != "":
		return "" // a helper of the package that it lies in
	}
	return fmt.Sprintf("package %s may not import %s; it may import %v", from, to, mayImport[row])
}

// Sizes beyond which a file or a function has a second noun, as a rule.
const (
	longestFile     = 350
	longestFunction = 60
	mostParameters  = 5
)

// larger are those that may be, with the reason.
var larger = map[string]string{"internal/lab/experiments.go: List": "a table"}

// alone are programs that are each to be read by itself, in one file.
const alone = "internal/lab/programs/"

func TestSizes(t *testing.T) {
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(os.DirFS(".."), name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, alone) {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "../"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if n := set.File(file.Pos()).LineCount(); n > longestFile {
			t.Errorf("%s has %d lines, more than %d: a second noun?", name, n, longestFile)
		}
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || larger[name+": "+f.Name.Name] != "" {
				continue
			}
			if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > longestFunction {
				t.Errorf("%s: %s has %d lines, more than %d", name, f.Name.Name, n, longestFunction)
			}
			if n := f.Type.Params.NumFields(); n > mostParameters {
				t.Errorf("%s: %s has %d parameters, more than %d", name, f.Name.Name, n, mostParameters)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckImports(t *testing.T) {
	imports := func(names ...string) string {
		out := "package x\n"
		for _, n := range names {
			out += fmt.Sprintf("import %q\n", n)
		}
		return out
	}
	ours := func(name string) string { return module + "/internal/" + name }
	for name, tc := range map[string]struct {
		file, text string
		want       string // in the one problem; "" for none
	}{
		"an edge of the table":       {"internal/local/a.go", imports(ours("sweep"), ours("journal"), "fmt"), ""},
		"an edge that is not":        {"internal/stat/a.go", imports(ours("sweep")), "package stat may not import sweep"},
		"journal imports nothing":    {"internal/journal/a.go", imports(ours("stat")), "may not import stat"},
		"another system's file":      {"internal/journal/a_windows.go", imports(ours("stat")), "a_windows.go"},
		"behind a build tag":         {"internal/journal/a.go", "//go:build never\n\n" + imports(ours("stat")), "may not import stat"},
		"in a test":                  {"internal/stat/a_test.go", imports(ours("sweep"), ours("need")), ""},
		"a helper in a program":      {"internal/stat/a.go", imports(ours("need")), "for tests alone"},
		"a helper in cli":            {"internal/cli/a.go", imports(ours("stat/stattest")), "for tests alone"},
		"a helper of its package":    {"internal/stat/stattest/a.go", imports(ours("stat"), ours("journal")), ""},
		"a helper too wide":          {"internal/stat/stattest/a.go", imports(ours("sweep")), "may not import sweep"},
		"a helper to a helper":       {"test/vm/a.go", imports(ours("need")), ""},
		"an emulator in a program":   {"internal/local/a.go", imports(module + "/test/vm"), "for tests alone"},
		"renderer to view":           {"internal/report/html/a.go", imports(ours("report")), ""},
		"renderer to result":         {"internal/report/html/a.go", imports(ours("stat")), "report/html may not import stat"},
		"renderer to journal":        {"internal/report/html/a.go", imports(ours("journal")), "report/html may not import journal"},
		"below an allowed package":   {"internal/local/a.go", imports(ours("load/wrk")), ""},
		"no row":                     {"internal/util/a.go", imports("fmt"), "util has no row"},
		"to a package without row":   {"internal/stat/a.go", imports(ours("util")), "may not import util"},
		"cli to all":                 {"internal/cli/a.go", imports(ours("report/html"), module+"/maxprocs"), ""},
		"main to cli":                {"cmd/procfit/main.go", imports(ours("cli")), ""},
		"main past cli":              {"cmd/procfit/main.go", imports(ours("sweep")), "may not import sweep"},
		"to a shared room":           {"internal/journal/a.go", imports(ours("phrase")), ""},
		"a shared room to another":   {"internal/phrase/a.go", imports(ours("cpuset")), "may not import cpuset"},
		"the library to a shared":    {"maxprocs/a.go", imports(ours("phrase")), "may not import phrase"},
		"the library to the tool":    {"maxprocs/auto/a.go", imports(ours("rule")), "may not import rule"},
		"the library to itself":      {"maxprocs/auto/a.go", imports(module + "/maxprocs"), ""},
		"a module of its own":        {"test/browser/a.go", imports(ours("report")), ""},
		"testdata":                   {"internal/journal/testdata/a.go", imports(ours("stat")), ""},
		"outside of the two trees":   {"tools/a.go", imports("fmt"), "tools has no row"},
		"a name that only begins so": {"internal/statistics/a.go", imports("fmt"), "statistics has no row"},
	} {
		root := fstest.MapFS{
			"maxprocs/go.mod":     {},
			"test/browser/go.mod": {},
			tc.file:               {Data: []byte(tc.text)},
		}
		problems, _, err := checkImports(root)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := strings.Join(problems, "; "); !strings.Contains(got, tc.want) || (tc.want == "") != (got == "") {
			t.Errorf("%s: problems %q, want %q", name, got, tc.want)
		}
	}
	if _, _, err := checkImports(fstest.MapFS{"internal/stat/a.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that cannot be parsed passes")
	}
}
