package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/maxprocs/facts"
)

// The functions and packages that the rules look for.
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

// usesAnalyzer gathers once what all rules of a package ask.
var usesAnalyzer = &analysis.Analyzer{
	Name:             "procfituses",
	Doc:              "collect what a package does with GOMAXPROCS, for the rules",
	Requires:         []*analysis.Analyzer{inspect.Analyzer},
	RunDespiteErrors: true,
	ResultType:       reflect.TypeFor[*uses](),
	Run:              guarded(func(pass *analysis.Pass) (any, error) { return gather(pass), nil }),
}

// uses is what a package does to GOMAXPROCS.
type uses struct {
	pass   *analysis.Pass
	root   inspector.Cursor
	calls  map[string][]inspector.Cursor // by the function's name, tests left out
	counts []inspector.Cursor            // runtime.NumCPU as a field's value, not called
	set    map[types.Object][]ast.Expr   // what a variable is set to; a nil is something else
	flags  map[types.Object]ast.Expr     // the default of the flag that sets it
	broken bool                          // it does not type-check
	answer []answer
}

func gather(pass *analysis.Pass) *uses {
	u := &uses{
		pass:   pass,
		root:   pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(),
		calls:  map[string][]inspector.Cursor{},
		set:    map[types.Object][]ast.Expr{},
		flags:  map[types.Object]ast.Expr{},
		broken: len(pass.TypeErrors) > 0,
	}
	for c := range u.root.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		name := u.callee(call)
		u.flag(call)
		switch name {
		case fnGOMAXPROCS, fnNumCPU, fnSetMaxThreads, fnSetenv, fnGetenv, fnLookupEnv:
			if !u.inTest(c) {
				u.calls[name] = append(u.calls[name], c)
			}
		}
	}
	for c := range u.root.Preorder((*ast.KeyValueExpr)(nil)) {
		v := c.ChildAt(edge.KeyValueExpr_Value, -1)
		if e, ok := v.Node().(ast.Expr); ok && u.callee(&ast.CallExpr{Fun: e}) == fnNumCPU && !u.inTest(c) {
			u.counts = append(u.counts, v)
		}
	}
	u.assignments()
	for _, f := range pass.Files {
		u.answer = append(u.answer, answers(pass.Fset, f)...)
	}
	return u
}

// callee names the function that is called: "runtime.NumCPU". It needs no types of the
// function, so that it works where a package does not type-check.
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

// file is the one that holds a position.
func (u *uses) file(pos token.Pos) *ast.File {
	for _, f := range u.pass.Files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return f
		}
	}
	return nil
}

// inTest reports whether it is in a test, or in a function for tests.
func (u *uses) inTest(c inspector.Cursor) bool {
	if strings.HasSuffix(u.pass.Fset.Position(c.Node().Pos()).Filename, "_test.go") {
		return true
	}
	for e := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		var params *ast.FieldList
		switch f := e.Node().(type) {
		case *ast.FuncDecl:
			params = f.Type.Params
		case *ast.FuncLit:
			params = f.Type.Params
		}
		for _, p := range params.List {
			t := p.Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if s, ok := t.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "testing" {
					return true
				}
			}
		}
	}
	return false
}

// function is the declared one around it; nil: it runs before main.
func function(c inspector.Cursor) *ast.FuncDecl {
	for e := range c.Enclosing((*ast.FuncDecl)(nil)) {
		return e.Node().(*ast.FuncDecl)
	}
	return nil
}

// readsVariable reports whether the call asks the environment for GOMAXPROCS.
func (u *uses) readsVariable(call *ast.CallExpr) bool {
	name := u.callee(call)
	return (name == fnGetenv || name == fnLookupEnv) && len(call.Args) == 1 && u.text(call.Args[0]) == variable
}

// text is the value of a constant string.
func (u *uses) text(e ast.Expr) string {
	if v := u.pass.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	return ""
}

// guarded reports whether the function around it asks the environment first.
func (u *uses) guarded(c inspector.Cursor) bool {
	in := function(c)
	for _, name := range []string{fnGetenv, fnLookupEnv} {
		for _, asked := range u.calls[name] {
			if in != nil && function(asked) == in && u.readsVariable(asked.Node().(*ast.CallExpr)) {
				return true
			}
		}
	}
	return false
}

// language is the go line that counts for the package: "1.24"; "" where none is known.
func (u *uses) language() string { return strings.TrimPrefix(u.pass.Pkg.GoVersion(), "go") }

// follows reports whether the runtime follows a limit by itself, for a go line; one that is
// not known is taken for a new one.
func follows(language string) bool {
	known := func(cpus float64) facts.Fact { return facts.Fact{State: facts.Known, CPUs: cpus} }
	// Any machine with more CPUs than its limit tells it; the policy knows the release.
	const cpus, limit = 64, 4
	d := facts.Decide(facts.Facts{
		Affinity: known(cpus),
		Cgroup:   facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Version: 2, MountRoot: "/"},
		Limits:   []facts.Limit{{Fact: facts.Fact{State: facts.Known, CPUs: limit, Raw: "400000 100000\n"}, Dir: "/"}},
	}, facts.Go{Language: language})
	return d.Procs == limit
}

// choice is what the runtime chooses by itself, for a go line.
func choice(language string) string {
	if follows(language) {
		return "the CPU limit rounded up, at least 2, and without a limit all CPUs of the machine"
	}
	return "all CPUs of the machine with go " + language + ", and the CPU limit from go 1.25 on"
}
