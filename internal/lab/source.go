package lab

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed programs/*/main.go programs/*/*/main.go programs/harness
var sources embed.FS

// harnessPath is how the programs import what they have in common.
const harnessPath = `"github.com/procfit/procfit/internal/lab/programs/harness"`

// Build is how a stage's program is compiled where the one that procfit holds will not
// do: by the release of Go that procfit is of, with a C compiler. The zero value is the
// experiment's own program as it is.
type Build struct {
	Source string // another program of the experiment, programs/ID/Source; "": its own
	Race   bool   // with the race detector
}

// Of is the source of the experiment's program as a standalone main.go.
func (b Build) Of(id string) (string, error) { return Source(path.Join(id, b.Source)) }

// Source is the experiment's program as a standalone main.go, or its other one: blocking/c. One
// without a main function of its own gets that of a batch program.
func Source(name string) (string, error) {
	id, other, _ := strings.Cut(name, "/")
	text, err := sources.ReadFile(path.Join("programs", id, other, "main.go"))
	if _, unknown := find(id, "program", Server, Batch); unknown != nil || err != nil || path.Join(id, other) != name {
		_, err := find(name, "program", Server, Batch)
		return "", err
	}
	if !bytes.Contains(text, []byte("\nfunc main() {")) {
		text = fmt.Appendf(text, "\nfunc main() { harness.Main(%q, Program) }\n", id)
	}
	if name, err = standalone(string(text)); err != nil {
		return "", fmt.Errorf("source of %s: %w", id, err)
	}
	return name, nil
}

// standalone is a program's text as package main, with what it uses of the harness below
// it in the place of its import.
func standalone(text string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	all, err := shared()
	if err != nil {
		return "", err
	}
	parts, paths := needed(file, all)
	for _, i := range file.Imports {
		delete(paths, i.Path.Value)
	}
	imports := strings.Join(slices.Sorted(maps.Keys(paths)), "\n") + "\n"
	out := strings.NewReplacer(
		"\npackage "+file.Name.Name+"\n", "\npackage main\n",
		"\n\n\t"+harnessPath+"\n", "\n"+imports,
		"\nimport "+harnessPath+"\n", "\nimport (\n"+imports+")\n",
		"harness.", "",
	).Replace(text)
	out += "\n// What the practice programs have in common, as far as this one uses it.\n\n" + strings.Join(parts, "\n\n") + "\n"
	formatted, err := format.Source([]byte(out))
	return string(formatted), err
}

type declaration struct {
	ast.Decl
	text    string            // with its comment
	name    string            // of a method: its receiver's type
	method  string            // "" for what is not a method
	imports map[string]string // of its file: paths by name
}

func shared() (all []declaration, err error) {
	names, err := fs.Glob(sources, "programs/harness/*.go")
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		imports := map[string]string{}
		for _, i := range file.Imports {
			imports[path.Base(strings.Trim(i.Path.Value, `"`))] = i.Path.Value
		}
		for _, d := range file.Decls {
			of, from := declaration{Decl: d, imports: imports}, d.Pos()
			switch d := d.(type) {
			case *ast.FuncDecl:
				of.name = d.Name.Name
				if d.Recv != nil {
					of.name, of.method = d.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name, d.Name.Name
				}
				if d.Doc != nil {
					from = d.Doc.Pos()
				}
			case *ast.GenDecl:
				if d.Tok != token.TYPE {
					continue
				}
				of.name, from = d.Specs[0].(*ast.TypeSpec).Name.Name, d.Doc.Pos()
			}
			of.text = string(text[from-file.FileStart : d.End()-file.FileStart])
			all = append(all, of)
		}
	}
	return all, err
}

// needed are the declarations that a program uses, and those that they use in their turn,
// and what they import.
func needed(program *ast.File, all []declaration) (texts []string, paths map[string]bool) {
	paths = map[string]bool{}
	names, selected := map[string]bool{}, map[string]bool{}
	use := func(n ast.Node, imports map[string]string) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				selected[n.Sel.Name] = true
				of, ok := n.X.(*ast.Ident)
				if ok && of.Name == "harness" {
					names[n.Sel.Name] = true
				} else if ok && imports[of.Name] != "" {
					paths[imports[of.Name]] = true
				}
				return !ok
			case *ast.Ident:
				names[n.Name] = names[n.Name] || imports != nil
			}
			return true
		})
	}
	use(program, nil)
	taken := make([]bool, len(all))
	for more := true; more; {
		more = false
		for i, d := range all {
			if !taken[i] && names[d.name] && (d.method == "" || selected[d.method]) {
				taken[i], more = true, true
				use(d.Decl, d.imports)
			}
		}
	}
	for i, d := range all {
		if taken[i] {
			texts = append(texts, d.text)
		}
	}
	return texts, paths
}
