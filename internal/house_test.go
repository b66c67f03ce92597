// Package internal_test holds the house together: who may import whom, and how long
// a function is.
package internal_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/test/must"
)

const module = "github.com/procfit/procfit"

// leaves are the small rooms that every package of the tool may go to. They import
// nothing of ours, but for show/pattern.
var leaves = []string{"show/number", "show/pattern", "show/phrase", "show/secret", "show/sorting", "host/cpuset"}

// anything stands for every package but main and the test helpers.
const anything = "*"

// wings names, for each folder of internal and what stands beside it, which others its
// packages may import: the arrows that a newcomer sees. They go down only.
var wings = map[string][]string{
	"cmd":      {"cli"},
	"cli":      {"lab", "inspect", "check", "measure", "trace", "verdict", "load", "program", "spec", "host", "show", "maxprocs"},
	"lab":      {"measure", "trace", "verdict", "load", "program", "spec", "host", "show"},
	"measure":  {"verdict", "load", "program", "spec", "host", "show", "maxprocs"},
	"inspect":  {"program", "host", "show", "maxprocs"},
	"check":    {"program", "host", "show", "maxprocs"},
	"golangci": {"check", "program", "show"},
	"trace":    {"host", "show"},
	"verdict":  {"spec", "host", "show"},
	"load":     {"host", "show"},
	"program":  {"host", "show", "maxprocs"},
	"spec":     {"show"},
	"host":     {"show", "maxprocs"},
	"show":     {},
	"maxprocs": {},
}

// What a newcomer can keep in mind of the wings.
const (
	mostArrows = 60
	mostFloors = 9
)

// mayImport names, for each package, what of ours its files may import. Names
// are relative to internal, but for maxprocs and cmd. A row holds for the
// packages below it too, which may also import one another; the longest row
// that fits counts. A package without a row fails the test: give it one, as
// narrow as it can be.
var mayImport = map[string][]string{
	"maxprocs":          {}, // and not its facts, which a program that sets a number has no need of
	"maxprocs/facts":    {"maxprocs"},
	"maxprocs/metrics":  {"maxprocs", "maxprocs/facts"}, // metrics/auto has both
	"maxprocs/memlimit": {"maxprocs", "maxprocs/facts"},
	"maxprocs/live":     {"maxprocs", "maxprocs/facts"},

	"cli":             {anything},
	"cli/entry":       {"measure/plan/field", "program/rule", "host/start", "maxprocs/facts"}, // procfit-run, which is to stay small
	"cli/man":         {"cli"},
	"cmd":             {"cli"},
	"cmd/procfit-run": {"cli/entry"},
	"golangci":        {"check/source", "program/rule"}, // public, since others' builds import it

	"inspect":          {"program/observe", "program/rule", "maxprocs/facts"},
	"inspect/ps":       {"inspect", "program/observe", "program/rule", "show/table", "show/terminal"},
	"inspect/watch":    {"inspect", "program/observe", "program/rule"},
	"inspect/exporter": {"inspect", "program/observe", "program/rule", "host/container", "show/html"},
	"inspect/traffic":  {"host/procstat", "program/meter", "program/observe", "maxprocs/live", "show/document", "show/text"},
	"inspect/explain":  {"inspect", "program/observe", "program/rule", "maxprocs/facts", "maxprocs/memlimit", "host/cgroup", "show/terminal"},

	"check":          {"program/rule", "maxprocs/facts", "host/folder"},
	"check/output":   {"check", "program/rule", "show/document", "show/terminal", "show/text"},
	"check/manifest": {"check", "program/rule", "maxprocs/facts", "host/cgroup", "host/folder", "program/expected", "program/wrapper"},
	"check/source":   {"check", "program/rule", "host/folder", "host/supervisor", "maxprocs/facts"},
	"check/binary":   {"check", "program/rule", "maxprocs/facts", "program/goproc", "program/wrapper", "host/folder"},
	"check/cluster":  {"check", "check/manifest", "program/rule", "maxprocs/facts", "host/cluster", "host/container", "program/expected"},
	"check/migrate":  {"check", "check/manifest", "check/source", "program/rule", "program/toolchain", "host/folder", "host/git", "maxprocs/facts", "show/document"},

	"measure/plan":            {"spec", "measure/plan/field", "verdict/journal", "verdict/slo", "verdict/contest", "verdict/contest/race", "load", "program/ready", "program/gobench", "program/observe", "program/wrapper", "maxprocs/memlimit", "host/wait"},
	"measure/plan/field":      {"spec"},
	"measure/plan/specfile":   {"spec", "measure/plan/field", "load"},
	"measure/trial":           {"measure/plan", "measure/trial/foreign", "verdict/journal", "verdict/slo", "verdict/contest", "load", "program/gobench", "program/observe", "host/halt", "host/supervisor", "maxprocs/facts"},
	"measure/trial/foreign":   {"verdict/journal", "load"},
	"measure/local":           {"measure/plan", "measure/trial", "measure/trial/foreign", "verdict/journal", "verdict/resize", "load", "load/engine", "program/ready", "program/target", "program/gobench", "program/toolchain", "program/observe", "program/meter", "program/steer", "program/profile", "program/rule", "host/halt", "host/supervisor", "host/cgroup", "host/sockets", "host/topology", "maxprocs/facts", "host/wait"},
	"measure/kube":            {"measure/plan", "measure/trial", "measure/paired", "verdict/journal", "verdict/canary", "verdict/paired", "load", "load/engine", "program/observe", "program/meter", "host/cluster", "host/folder", "host/supervisor", "maxprocs/facts", "maxprocs/live", "host/wait"},
	"measure/paired":          {"verdict/paired", "verdict/journal", "host/folder", "host/wait"},
	"measure/live":            {"measure/paired", "verdict/live", "verdict/paired", "verdict/journal", "program/meter", "maxprocs/live", "program/steer", "program/goproc", "program/observe", "host/folder", "host/procstat", "host/sockets", "host/wait"},
	"measure/kube/image":      {},
	"measure/kube/prometheus": {"spec", "measure/plan", "measure/plan/field", "verdict/journal"},
	"measure/session":         {"spec", "measure/plan", "measure/plan/field", "verdict", "verdict/journal", "verdict/stat", "load", "program/ready", "program/observe", "host/topology", "host/folder", "host/procstat", "maxprocs/facts"},

	"spec": {}, // what is to be measured; it knows no field

	"verdict":              {"spec", "verdict/journal", "verdict/slo", "verdict/contest", "verdict/contest/race", "verdict/stat"},
	"verdict/journal":      {"spec", "verdict/slo", "host/folder"},
	"verdict/resize":       {"spec", "verdict/journal"},
	"verdict/slo":          {},
	"verdict/contest":      {"verdict/journal", "verdict/contest/race", "verdict/stat"},
	"verdict/contest/race": {"verdict/stat"},
	"verdict/stat":         {},
	"verdict/fleet":        {"verdict"},
	"verdict/canary":       {"verdict", "verdict/journal", "verdict/paired"},
	"verdict/live":         {"verdict", "verdict/journal", "verdict/paired"},
	"verdict/paired":       {"verdict", "verdict/journal", "verdict/contest/race", "verdict/eprocess", "verdict/stat"},
	"verdict/eprocess":     {},
	"verdict/page":         {"spec", "verdict", "verdict/journal", "verdict/slo", "verdict/contest", "verdict/stat", "verdict/canary", "verdict/live", "verdict/paired", "verdict/fleet", "verdict/resize", "verdict/page/bench", "host/folder", "show/document", "show/markdown", "show/html"},
	"verdict/results":      {"verdict", "verdict/journal", "verdict/canary", "verdict/live", "verdict/page", "host/folder"},
	"verdict/page/served":  {"show/document", "show/html"},
	"verdict/page/bench":   {"verdict", "verdict/journal"},

	"lab":          {"spec", "lab/programs", "measure/plan", "load", "verdict", "verdict/contest", "verdict/contest/race", "verdict/eprocess", "verdict/stat", "verdict/journal", "host/folder"},
	"lab/programs": {},
	"lab/page":     {"lab", "verdict/page", "host/folder", "show/document", "show/markdown", "show/html"},
	"lab/run":      {"spec", "lab", "measure/session", "measure/plan", "measure/local", "trace", "verdict", "verdict/contest", "verdict/journal", "program/toolchain", "host/supervisor", "host/folder"},
	"lab/pods":     {"lab", "lab/run", "measure/kube", "measure/session", "measure/plan", "measure/local", "host/folder"},

	"trace":            {"trace/sched", "trace/sched/page", "trace/exec", "trace/exec/page", "host/supervisor", "show/document", "show/text", "show/terminal"},
	"trace/sched":      {},
	"trace/sched/page": {"trace/sched", "show/document"},
	"trace/exec":       {},
	"trace/exec/page":  {"trace/exec", "show/document"},

	"load":          {"host/folder"},
	"load/engine":   {"load", "load/wire"},
	"load/wire":     {"load"},
	"load/rpc":      {"load", "host/folder"}, // all of protobuf, which cli hands in
	"load/requests": {"load"},

	"program/meter":     {"program/goproc", "host/procstat", "maxprocs/live"},
	"program/profile":   {"host/folder"},
	"program/goproc":    {"host/procstat"},
	"program/steer":     {"program/goproc", "host/procstat"},
	"program/observe":   {"program/goproc", "program/meter", "program/rule", "program/steer", "program/expected", "host/folder", "host/procstat", "host/wait", "maxprocs/facts"},
	"program/expected":  {"program/rule"},
	"program/rule":      {"maxprocs/facts"},
	"program/target":    {"program/ready", "host/supervisor"},
	"program/ready":     {"host/supervisor"},
	"program/gobench":   {"program/toolchain"},
	"program/toolchain": {"host/supervisor"},
	"program/wrapper":   {"host/cpuset"},

	"host/cluster":    {"host/folder", "host/wait"},
	"host/supervisor": {"host/cgroup", "host/procstat"},
	"host/cgroup":     {"host/procstat", "maxprocs/facts"},
	"host/halt":       {},
	"host/sockets":    {"host/procstat"},
	"host/procstat":   {},
	"host/topology":   {},
	"host/cpuset":     {},
	"host/container":  {},
	"host/git":        {},
	"host/folder":     {},
	"host/start":      {},
	"host/wait":       {},

	"show/number":   {},
	"show/pattern":  {},
	"show/phrase":   {},
	"show/secret":   {"show/pattern", "show/sorting"},
	"show/sorting":  {},
	"show/terminal": {},

	// What is shown is a document, until a renderer writes it.
	"show/document": {"show/phrase"},
	"show/table":    {"show/terminal"},
	"show/text":     {"show/document", "show/table", "show/terminal"},
	"show/markdown": {"show/document"},
	"show/html":     {"show/document"},

	"test":                       {"test/need", "test/built", "test/must"},
	"test/must":                  {},
	"test/need":                  {},
	"test/built":                 {"test/need", "test/must"},
	"test/child":                 {"test/must"},
	"test/chance":                {"test/need"},
	"test/demo":                  {},
	"test/lane":                  {},
	"test/cluster":               {},
	"test/cluster/run":           {"test/cluster"},
	"load/loadtest":              {},
	"verdict/verdicttest":        {"spec", "verdict/journal", "verdict/contest"},
	"show/document/documenttest": {"show/document"},
	"verdict/page/pagetest":      {"spec", "verdict", "verdict/verdicttest", "verdict/contest", "verdict/stat", "verdict/journal", "verdict/canary", "verdict/live"},
	"program/goproc/goproctest":  {"test/built", "test/child"},
	"check/binary/binarytest":    {},
	"cli/schematest":             {},
	"cli/scripts":                {"cli/entry", "program/observe", "program/steer", "check/source", "cli/schematest", "host/supervisor", "measure/session", "program/meter", "maxprocs/live", "load/loadtest", "check/binary/binarytest", "test/need"},
}

// testHelpers may be imported by tests alone, and by one another as their rows
// say.
var testHelpers = []string{"test", "test/must", "test/need", "test/built", "test/chance", "test/child", "test/cluster", "test/cluster/run", "load/loadtest", "verdict/verdicttest", "show/document/documenttest", "verdict/page/pagetest", "program/goproc/goproctest", "check/binary/binarytest", "cli/schematest", "cli/scripts"}

// never names what a package may not import although its row has it: the command line prints
// what was judged, and neither judges trials itself nor takes a journal apart.
var never = map[string][]string{
	"cli": {"verdict/contest", "verdict/journal"},
}

func TestImports(t *testing.T) {
	problems, packages, _, err := checkImports(os.DirFS(".."))
	must.OK(t, err)
	for _, p := range problems {
		t.Error(p)
	}
	// A checker that looks in the wrong place finds nothing to complain of.
	for _, want := range []string{"maxprocs", "verdict/journal", "test/need"} {
		if !slices.Contains(packages, want) {
			t.Errorf("package %s was not looked at, only %v", want, packages)
		}
	}
}

// checkImports holds every Go file that is no test against the table, for all
// systems. Modules of their own are left out, but for maxprocs. Arrows are those
// between wings; helpers of tests have none.
func checkImports(root fs.FS) (problems, packages []string, arrows map[string][]string, err error) {
	arrows = map[string][]string{}
	err = eachFile(root, ".", parser.ImportsOnly, func(name string, _ *token.FileSet, file *ast.File) {
		from := shortName(path.Dir(name))
		if !slices.Contains(packages, from) {
			packages = append(packages, from)
		}
		for _, spec := range file.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, "`\""), module+"/"); ours {
				if why := forbidden(from, shortName(to)); why != "" {
					problems = append(problems, name+": "+why)
				}
				a, b := wingOf(from), wingOf(shortName(to))
				if a != b && !slices.Contains(testHelpers, rowOf(from)) && !slices.Contains(arrows[a], b) {
					arrows[a] = append(arrows[a], b)
				}
			}
		}
		if rowOf(from) == "" {
			problems = append(problems, fmt.Sprintf("%s: package %s has no row in mayImport", name, from))
		}
	})
	return problems, packages, arrows, err
}

// TestArrows counts what the table of wings allows and the tree has.
func TestArrows(t *testing.T) {
	_, _, arrows, err := checkImports(os.DirFS(".."))
	must.OK(t, err)
	count := 0
	for from, list := range arrows {
		count += len(list)
		for _, to := range list {
			if !slices.Contains(wings[from], to) {
				t.Errorf("the arrow %s → %s goes up", from, to)
			}
		}
	}
	longest := []string{}
	var walk func(chain []string)
	walk = func(chain []string) {
		if len(chain) > len(longest) {
			longest = chain
		}
		for _, to := range arrows[chain[len(chain)-1]] {
			if slices.Contains(chain, to) {
				t.Fatalf("a circle: %v → %s", chain, to)
			}
			walk(append(slices.Clip(chain), to))
		}
	}
	for from := range arrows {
		walk([]string{from})
	}
	t.Logf("%d arrows on %d floors, %s", count, len(longest), strings.Join(longest, " → "))
	if count > mostArrows || len(longest) > mostFloors {
		t.Errorf("%d arrows on %d floors: at most %d on %d", count, len(longest), mostArrows, mostFloors)
	}
	if count < len(wings) {
		t.Error("hardly an arrow was seen")
	}
}

// eachFile calls f with every Go file below a folder of root that is no test. Modules of their own
// are left out, but for maxprocs, and so is what the go command does not look at.
func eachFile(root fs.FS, below string, mode parser.Mode, f func(name string, set *token.FileSet, file *ast.File)) error {
	return fs.WalkDir(root, below, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipDir(root, name)
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, mode|parser.SkipObjectResolution)
		if err == nil {
			f(name, set, file)
		}
		return err
	})
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

// wingOf is the folder at the top that a package is in.
func wingOf(pkg string) string {
	wing, _, _ := strings.Cut(pkg, "/")
	return wing
}

// forbidden says why from may not import to, or nothing.
func forbidden(from, to string) string {
	row, target := rowOf(from), rowOf(to)
	if slices.Contains(testHelpers, target) && !slices.Contains(testHelpers, row) {
		return fmt.Sprintf("imports %s, which is for tests alone", to)
	}
	if slices.Contains(leaves, target) && row != "" && wingOf(row) != "maxprocs" && !slices.Contains(leaves, row) {
		return ""
	}
	a, b := wingOf(from), wingOf(to)
	if may, known := wings[a]; known && a != b && !slices.Contains(testHelpers, row) && !slices.Contains(may, b) {
		return fmt.Sprintf("the wing %s may not import %s of the wing %s; it may import %v", a, to, b, may)
	}
	switch {
	case slices.Contains(never[from], to):
	case target != "" && (target == row || slices.Contains(mayImport[row], target)),
		slices.Contains(mayImport[row], anything) && b != "cmd" && target != "":
		return ""
	}
	return fmt.Sprintf("package %s may not import %s; it may import %v", from, to, mayImport[row])
}

// linked names, for each dependency that costs every program that links it a second or
// several megabytes, the packages whose code may link it, directly or not, and those whose
// test binary may. Who is missing here is handed what it needs by cli.
var linked = map[string]struct{ code, tests []string }{
	"google.golang.org/grpc": {
		code:  []string{"cli/scripts", "load/loadtest"},
		tests: []string{"cli", "cli/scripts/check", "cli/scripts/kube", "cli/scripts/lab", "cli/scripts/look", "cli/scripts/measure", "cli/scripts/recipes", "cli/scripts/usage", "load/engine", "load/rpc", "program/ready", "program/steer"},
	},
	"k8s.io/client-go": {
		code:  []string{"check/cluster", "cli", "cli/man", "cmd/procfit", "host/cluster", "lab/pods", "measure/kube"},
		tests: []string{"check/cluster", "cli", "cli/man", "cli/scripts/check", "cli/scripts/kube", "cli/scripts/lab", "cli/scripts/look", "cli/scripts/measure", "cli/scripts/recipes", "cli/scripts/usage", "host/cluster", "lab/pods", "measure/kube"},
	},
	"html/template": {}, // it calls methods by name, so that the linker keeps those that nothing calls
}

func TestLinked(t *testing.T) {
	imports := must.Get(listImports(t.Context()))(t)
	for dependency, may := range linked {
		code, tests := whoLinks(imports, dependency)
		t.Logf("%s: in the code of %d packages and in %d test binaries", dependency, len(code), len(tests))
		compareLinks(t, dependency+" in its code", code, may.code)
		compareLinks(t, dependency+" in its test binary", tests, may.tests)
	}
}

// compareLinks wants the rows to be as they are: none missing, and none that is not needed.
func compareLinks(t *testing.T, what string, got, may []string) {
	t.Helper()
	for _, p := range got {
		if !slices.Contains(may, p) {
			t.Errorf("%s links %s: take it from cli as a value, or give it a row in linked", p, what)
		}
	}
	for _, p := range may {
		if !slices.Contains(got, p) {
			t.Errorf("%s no longer links %s: remove its row", p, what)
		}
	}
}

// listImports is what each package and each test binary of the module imports, as the go
// command sees it on this system, with all that these import in turn. Of gRPC, which only
// tests link, it leaves out the pages, and with them html/template.
func listImports(ctx context.Context) (map[string][]string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-test", "-tags", "grpcnotrace", "-f", `{{.ImportPath}}{{range .Imports}}{{"\t"}}{{.}}{{end}}`, "./...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", list, err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		imports[fields[0]] = fields[1:]
	}
	return imports, nil
}

// whoLinks is the packages of the module whose code links a dependency, and those whose
// test binary does. A package that is compiled again for a test, "p [q.test]", is only
// on the way to it.
func whoLinks(imports map[string][]string, dependency string) (code, tests []string) {
	known := map[string]bool{}
	var links func(p string) bool
	links = func(p string) bool {
		if does, ok := known[p]; ok {
			return does
		}
		name, _, _ := strings.Cut(p, " ")
		known[p] = name == dependency || strings.HasPrefix(name, dependency+"/") || slices.ContainsFunc(imports[p], links)
		return known[p]
	}
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		short, ours := strings.CutPrefix(p, module+"/")
		if !ours || strings.Contains(p, " ") || !links(p) {
			continue
		}
		if of, isTest := strings.CutSuffix(shortName(short), ".test"); isTest {
			tests = append(tests, of)
		} else {
			code = append(code, shortName(short))
		}
	}
	return code, tests
}

func TestWhoLinks(t *testing.T) {
	imports := map[string][]string{}
	for p, to := range map[string][]string{
		"internal/far": {"internal/near"}, "internal/near": {"x/y/z"}, "internal/alike": {"x/yes"}, "internal/word": nil,
		"internal/word.test": {"internal/word [internal/word.test]"}, "internal/word [internal/word.test]": {"internal/near"},
	} {
		for i := range to {
			if strings.HasPrefix(to[i], "internal/") {
				to[i] = module + "/" + to[i]
			}
		}
		imports[module+"/"+p] = to
	}
	code, tests := whoLinks(imports, "x/y")
	if !slices.Equal(code, []string{"far", "near"}) || !slices.Equal(tests, []string{"word"}) {
		t.Errorf("linked by the code of %v and the tests of %v", code, tests)
	}
}

// Sizes beyond which a function has a second noun, as a rule. A file is as long as its
// noun, and a table as long as its rows.
const (
	longestFunction = 60
	longestRow      = 3 // lines of statements in a row of a table
	mostParameters  = 5
)

// alone are programs that are each to be read by itself, in one file.
const alone = "internal/lab/programs/"

func TestSizes(t *testing.T) {
	must.OK(t, eachFile(os.DirFS(".."), ".", 0, func(name string, set *token.FileSet, file *ast.File) {
		if strings.HasPrefix(name, alone) {
			return
		}
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := linesOf(set, f) - tableIn(set, f); n > longestFunction {
				t.Errorf("%s: %s has %d lines, more than %d", name, f.Name.Name, n, longestFunction)
			}
			if n := f.Type.Params.NumFields(); n > mostParameters {
				t.Errorf("%s: %s has %d parameters, more than %d", name, f.Name.Name, n, mostParameters)
			}
		}
	}))
}

// A regular expression that is compiled as procfit starts costs every command, and it needs
// next to none of them: a pattern.Of is compiled when it is first used.
func TestPatternsAreCompiledLate(t *testing.T) {
	must.OK(t, eachFile(os.DirFS(".."), "internal", 0, func(name string, set *token.FileSet, file *ast.File) {
		if strings.HasPrefix(name, alone) || slices.Contains(testHelpers, rowOf(shortName(path.Dir(name)))) {
			return
		}
		for _, declared := range file.Decls {
			if _, isFunction := declared.(*ast.FuncDecl); !isFunction {
				ast.Inspect(declared, func(n ast.Node) bool {
					if at, ok := n.(*ast.SelectorExpr); ok && at.Sel.Name == "MustCompile" {
						t.Errorf("%s: make it a pattern.Of", set.Position(at.Pos()))
					}
					_, isFunction := n.(*ast.FuncLit)
					return !isFunction
				})
			}
		}
	}))
}

func linesOf(set *token.FileSet, n ast.Node) int {
	return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1
}

// tableIn is how many lines of a function are one table, if that is most of it: a
// composite literal, or a switch with one statement for each case. What has longer blocks
// of statements than a row is no table.
func tableIn(set *token.FileSet, f *ast.FuncDecl) (lines int) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch table := n.(type) {
		case *ast.CompositeLit:
			if hasRows(set, table) {
				lines = max(lines, linesOf(set, table))
			}
		case *ast.SwitchStmt:
			if hasRows(set, table) {
				lines = max(lines, linesOf(set, table))
			}
		}
		return true
	})
	if 2*lines <= linesOf(set, f) {
		return 0
	}
	return lines
}

// hasRows reports whether no function and no case in a table is longer than a row.
func hasRows(set *token.FileSet, table ast.Node) bool {
	rows := true
	ast.Inspect(table, func(n ast.Node) bool {
		switch row := n.(type) {
		case *ast.FuncLit:
			rows = rows && linesOf(set, row) <= longestRow
		case *ast.CaseClause:
			rows = rows && (len(row.Body) == 0 || len(row.Body) == 1 && linesOf(set, row.Body[0]) <= longestRow)
		}
		return rows
	})
	return rows
}

func TestTableIn(t *testing.T) {
	function := func(before, open, row, closed string) string {
		return "package x\nfunc f() {\n" + strings.Repeat("g()\n", 40) + before + open + strings.Repeat(row, 50) + closed + "}\n"
	}
	for name, tc := range map[string]struct {
		text  string
		table int
	}{
		"a literal":            {function("", "_ = []int{\n", "1,\n", "}\n"), 52},
		"a switch":             {function("", "switch {\n", "case a: return 1\n", "}\n"), 52},
		"short functions":      {function("", "_ = []func(){\n", "func() {\n},\n", "}\n"), 102},
		"long functions":       {function("", "_ = []func(){\n", "func() {\na()\nb()\n},\n", "}\n"), 0},
		"cases of statements":  {function("", "switch {\n", "case a:\nb()\nreturn 1\n", "}\n"), 0},
		"less than half of it": {function(strings.Repeat("g()\n", 20), "_ = []int{\n", "1,\n", "}\n"), 0},
		"no table":             {function("", "", "g()\n", ""), 0},
	} {
		set := token.NewFileSet()
		file := must.Get(parser.ParseFile(set, name, tc.text, parser.SkipObjectResolution))(t)
		if got := tableIn(set, file.Decls[0].(*ast.FuncDecl)); got != tc.table {
			t.Errorf("%s: %d lines are a table, want %d", name, got, tc.table)
		}
	}
}

// TestOneOpener finds files that users or others name and that are opened as they come:
// a pipe would be waited for without end, a file of a terabyte read.
func TestOneOpener(t *testing.T) {
	patterns := []string{
		"load/*.go", "load/*/*.go", "host/cluster/*.go", "verdict/journal/read.go",
		"measure/kube/subject.go", "lab/outcome.go", "lab/pods/*.go", "cli/image.go", "cli/labrun.go", "check/*.go", "check/*/*.go",
		"cli/load*.go", "cli/explain*.go", "cli/report*.go", "cli/values.go",
	}
	for name, file := range matched(t, patterns...) {
		if strings.HasPrefix(name, "load/loadtest/") || name == "check/fix.go" || name == "check/source/bound_linux.go" { // which write, or read /proc
			continue
		}
		for _, use := range selectors(file) {
			if slices.Contains([]string{"os.Open", "os.OpenFile", "os.OpenRoot", "os.ReadFile", "tls.LoadX509KeyPair"}, use) {
				t.Errorf("%s: %s; use host/folder", name, use)
			}
		}
	}
}

// matched are the Go files that are no tests of some patterns, each of which has one.
func matched(t *testing.T, patterns ...string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, pattern := range patterns {
		names := must.Get(filepath.Glob(pattern))(t)
		if len(names) == 0 {
			t.Errorf("there is no file %s", pattern)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				files[name] = must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
			}
		}
	}
	return files
}

// selectors are what a node takes of packages and variables: os.Exit.
func selectors(n ast.Node) (names []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := s.X.(*ast.Ident); ok {
				names = append(names, of.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return names
}

// TestOneExit finds packages that end their process: that is for main functions.
func TestOneExit(t *testing.T) {
	looked := 0
	must.OK(t, eachFile(os.DirFS("."), ".", 0, func(name string, _ *token.FileSet, file *ast.File) {
		switch {
		case file.Name.Name == "main", path.Base(name) == "main.go":
			return
		case strings.HasPrefix(name, "cli/scripts/"), name == "lab/programs/harness/harness.go": // which have what is the main function of other programs
			return
		}
		looked++
		for _, use := range selectors(file) {
			if use == "os.Exit" || strings.HasPrefix(use, "log.Fatal") {
				t.Errorf("%s: %s: return an error", name, use)
			}
		}
	}))
	if looked == 0 {
		t.Error("no file was looked at")
	}
}

// TestOneWait finds loops that wait by themselves where cluster.Until is to wait.
func TestOneWait(t *testing.T) {
	for name, file := range matched(t, "measure/kube/*.go", "host/cluster/*.go") {
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || f.Name.Name == "Until" {
				continue
			}
			for _, call := range waitsIn(f) {
				t.Errorf("%s: %s waits by %s in a loop; use cluster.Until", name, f.Name.Name, call)
			}
		}
	}
}

// waitsIn returns the functions of package time by which loops of a function wait.
func waitsIn(f *ast.FuncDecl) (calls []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
		default:
			return true
		}
		for _, use := range selectors(n) {
			if slices.Contains([]string{"time.After", "time.AfterFunc", "time.NewTicker", "time.NewTimer", "time.Sleep", "time.Tick"}, use) {
				calls = append(calls, use)
			}
		}
		return false
	})
	return calls
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
		"an edge of the table":       {"internal/measure/local/a.go", imports(ours("measure/plan"), ours("verdict/journal"), "fmt"), ""},
		"an edge that is not":        {"internal/measure/plan/a.go", imports(ours("measure/local")), "package measure/plan may not import measure/local"},
		"up, between wings":          {"internal/verdict/a.go", imports(ours("measure/plan")), "the wing verdict may not import measure/plan"},
		"a wing that serves":         {"internal/host/folder/a.go", imports(ours("program/rule")), "the wing host may not import program/rule"},
		"journal imports nothing":    {"internal/verdict/journal/a.go", imports(ours("verdict")), "may not import verdict"},
		"another system's file":      {"internal/verdict/journal/a_windows.go", imports(ours("verdict")), "a_windows.go"},
		"behind a build tag":         {"internal/verdict/journal/a.go", "//go:build never\n\n" + imports(ours("verdict")), "may not import verdict"},
		"in a test":                  {"internal/verdict/a_test.go", imports(ours("measure/plan"), module+"/test/need"), ""},
		"a helper in a program":      {"internal/verdict/a.go", imports(module + "/test/need"), "for tests alone"},
		"a helper in cli":            {"internal/cli/a.go", imports(ours("verdict/verdicttest")), "for tests alone"},
		"a helper of its package":    {"internal/verdict/page/pagetest/a.go", imports(ours("verdict"), ours("verdict/journal")), ""},
		"a helper too wide":          {"internal/verdict/verdicttest/a.go", imports(ours("verdict/page")), "may not import verdict/page"},
		"an emulator in a program":   {"internal/measure/local/a.go", imports(module + "/test/vm"), "for tests alone"},
		"renderer to document":       {"internal/show/html/a.go", imports(ours("show/document")), ""},
		"renderer to result":         {"internal/show/html/a.go", imports(ours("verdict")), "the wing show may not import verdict of"},
		"renderer to journal":        {"internal/show/html/a.go", imports(ours("verdict/journal")), "the wing show may not import verdict/journal"},
		"below an allowed package":   {"internal/lab/run/a.go", imports(ours("trace/new")), ""},
		"no row":                     {"internal/util/a.go", imports("fmt"), "util has no row"},
		"to a package without row":   {"internal/verdict/a.go", imports(ours("util")), "may not import util"},
		"cli to all":                 {"internal/cli/a.go", imports(ours("show/html"), module+"/maxprocs"), ""},
		"cli to what judges trials":  {"internal/cli/a.go", imports(ours("verdict/contest")), "package cli may not import verdict/contest"},
		"main to cli":                {"cmd/procfit/main.go", imports(ours("cli")), ""},
		"main past cli":              {"cmd/procfit/main.go", imports(ours("measure/plan")), "may not import measure/plan"},
		"to a leaf":                  {"internal/load/a.go", imports(ours("host/cpuset")), ""},
		"a leaf to another":          {"internal/show/phrase/a.go", imports(ours("show/secret")), "may not import show/secret"},
		"the library to a leaf":      {"maxprocs/a.go", imports(ours("show/phrase")), "may not import show/phrase"},
		"the library to the tool":    {"maxprocs/auto/a.go", imports(ours("program/rule")), "may not import program/rule"},
		"the library to itself":      {"maxprocs/auto/a.go", imports(module + "/maxprocs"), ""},
		"a module of its own":        {"test/browser/a.go", imports(ours("verdict/page")), ""},
		"testdata":                   {"internal/verdict/journal/testdata/a.go", imports(ours("verdict")), ""},
		"outside of the two trees":   {"tools/a.go", imports("fmt"), "tools has no row"},
		"a name that only begins so": {"internal/verdicts/a.go", imports("fmt"), "verdicts has no row"},
	} {
		root := fstest.MapFS{
			"maxprocs/go.mod":     {},
			"test/browser/go.mod": {},
			tc.file:               {Data: []byte(tc.text)},
		}
		problems, _, _, err := checkImports(root)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := strings.Join(problems, "; "); !strings.Contains(got, tc.want) || (tc.want == "") != (got == "") {
			t.Errorf("%s: problems %q, want %q", name, got, tc.want)
		}
	}
	if _, _, _, err := checkImports(fstest.MapFS{"internal/verdict/a.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that cannot be parsed passes")
	}
}
