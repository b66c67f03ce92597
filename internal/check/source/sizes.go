package source

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

// sizing are words of names that tell how many of something work at once.
var sizing = pattern.Of(`(?i)worker|shard|pool|concurren|parallel|thread|limit|routine|jobs|slots|bucket|stripe|partition|capacity|inflight|queue|task|eventloop|(?-i:(?:[Nn]um|[Nn]b|[Mm]ax)[A-Z]\w*[eo]rs$)`)

// counting are words of names that tell what there is, and not what is made of it.
var counting = pattern.Of(`(?i)cpu|procs|cores`)

func machineSizes(u *uses) (all []found) {
	for _, c := range slices.Concat(u.calls[fnNumCPU], u.counts) {
		what := u.sized(c, mostSteps)
		if what == "" {
			continue
		}
		f := findingAt(c.Node(), what+" by runtime.NumCPU, the CPUs of the machine, with any limit and any GOMAXPROCS",
			"use runtime.GOMAXPROCS(0), which is the current value: "+choice(u.language()))
		if u.function(c) == nil && !inFunction(c) {
			f.Fix += "; call it where it is used, because main has not run yet"
		}
		all = append(all, f)
	}
	return all
}

func inFunction(c inspector.Cursor) bool {
	for e := range around(c) {
		if _, ok := e.Node().(*ast.FuncLit); ok {
			return true
		}
	}
	return false
}

func (u *uses) sized(c inspector.Cursor, steps int) string {
	if steps == 0 {
		return ""
	}
	for range mostNesting {
		up := c.Parent()
		switch p := up.Node().(type) {
		case *ast.ParenExpr, *ast.StarExpr:
		case *ast.BinaryExpr:
			if p.Op == token.LSS || p.Op == token.LEQ {
				return started(up)
			}
			if !slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL, token.QUO, token.SHL, token.SHR}, p.Op) {
				return ""
			}
		case *ast.CallExpr:
			if what, through := u.argument(p, c.Node(), steps); !through {
				return u.unlessListed(up, what)
			}
		case *ast.KeyValueExpr:
			return u.inLiteral(up, p)
		case *ast.AssignStmt:
			return u.assigned(up, p.Lhs, p.Rhs, c, steps)
		case *ast.ValueSpec:
			return u.assigned(up, declared(p), p.Values, c, steps)
		case *ast.RangeStmt:
			if p.X == c.Node() {
				return startsIn(p.Body)
			}
			return ""
		case *ast.ReturnStmt:
			return u.returned(up)
		default:
			return ""
		}
		c = up
	}
	return ""
}

const mostUses = 256 // of a variable, that are looked at

// sizedBy says what a variable sizes, by its uses in this package outside of a statement.
func (u *uses) sizedBy(o types.Object, but inspector.Cursor, steps int) (what string) {
	at := followed{o, but, steps}
	if known, ok := u.sizes[at]; ok {
		return known
	}
	for _, c := range u.names[o][:min(mostUses, len(u.names[o]))] {
		if !(but.Valid() && but.Contains(c)) && !u.inTest(c) {
			if what = u.sized(c, steps-1); what != "" {
				break
			}
		}
	}
	u.sizes[at] = what
	return what
}

// returned goes by the name of the function, or of the field that it is the value of.
func (u *uses) returned(c inspector.Cursor) string {
	for e := range around(c) {
		switch f := e.Node().(type) {
		case *ast.FuncDecl:
			if sizing().MatchString(f.Name.Name) {
				return "what " + f.Name.Name + " gives is"
			}
			return ""
		case *ast.FuncLit:
			if kv, ok := e.Parent().Node().(*ast.KeyValueExpr); ok {
				return u.inLiteral(e.Parent(), kv)
			}
			return ""
		}
	}
	return ""
}

// unlessListed drops a slice whose variable lists the CPUs themselves.
func (u *uses) unlessListed(call inspector.Cursor, what string) string {
	if a, ok := call.Parent().Node().(*ast.AssignStmt); ok && what == sizedSlice && len(a.Lhs) == 1 {
		if id, ok := a.Lhs[0].(*ast.Ident); ok && counting().MatchString(id.Name) && !sizing().MatchString(id.Name) {
			return ""
		}
	}
	return what
}

func (u *uses) inLiteral(at inspector.Cursor, p *ast.KeyValueExpr) string {
	if what := u.named(p.Key); what != "" {
		return what
	}
	key, isName := p.Key.(*ast.Ident)
	literal, ok := at.Parent().Node().(*ast.CompositeLit)
	if !ok || !isName || counting().MatchString(key.Name) {
		return ""
	}
	of := nameOf(literal.Type)
	return phrase.If(sizing().MatchString(of), key.Name+" of a "+of+" is set", "")
}

func (u *uses) named(e ast.Expr) string {
	name := nameOf(e)
	return phrase.If(sizing().MatchString(name) && !counting().MatchString(name), name+" is sized", "")
}

func (u *uses) assigned(at inspector.Cursor, targets, values []ast.Expr, value inspector.Cursor, steps int) string {
	i := slices.IndexFunc(values, func(v ast.Expr) bool { return v == value.Node() })
	if i < 0 || i >= len(targets) {
		return ""
	}
	if what := u.named(targets[i]); what != "" {
		return what
	}
	id, ok := targets[i].(*ast.Ident)
	if !ok {
		return ""
	}
	o := u.pass.TypesInfo.ObjectOf(id)
	if o == nil {
		return ""
	}
	return u.sizedBy(o, at, steps)
}

// through: the call hands the number on, as a conversion, min or max.
func (u *uses) argument(call *ast.CallExpr, arg ast.Node, steps int) (what string, through bool) {
	i := slices.IndexFunc(call.Args, func(a ast.Expr) bool { return a == arg })
	if i < 0 {
		return "", false
	}
	if u.pass.TypesInfo.Types[call.Fun].IsType() {
		return "", true
	}
	name := nameOf(call.Fun)
	switch name {
	case "":
		return "", false
	case "min", "Min":
		return "", !u.besideCurrent(call, arg) // no more than the value in effect
	case "max", "Max":
		return "", true
	case "make":
		return u.made(call), false
	case "GOMAXPROCS", "SetMaxThreads":
		return "", false // PF025 and PF034
	}
	if u.besideCurrent(call, arg) {
		return "", false // it is given both, and chooses
	}
	if u.flagDefault(call, 0) == arg || u.flagDefault(call, 1) == arg {
		for _, a := range call.Args {
			if flag := u.text(a); flag != "" && sizing().MatchString(flag) {
				return "the default of the flag " + flag + " is", false
			}
			if u.text(a) != "" {
				break // the name is the first of its texts
			}
		}
		return "", u.flagDefault(call, 0) == arg // by what its value is used for
	}
	if sizing().MatchString(name) {
		return "a size for " + name + " is set", false
	}
	if s, ok := u.pass.TypesInfo.TypeOf(call.Fun).(*types.Signature); ok && i < s.Params().Len() {
		if p := s.Params().At(i).Name(); sizing().MatchString(p) && !counting().MatchString(p) && !s.Variadic() {
			return fmt.Sprintf("%s of %s is sized", p, name), false
		}
		if f, ok := u.object(ast.Unparen(call.Fun)).(*types.Func); ok && f.Pkg() == u.pass.Pkg && !s.Variadic() {
			if what := u.sizedBy(s.Params().At(i), inspector.Cursor{}, steps); what != "" {
				return what, false
			}
		}
	}
	if of := u.qualifier(call.Fun); sizing().MatchString(of) {
		return "a size for " + of + "." + name + " is set", false
	}
	return "", isNumber(u.pass.TypesInfo.TypeOf(call)) // as a default is that a setting may replace
}

func (u *uses) qualifier(fun ast.Expr) string {
	if s, ok := ast.Unparen(fun).(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			if _, ok := u.pass.TypesInfo.Uses[x].(*types.PkgName); ok {
				return x.Name
			}
		}
	}
	return ""
}

func isNumber(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func (u *uses) besideCurrent(call *ast.CallExpr, than ast.Node) bool {
	return slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return a != than && u.origin(a).kind == current })
}

const sizedSlice = "a slice is sized"

func (u *uses) made(call *ast.CallExpr) string {
	if t := u.pass.TypesInfo.TypeOf(call.Args[0]); t != nil {
		switch t.Underlying().(type) {
		case *types.Chan:
			return "a channel is sized"
		case *types.Slice:
			return sizedSlice
		}
	}
	return ""
}

func started(condition inspector.Cursor) string {
	if loop, ok := condition.Parent().Node().(*ast.ForStmt); ok && loop.Cond == condition.Node() {
		return startsIn(loop.Body)
	}
	return ""
}

func startsIn(body *ast.BlockStmt) string {
	starts := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				starts = true // sync.WaitGroup, errgroup.Group
			}
		}
		return !starts
	})
	return phrase.If(starts, "the goroutines of a loop are counted", "")
}

// defaultThreads is the runtime's own bound (runtime/debug.SetMaxThreads).
const defaultThreads = 10000

func maxThreads(u *uses) (all []found) {
	for _, c := range u.calls[fnSetMaxThreads] {
		call := c.Node().(*ast.CallExpr)
		if len(call.Args) != 1 {
			continue
		}
		var n string
		switch o := u.origin(call.Args[0]); {
		case o.kind == fixed && o.n < defaultThreads && o.n > 0:
			n = fmt.Sprint(o.n)
		case o.kind == machine || o.kind == current || o.kind == fromEnv:
			n = "a multiple of the CPUs"
		default:
			continue
		}
		all = append(all, findingAt(call, "debug.SetMaxThreads slows nothing down: the program crashes as soon as it needs more threads than "+n,
			fmt.Sprintf("remove the call, so that the default of %d applies, and limit blocking calls with a semaphore or a pool", defaultThreads)))
	}
	return all
}

func earlySizes(u *uses) (all []found) {
	for _, c := range u.calls[fnGOMAXPROCS] {
		call := c.Node().(*ast.CallExpr)
		if u.origin(call).kind != current {
			continue
		}
		v := u.packageVariable(c)
		if v == "" {
			continue
		}
		all = append(all, findingAt(call,
			v+" reads runtime.GOMAXPROCS(0) before main runs, and does not follow later changes by main or of the limit",
			"call runtime.GOMAXPROCS(0) where the value is used: it is then the current value, "+choice(u.language())))
	}
	return all
}

// packageVariable names the variable that is initialised, or set by an init, with a value.
func (u *uses) packageVariable(c inspector.Cursor) string {
	f := u.function(c)
	if f != nil && (f.Name.Name != "init" || f.Recv != nil) {
		return ""
	}
	name := ""
	for e := range around(c) {
		switch n := e.Node().(type) {
		case *ast.FuncLit:
			return "" // it runs when it is called
		case *ast.ValueSpec:
			if f == nil {
				name = cmp.Or(name, n.Names[0].Name)
			}
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				if o := u.object(target); o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
					name = cmp.Or(name, o.Name())
				}
			}
		}
	}
	return name
}

// constructing are names of functions that run once, and make what stays.
var constructing = pattern.Of(`^(?:main$|init$|[Nn]ew|[Ii]nit|[Ss]tart|[Oo]pen|[Ss]etup|[Dd]efault)`)

// keptSizes is PF037: what is made once as large as GOMAXPROCS was, in a module that changes
// it at run time. Real cases: elastic/apm-server#1841 and #9393.
func keptSizes(u *uses) (all []found) {
	for _, c := range u.calls[fnGOMAXPROCS] {
		call, in := c.Node().(*ast.CallExpr), u.function(c)
		if u.origin(call).kind != current || in == nil || !constructing().MatchString(in.Name.Name) || u.packageVariable(c) != "" {
			continue
		}
		what := u.sized(c, mostSteps)
		if what == "" {
			continue
		}
		f := findingAt(call,
			fmt.Sprintf("%s by runtime.GOMAXPROCS(0) once, in %s, and the module changes GOMAXPROCS at run time: then it is too small or too large", what, in.Name.Name),
			"read the value where it is used, or resize when it changes (OnChange of maxprocs.Watch); GOMAXPROCS stays as it is")
		f.Changing = true
		all = append(all, f)
	}
	return all
}

// changes reports whether a package changes GOMAXPROCS at run time: golangci-lint shows no more than it.
func changes(p *types.Package) bool {
	return slices.ContainsFunc(p.Imports(), func(p *types.Package) bool { return changesByImport(p.Path()) })
}

func changesByImport(p string) bool {
	return p == pkgMaxprocs+"/live" || followsWhenImported(p)
}
