package source

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/check"
)

// setAroundRuns is PF038, for drivers that load tests.
func setAroundRuns(u *uses) (all []found) {
	for _, file := range u.pass.Files {
		if u.inTestFile(file.FileStart) {
			all = append(all, setAroundRun(file)...)
		}
	}
	return all
}

// test judges a file of tests, which takes nothing but the file.
func (k *Checker) test(path string, text []byte, to check.Sink) {
	if !bytes.Contains(text, []byte("GOMAXPROCS(")) || !bytes.Contains(text, []byte(".Run(")) {
		return
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return // go vet says so
	}
	all := setAroundRun(file)
	for _, f := range all {
		to.Finding(check.NewFinding("PF038", placeOf(set, f.pos), f.Message, f.Fix))
	}
	if len(all) > 0 {
		for _, a := range answers(set, file) {
			to.Ignore(a)
		}
	}
}

// processBench in src/testing/benchmark.go sets GOMAXPROCS back for each timed run.
func setAroundRun(file *ast.File) []found {
	named := importNames(file)
	if named["runtime"] == "" || named["testing"] == "" {
		return nil
	}
	var all []found
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr: // testing.Benchmark sets nothing back
			return !isCall(n, named["testing"], "Benchmark")
		case *ast.FuncDecl:
			all = append(all, setsBeforeRun(n.Type, n.Body, named)...)
		case *ast.FuncLit:
			all = append(all, setsBeforeRun(n.Type, n.Body, named)...)
		}
		return true
	})
	return all
}

// setsBeforeRun leaves out calls that restore what another one returned.
func setsBeforeRun(of *ast.FuncType, body *ast.BlockStmt, named map[string]string) (all []found) {
	b := benchmarkOf(of, named["testing"])
	if b == "" || body == nil {
		return nil
	}
	var last *ast.CallExpr
	deferred, restores := map[ast.Node]bool{}, map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return benchmarkOf(n.Type, named["testing"]) == ""
		case *ast.DeferStmt:
			deferred[n.Call] = true
		case *ast.AssignStmt:
			if call, ok := n.Rhs[0].(*ast.CallExpr); ok && isCall(call, named["runtime"], "GOMAXPROCS") {
				restores[types.ExprString(n.Lhs[0])] = true
			}
		case *ast.CallExpr:
			switch {
			case isCall(n, named["runtime"], "GOMAXPROCS") && len(n.Args) == 1 && !deferred[n] && !asks(n.Args[0]):
				last = n
			case isCall(n, b, "Run") && last != nil && !restores[types.ExprString(last.Args[0])]:
				all = append(all, findingAt(last,
					types.ExprString(last)+" has no effect on what "+b+".Run times: package testing sets GOMAXPROCS to the value of -cpu before each timed run",
					"remove it and run go test -bench . -cpu 1,2,4, whose results have the value in their names; or set and restore it in the function that "+b+".Run calls"))
				last = nil
			}
		}
		return true
	})
	return all
}

func asks(e ast.Expr) bool {
	text := types.ExprString(e)
	return text == "0" || strings.HasPrefix(text, "-")
}

func isCall(call *ast.CallExpr, x, name string) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	return ok && of.Name == x
}

func benchmarkOf(f *ast.FuncType, testing string) string {
	for _, p := range f.Params.List {
		if len(p.Names) == 1 && types.ExprString(p.Type) == "*"+testing+".B" {
			return p.Names[0].Name
		}
	}
	return ""
}

func importNames(file *ast.File) map[string]string {
	all := map[string]string{}
	for _, i := range file.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			all[p] = p[strings.LastIndexByte(p, '/')+1:]
			if i.Name != nil {
				all[p] = i.Name.Name
			}
		}
	}
	return all
}
