package maxprocs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// TestExamples: every exported function, and every method of what is used by its
// address, is called in an Example of its package.
func TestExamples(t *testing.T) {
	entries := 0
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if base := filepath.Base(dir); base == "internal" || base == "testdata" {
			return filepath.SkipDir
		}
		declared, shown := entryPoints(t, dir)
		for _, name := range declared {
			entries++
			if !shown[name] {
				t.Errorf("package %s: no Example calls %s", dir, name)
			}
		}
		return nil
	})
	must.OK(t, err)
	if entries < 30 {
		t.Errorf("found %d exported functions: is the right directory looked at?", entries)
	}
}

// entryPoints are the exported functions of a package, and the names that its
// Examples use.
func entryPoints(t *testing.T, dir string) (declared []string, shown map[string]bool) {
	t.Helper()
	shown = map[string]bool{}
	files := must.Get(os.ReadDir(dir))(t)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f.Name()), nil, 0))(t)
		test := strings.HasSuffix(f.Name(), "_test.go")
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case test && strings.HasPrefix(fn.Name.Name, "Example"):
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						shown[id.Name] = true
					}
					return true
				})
			case !test && fn.Name.IsExported() && entry(fn):
				declared = append(declared, fn.Name.Name)
			}
		}
	}
	return declared, shown
}

// entry reports whether it is a function, or a method of an exported type that is used
// by its address.
func entry(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.IsExported()
}
