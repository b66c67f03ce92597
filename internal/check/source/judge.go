package source

//lint:file-ignore SA1019 where types are not judged, the parser's own objects are what there is

import (
	"cmp"
	"context"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/show/phrase"
)

type target struct {
	Loads    []load // how the go command lists them
	Environ  []string
	Overlay  map[string][]byte
	Language string // of packages for which the go command names none
	Decides  string // the go line that decides for their programs; "": their own
}

type load struct {
	Dir   string
	Words []string
}

type request struct {
	Of    *target // nil: as before
	Judge *item   // nil: to list all
}

type item struct {
	Listed        int // its number in the listing, from 1; 0: it was not listed
	Name, PkgPath string
	Files         []string
	Language      string
	Plain         bool   // by its syntax
	why           string // why so
}

type reply struct {
	Listed []listing // all packages
	Failed string    // why the go command has not listed all
	Judged *judged
}

type listing struct {
	Item    item
	Dir     string // "": it has no files
	Ignored []string
	Errors  []packages.Error
	Exports bool // GOMAXPROCS, by something that it depends on, or that could not be loaded
}

type judged struct {
	Errors  []packages.Error
	Failed  []string // rules that failed, in words
	Found   []found
	Imports map[string][]importGroup // of the files in which something may be removed
}

// judger has the go command list packages, gives them types, and runs the rules, all as costly as
// the author of the source likes: in a process of its own, see process. Files are absolute.
type judger struct {
	of     target
	listed []*packages.Package
	typer  *typer
}

func (j *judger) answer(ctx context.Context, r request) (a reply) {
	if r.Of != nil {
		*j = judger{of: *r.Of, typer: newTyper(r.Of.Overlay)}
	}
	if r.Judge != nil {
		return reply{Judged: j.judge(*r.Judge)}
	}
	for _, l := range j.of.Loads {
		config := packages.Config{Context: ctx, Mode: listMode, Dir: l.Dir, Env: j.of.Environ, Overlay: j.of.Overlay}
		listed, err := packages.Load(&config, l.Words...)
		if err != nil {
			a.Failed = err.Error()
			break
		}
		j.listed = append(j.listed, listed...)
	}
	for n, p := range j.listed {
		l := listing{Item: item{Listed: n + 1, Name: p.Name, PkgPath: p.PkgPath, Files: p.GoFiles}, Ignored: p.IgnoredFiles, Errors: p.Errors, Exports: anyExports(p)}
		if p.Module != nil {
			l.Item.Language = p.Module.GoVersion
		}
		if files := slices.Concat(p.GoFiles, p.IgnoredFiles, p.OtherFiles); len(files) > 0 {
			l.Dir = filepath.Dir(real(files[0]))
		}
		a.Listed = append(a.Listed, l)
	}
	return a
}

// judge forgets what it has read of the package.
func (j *judger) judge(i item) *judged {
	p := &packages.Package{ID: i.PkgPath, Name: i.Name, PkgPath: i.PkgPath, GoFiles: i.Files}
	if i.Listed > 0 && i.Listed <= len(j.listed) && !i.Plain {
		p = j.listed[i.Listed-1]
	}
	language := cmp.Or(i.Language, j.of.Language)
	if i.Plain {
		j.typer.plain(p, language)
	} else {
		j.typer.declare(p, language)
	}
	u, failed := look(&analysis.Pass{
		Fset: j.typer.set, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo, TypeErrors: p.TypeErrors,
		Module: &analysis.Module{GoVersion: cmp.Or(j.of.Decides, language)},
	})
	out := &judged{Errors: p.Errors, Failed: phrase.Each(failed, error.Error), Imports: map[string][]importGroup{}}
	for _, f := range u.found {
		f.Place = placeOf(j.typer.set, f.pos)
		if len(f.Remove) > 0 && out.Imports[f.Path] == nil {
			out.Imports[f.Path] = u.importsOf(u.file(f.pos))
		}
		out.Found = append(out.Found, f)
	}
	p.Syntax, p.Types, p.TypesInfo, p.TypeErrors = nil, nil, nil, nil
	return out
}

// plain takes a time that grows with the length of the text and with nothing in it: what an import
// is called, literals, and which variable of its file a name is. Types stay unknown.
func (w *typer) plain(p *packages.Package, language string) {
	p.TypeErrors = []types.Error{{Fset: w.set, Msg: "its types are not known"}}
	p.TypesInfo = newInfo()
	p.Syntax, _ = w.parse(p.GoFiles, parser.ParseComments, w.overlay) // with the variables of each file
	var heads []*ast.File                                             // which nothing but imports is in
	for _, f := range p.Syntax {
		head := &ast.File{Package: f.Package, Name: f.Name, FileStart: f.FileStart, FileEnd: f.FileEnd, Imports: f.Imports}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				head.Decls = append(head.Decls, d)
			}
		}
		heads = append(heads, head)
	}
	config := types.Config{Importer: nameOnly{}, Sizes: w.sizes, FakeImportC: true, Error: func(error) {}, GoVersion: goVersion(language)}
	p.Types, _ = config.Check(p.PkgPath, w.set, heads, p.TypesInfo)
	if p.Types == nil {
		p.Types = types.NewPackage(p.PkgPath, p.Name)
	}
	names := plainNames{map[*ast.Object]types.Object{}, map[*ast.Object]constant.Value{}}
	for n, f := range p.Syntax {
		imports := p.TypesInfo.Scopes[heads[n]]
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if v := literal(n); v != nil {
					p.TypesInfo.Types[n] = types.TypeAndValue{Value: v}
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && imports != nil {
					if of, ok := imports.Lookup(x.Name).(*types.PkgName); ok {
						p.TypesInfo.Uses[x] = of
					}
				}
			case *ast.Ident:
				names.name(n, p)
			}
			return true
		})
	}
}

type plainNames struct {
	variables map[*ast.Object]types.Object
	constants map[*ast.Object]constant.Value // nil: it is not written as a literal
}

func (d plainNames) name(id *ast.Ident, p *packages.Package) {
	if id.Obj == nil {
		return
	}
	switch id.Obj.Kind {
	case ast.Con:
		v, known := d.constants[id.Obj]
		if spec, ok := id.Obj.Decl.(*ast.ValueSpec); ok && !known {
			d.read(spec)
			v = d.constants[id.Obj]
		}
		if v != nil {
			p.TypesInfo.Types[id] = types.TypeAndValue{Value: v}
		}
	case ast.Var:
		o := d.variables[id.Obj]
		if o == nil {
			o = types.NewVar(id.Obj.Pos(), p.Types, id.Name, types.Typ[types.Invalid])
			d.variables[id.Obj] = o
		}
		if id.Pos() == id.Obj.Pos() {
			p.TypesInfo.Defs[id] = o
		} else {
			p.TypesInfo.Uses[id] = o
		}
	}
}

// read notes all constants of a declaration at once, since it may be as long as the file.
func (d plainNames) read(spec *ast.ValueSpec) {
	for i, n := range spec.Names {
		var v constant.Value
		if len(spec.Values) == len(spec.Names) {
			if lit, ok := spec.Values[i].(*ast.BasicLit); ok {
				v = literal(lit)
			}
		}
		d.constants[n.Obj] = v
	}
}

const mostDigits = 20 // more than a number of CPUs has

// literal is the value of a number or a text; nil: it is of another kind, or takes long to read.
func literal(lit *ast.BasicLit) constant.Value {
	if lit.Kind != token.STRING && (lit.Kind != token.INT || len(lit.Value) > mostDigits) {
		return nil
	}
	return constant.MakeFromLiteral(lit.Value, lit.Kind, 0)
}

func goVersion(language string) string {
	return phrase.If(language != "", "go"+language, "")
}
