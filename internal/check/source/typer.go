package source

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

// typer gives packages their types, from source alone: of an import its declarations, of what that
// imports only the names. That takes a hundredth of what it takes to compile everything.
type typer struct {
	set      *token.FileSet
	overlay  map[string][]byte
	sizes    types.Sizes
	declared map[string]*types.Package // by the package's ID
}

func newTyper(overlay map[string][]byte) *typer {
	return &typer{set: token.NewFileSet(), overlay: overlay, sizes: types.SizesFor("gc", runtime.GOARCH), declared: map[string]*types.Package{}}
}

// What is surely wrong with a package is added to its errors, if its imports are listed.
func (w *typer) declare(p *packages.Package, language string) {
	listed := p.Imports != nil
	report := func(pos token.Position, kind packages.ErrorKind, message string) {
		if listed {
			p.Errors = append(p.Errors, packages.Error{Pos: pos.String(), Msg: message, Kind: kind})
		}
	}
	for _, missing := range p.Imports {
		if len(missing.GoFiles) == 0 && len(missing.Errors) > 0 && missing.PkgPath != "unsafe" && missing.PkgPath != "C" {
			p.Errors = append(p.Errors, missing.Errors[0])
		}
	}
	p.TypesInfo = newInfo()
	var bad error
	if p.Syntax, bad = w.parse(p.GoFiles, parser.ParseComments|parser.SkipObjectResolution, w.overlay); bad != nil {
		at := problem("", bad)
		report(token.Position{Filename: at.Path, Line: at.Line, Column: at.Column}, packages.ParseError, at.Message)
	}
	check := func(files []*ast.File, info *types.Info, tell func(types.Error)) *types.Package {
		config := types.Config{Importer: importer{w, p}, Sizes: w.sizes, FakeImportC: true, GoVersion: goVersion(language), Error: func(err error) {
			if e, ok := err.(types.Error); ok {
				tell(e)
			}
		}}
		checked, _ := config.Check(p.PkgPath, w.set, files, info) // its errors go to tell
		return checked
	}
	p.Types = check(p.Syntax, p.TypesInfo, func(e types.Error) { p.TypeErrors = append(p.TypeErrors, e) })
	var before map[string]bool // what was unused before the change that the overlay is
	if slices.ContainsFunc(p.GoFiles, func(f string) bool { return w.overlay[real(f)] != nil }) {
		before = map[string]bool{}
		files, _ := w.parse(p.GoFiles, parser.SkipObjectResolution, nil)
		check(files, nil, func(e types.Error) { before[e.Msg] = true })
	}
	for _, e := range p.TypeErrors {
		if bad == nil && (undefined(e.Msg) || before != nil && unused(e.Msg) && !before[e.Msg]) {
			report(w.set.PositionFor(e.Pos, false), packages.TypeError, e.Msg)
		}
	}
	if listed && len(p.Errors) == 0 {
		p.TypeErrors = nil // they are of what is not known of others
	}
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
		Instances: map[*ast.Ident]types.Instance{}, FileVersions: map[*ast.File]string{},
	}
}

// Nothing in another package could define the name.
func undefined(message string) bool {
	name, ok := strings.CutPrefix(message, "undefined: ")
	return ok && !strings.Contains(name, ".")
}

// What is not known of other packages may hide the use of a name.
func unused(message string) bool {
	return strings.HasPrefix(message, "declared and not used: ") || strings.HasSuffix(message, "imported and not used")
}

func (w *typer) parse(files []string, mode parser.Mode, overlay map[string][]byte) (all []*ast.File, first error) {
	parsed, errs := make([]*ast.File, len(files)), make([]error, len(files))
	check.AtOnce(runtime.GOMAXPROCS(0), files, func(i int, name string) {
		text, ok := overlay[real(name)]
		if !ok {
			text, errs[i] = folder.ReadRegular(name, MostSource)
		}
		if errs[i] == nil {
			parsed[i], errs[i] = parser.ParseFile(w.set, name, text, mode)
		}
	})
	return slices.DeleteFunc(parsed, func(f *ast.File) bool { return f == nil }), cmp.Or(errs...)
}

type importer struct {
	*typer
	of *packages.Package
}

func (w importer) Import(p string) (*types.Package, error) {
	found := w.of.Imports[p]
	if found == nil || len(found.GoFiles) == 0 {
		return nameOnly{}.Import(p)
	}
	if known := w.declared[found.ID]; known != nil {
		return known, nil
	}
	files, _ := w.parse(found.GoFiles, parser.SkipObjectResolution, w.overlay)
	config := types.Config{Importer: nameOnly{found.Imports}, Sizes: w.sizes, FakeImportC: true, IgnoreFuncBodies: true, Error: func(error) {}}
	known, _ := config.Check(found.PkgPath, w.set, files, nil)
	if known == nil {
		return nameOnly{}.Import(p)
	}
	known.MarkComplete()
	w.declared[found.ID] = known
	return known, nil
}

type nameOnly struct{ listed map[string]*packages.Package }

var versionPart = pattern.Of(`^v[0-9]+$`)

func (n nameOnly) Import(p string) (*types.Package, error) {
	name := path.Base(p)
	if versionPart().MatchString(name) {
		name = path.Base(path.Dir(p))
	}
	if listed := n.listed[p]; listed != nil && listed.Name != "" {
		name = listed.Name
	}
	known := types.NewPackage(p, name)
	known.MarkComplete()
	return known, nil
}

// bare are the packages of a folder by its files, and those that are not built here.
func (t *tree) bare(dir string) (own []item, others []string) {
	byName := map[string][]string{}
	for _, s := range t.folders[dir] {
		switch {
		case s.pkg == "":
		case !builtHere(s.file):
			others = append(others, s.file)
		default:
			byName[s.pkg] = append(byName[s.pkg], s.file)
		}
	}
	return phrase.Each(slices.Sorted(maps.Keys(byName)), func(name string) item {
		return item{Name: name, PkgPath: t.importPath(dir), Files: slices.Sorted(slices.Values(byName[name]))}
	}), others
}
