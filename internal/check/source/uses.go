package source

import (
	"cmp"
	"errors"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"iter"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

const (
	fnGOMAXPROCS    = "runtime.GOMAXPROCS"
	fnNumCPU        = "runtime.NumCPU"
	fnSetMaxThreads = "runtime/debug.SetMaxThreads"
	fnSetenv        = "os.Setenv"
	fnGetenv        = "os.Getenv"
	fnLookupEnv     = "os.LookupEnv"
	fnAtoi          = "strconv.Atoi"
	fnItoa          = "strconv.Itoa"
	fnParseInt      = "strconv.ParseInt"
	fnParseUint     = "strconv.ParseUint"

	pkgAutomaxprocs = "go.uber.org/automaxprocs"
	pkgMaxprocs     = "github.com/procfit/procfit/maxprocs"
	variable        = "GOMAXPROCS"
)

// usesAnalyzer looks at a package once, for all Analyzers.
var usesAnalyzer = &analysis.Analyzer{
	Name:             "procfituses",
	Doc:              "collect what a package does with GOMAXPROCS, for the rules",
	RunDespiteErrors: true,
	ResultType:       reflect.TypeFor[*uses](),
	Run: func(pass *analysis.Pass) (any, error) {
		u, failed := look(pass)
		return u, errors.Join(failed...)
	},
}

type uses struct {
	pass   *analysis.Pass
	found  []found
	root   inspector.Cursor
	calls  map[string][]inspector.Cursor // by the function's name, tests left out
	counts []inspector.Cursor            // runtime.NumCPU as a field's value, not called
	set    map[types.Object][]assigned   // what a variable is set to
	flags  map[types.Object]ast.Expr     // the default of the flag that sets it
	broken bool                          // it does not type-check
	answer []check.Ignore

	// Where things are, so that no rule looks through the package for each of its findings.
	files    map[*token.File]inspector.Cursor
	funcs    []*ast.FuncDecl                     // in ascending order
	tests    []extent                            // functions for tests, by their token.Pos
	asking   map[*ast.FuncDecl]bool              // that ask the environment for the variable
	names    map[types.Object][]inspector.Cursor // where a variable is used
	ones     map[followed]origin                 // of oneOf
	sizes    map[followed]string                 // of sizedBy
	lowering map[*ast.FuncDecl]bool              // whether it compares the value in effect with the CPUs of the machine
}

// assigned is a value, nil where it is something else, and the statement that a variable gets it by.
type assigned struct {
	ast.Expr
	at inspector.Cursor
}

// followed is a variable, outside of a statement, with how much further it is followed.
type followed struct {
	o     types.Object
	but   inspector.Cursor
	steps int
}

func gather(pass *analysis.Pass) *uses {
	u := &uses{
		pass:   pass,
		root:   inspector.New(pass.Files).Root(),
		calls:  map[string][]inspector.Cursor{},
		set:    map[types.Object][]assigned{},
		flags:  map[types.Object]ast.Expr{},
		broken: len(pass.TypeErrors) > 0,
		files:  map[*token.File]inspector.Cursor{},
		asking: map[*ast.FuncDecl]bool{},
		names:  map[types.Object][]inspector.Cursor{},

		ones: map[followed]origin{}, sizes: map[followed]string{}, lowering: map[*ast.FuncDecl]bool{},
	}
	u.functions()
	for c := range u.root.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		u.flag(call)
		if name := u.callee(call); name != "" && !u.inTest(c) {
			u.calls[name] = append(u.calls[name], c)
			if in := u.function(c); in != nil && u.readsVariable(call) {
				u.asking[in] = true
			}
		}
	}
	for c := range u.root.Preorder((*ast.KeyValueExpr)(nil)) {
		v := c.ChildAt(edge.KeyValueExpr_Value, -1)
		if e, ok := v.Node().(ast.Expr); ok && u.callee(&ast.CallExpr{Fun: e}) == fnNumCPU && !u.inTest(c) {
			u.counts = append(u.counts, v)
		}
	}
	u.parameters()
	u.assignments()
	for c := range u.root.Preorder((*ast.Ident)(nil)) {
		if v, ok := pass.TypesInfo.Uses[c.Node().(*ast.Ident)].(*types.Var); ok {
			u.names[v] = append(u.names[v], c)
		}
	}
	for _, f := range pass.Files {
		u.answer = append(u.answer, answers(pass.Fset, f)...)
	}
	return u
}

func (u *uses) functions() {
	for f := range u.root.Children() {
		u.files[u.pass.Fset.File(f.Node().(*ast.File).FileStart)] = f
	}
	for c := range u.root.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		var of *ast.FuncType
		switch f := c.Node().(type) {
		case *ast.FuncDecl:
			of = f.Type
			u.funcs = append(u.funcs, f)
		case *ast.FuncLit:
			of = f.Type
		}
		if slices.ContainsFunc(of.Params.List, func(p *ast.Field) bool {
			return strings.HasPrefix(strings.TrimPrefix(types.ExprString(p.Type), "*"), "testing.")
		}) {
			u.tests = append(u.tests, extent{From: int(c.Node().Pos()), To: int(c.Node().End())})
		}
	}
	u.tests = merged(u.tests)
	sorting.Stable(u.funcs, func(a, b *ast.FuncDecl) int { return cmp.Compare(a.Pos(), b.Pos()) })
}

// callee is "runtime.NumCPU". It needs no types, so that it works in a package with errors.
func (u *uses) callee(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			if p, ok := u.pass.TypesInfo.Uses[x].(*types.PkgName); ok {
				return p.Imported().Path() + "." + f.Sel.Name
			}
		}
	case *ast.Ident: // of an import with a dot
		if o, ok := u.pass.TypesInfo.Uses[f].(*types.Func); ok && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			return o.Pkg().Path() + "." + o.Name()
		}
	}
	return ""
}

func (u *uses) file(pos token.Pos) *ast.File {
	if c, ok := u.files[u.pass.Fset.File(pos)]; ok {
		return c.Node().(*ast.File)
	}
	return nil
}

func (u *uses) inTest(c inspector.Cursor) bool {
	at := c.Node().Pos()
	return u.inTestFile(at) || within(u.tests, int(at))
}

// inTestFile reports whether a place is in a file of tests, whatever a //line calls it.
func (u *uses) inTestFile(at token.Pos) bool {
	f := u.pass.Fset.File(at)
	return f != nil && strings.HasSuffix(f.Name(), "_test.go")
}

// function is the declared one around it; nil: it runs before main.
func (u *uses) function(c inspector.Cursor) *ast.FuncDecl {
	at := c.Node().Pos()
	i, found := slices.BinarySearchFunc(u.funcs, at, func(f *ast.FuncDecl, at token.Pos) int { return cmp.Compare(f.Pos(), at) })
	if !found {
		i--
	}
	if i < 0 || at >= u.funcs[i].End() {
		return nil
	}
	return u.funcs[i]
}

const mostNesting = 100 // nodes, from a number outwards

func around(c inspector.Cursor) iter.Seq[inspector.Cursor] {
	return func(yield func(inspector.Cursor) bool) {
		for range mostNesting {
			if c.Node() == nil || !yield(c) {
				return
			}
			if c = c.Parent(); !c.Valid() {
				return
			}
		}
	}
}

func (u *uses) readsVariable(call *ast.CallExpr) bool {
	name := u.callee(call)
	return (name == fnGetenv || name == fnLookupEnv) && len(call.Args) == 1 && u.text(call.Args[0]) == variable
}

func (u *uses) text(e ast.Expr) string {
	if v := u.pass.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	return ""
}

func (u *uses) guarded(c inspector.Cursor) bool { return u.asking[u.function(c)] }

// language is the go line that decides for the programs, as "1.24"; types may be of the module's.
func (u *uses) language() string {
	line := u.pass.Pkg.GoVersion()
	if m := u.pass.Module; m != nil {
		line = cmp.Or(m.GoVersion, line)
	}
	return strings.TrimPrefix(line, "go")
}

// follows takes a go line; one that is not known is taken for a new one.
func follows(language string) bool { return facts.Go{Language: language}.ReadsLimit(facts.Facts{}) }

func choice(language string) string {
	return phrase.If(follows(language), "the CPU limit rounded up, at least 2, and without a limit all CPUs of the machine",
		"all CPUs of the machine with go "+language+", and the CPU limit from go 1.25 on")
}
