package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"runtime"
	"slices"

	"golang.org/x/tools/go/packages"
)

// bare are the packages of a folder that the go command cannot load, by what their own
// files tell: which import a name is of, and the constants. Nothing in them is changed.
func (k *Checker) bare(t *tree, dir string) []*packages.Package {
	byName := map[string][]scanned{}
	for _, s := range t.folders[dir] {
		if builtHere(s.file) && s.pkg != "" {
			byName[s.pkg] = append(byName[s.pkg], s)
		}
	}
	var all []*packages.Package
	for name, files := range byName {
		if !slices.ContainsFunc(files, func(s scanned) bool { return s.words }) {
			continue
		}
		p := &packages.Package{
			Errors: []packages.Error{}, // that there are is known: not nil
			ID:     dir, Name: name, PkgPath: t.importPath(dir), Fset: token.NewFileSet(), IllTyped: true,
			TypesSizes: types.SizesFor("gc", runtime.GOARCH),
			TypesInfo: &types.Info{
				Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
				Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
				Instances: map[*ast.Ident]types.Instance{}, FileVersions: map[*ast.File]string{},
			},
		}
		for _, s := range files {
			var text any // nil: from the disk
			if s.text != nil {
				text = s.text
			}
			if f, _ := parser.ParseFile(p.Fset, s.file, text, parser.ParseComments|parser.SkipObjectResolution); f != nil {
				p.Syntax = append(p.Syntax, f)
			}
		}
		config := types.Config{Importer: nameOnly{}, FakeImportC: true, Error: func(err error) {
			if e, ok := err.(types.Error); ok {
				p.TypeErrors = append(p.TypeErrors, e)
			}
		}}
		if t.module != nil {
			config.GoVersion = "go" + t.module.language
		}
		p.Types, _ = config.Check(p.PkgPath, p.Fset, p.Syntax, p.TypesInfo) // its errors are known
		all = append(all, p)
	}
	return all
}

// nameOnly imports packages of which nothing is known but the name.
type nameOnly struct{}

var versionPart = regexp.MustCompile(`^v[0-9]+$`)

func (nameOnly) Import(p string) (*types.Package, error) {
	name := path.Base(p)
	if versionPart.MatchString(name) {
		name = path.Base(path.Dir(p))
	}
	known := types.NewPackage(p, name)
	known.MarkComplete()
	return known, nil
}
