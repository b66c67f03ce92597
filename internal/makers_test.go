package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// onlyIn names the packages that may use something with which a second maker begins.
// Formatters have a test of their own, in show/number.
var onlyIn = []struct {
	what, use string
	folders   []string
}{
	{"the scale of a chart", "math.Log10", []string{"show/document", "show/number"}},
	{"the scale of a chart", "math.Pow10", []string{"show/document", "show/number"}},
	{"a contest", "race.New", []string{"verdict/contest"}},
	{"the columns of a process", "inspect.Column{}", []string{"inspect"}},
	{"a sort, which is compiled for each type of elements", "slices.SortFunc", nil},
	{"a sort, which is compiled for each type of elements", "slices.SortStableFunc", nil}, // show/sorting has one that is compiled once
	{"a sort, which is compiled for each type of elements", "slices.SortedStableFunc", nil},
	{"the life of a trial", "Trial.DurationSeconds =", []string{"measure/trial"}},
	{"a type of result.json, which verdict/page makes", "verdict with JSON tags", nil},
	{"a type of result.json, which verdict/page makes", "contest with JSON tags", nil},
	{"a table of text, which show/table makes", "import text/tabwriter", nil},
	{"a text of a template", "import text/template", nil}, // see linked
	{"a number with its unit", "import golang.org/x/perf/benchunit", []string{"show/number"}},
	{"a client of a cluster", "import k8s.io/client-go/rest", []string{"host/cluster"}},
	{"a client of a cluster, which host/cluster makes", "import k8s.io/client-go/dynamic", nil},
	{"a client of a cluster, which host/cluster makes", "import k8s.io/client-go/kubernetes", nil},
	{"a client of a cluster", "import k8s.io/client-go/tools/clientcmd", []string{"host/cluster"}},
	{"a client of a cluster", "import k8s.io/client-go/transport/spdy", []string{"host/cluster"}},
}

// usesIn are the uses, as the table writes them, that a file of a package makes.
func usesIn(pkg string, file *ast.File) (uses []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				if x, ok := f.X.(*ast.Ident); ok {
					uses = append(uses, x.Name+"."+f.Sel.Name)
				}
			}
		case *ast.ImportSpec:
			uses = append(uses, "import "+strings.Trim(n.Path.Value, "`\""))
		case *ast.CompositeLit:
			of := n.Type
			if list, ok := of.(*ast.ArrayType); ok {
				of = list.Elt
			}
			switch of := of.(type) {
			case *ast.SelectorExpr:
				if x, ok := of.X.(*ast.Ident); ok {
					uses = append(uses, x.Name+"."+of.Sel.Name+"{}")
				}
			case *ast.Ident:
				uses = append(uses, path.Base(pkg)+"."+of.Name+"{}")
			}
		case *ast.Field:
			if n.Tag != nil && strings.Contains(n.Tag.Value, "json:") {
				uses = append(uses, path.Base(pkg)+" with JSON tags")
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if f, ok := to.(*ast.SelectorExpr); ok {
					if of, ok := f.X.(*ast.SelectorExpr); ok {
						uses = append(uses, of.Sel.Name+"."+f.Sel.Name+" "+n.Tok.String())
					}
				}
			}
		}
		return true
	})
	return uses
}

// TestOnlyOneMaker finds a second maker of what one package makes, by what it uses.
func TestOnlyOneMaker(t *testing.T) {
	seen := map[string]bool{}
	must.OK(t, eachFile(os.DirFS(".."), ".", 0, func(name string, _ *token.FileSet, file *ast.File) {
		pkg := shortName(path.Dir(name))
		if strings.HasPrefix(pkg, "lab/programs") || strings.HasPrefix(pkg, "test/") {
			return
		}
		for _, use := range usesIn(pkg, file) {
			for _, o := range onlyIn {
				if o.use != use {
					continue
				}
				seen[use] = true
				if !slices.Contains(o.folders, pkg) {
					t.Errorf("%s uses %s: %s is made in %v alone", name, use, o.what, o.folders)
				}
			}
		}
	}))
	for _, o := range onlyIn {
		if len(o.folders) > 0 && !seen[o.use] {
			t.Errorf("nothing uses %s: is %s made otherwise now?", o.use, o.what)
		}
	}
}

func TestUsesIn(t *testing.T) {
	const text = "package x\nimport \"a/b\"\nfunc f() { _ = math.Log10(1); _ = []inspect.Column{}; _ = Column{}; t.Trial.DurationSeconds = 1 }\ntype t struct { A int `json:\"a\"` }"
	file := must.Get(parser.ParseFile(token.NewFileSet(), "x.go", text, 0))(t)
	if got, want := usesIn("a/inspect", file), []string{"import a/b", "math.Log10", "inspect.Column{}", "inspect.Column{}", "Trial.DurationSeconds =", "inspect with JSON tags"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
