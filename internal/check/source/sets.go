package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/check"
)

// Sets is how the source of the program that a manifest starts sets GOMAXPROCS: of the programs of a go.mod
// the one that the manifest calls by its name, else any. It may be called when all files are read.
func (k *Checker) Sets(goMod string, u check.Use) (guarded check.MaySet) {
	file, err := filepath.Abs(filepath.FromSlash(goMod))
	if err != nil {
		return check.MaySet{}
	}
	t := k.trees()[filepath.Dir(real(file))]
	if t == nil || t.module == nil {
		return check.MaySet{}
	}
	programs := t.programs
	called := slices.DeleteFunc(slices.Clone(programs), func(dir string) bool {
		return !slices.ContainsFunc(check.NamesOf(t.importPath(dir)), u.IsCalled)
	})
	if len(called) > 0 {
		programs = called
	}
	for _, dir := range programs {
		for files := range t.parts(dir) {
			for _, s := range files {
				switch {
				case s.sets.Words == "" || !builtHere(s.file):
				case !s.sets.Guarded:
					return s.sets
				case guarded.Words == "":
					guarded = s.sets
				}
			}
		}
	}
	return guarded
}

// setIn prefers a call of runtime.GOMAXPROCS that sets it whatever the environment says.
func setIn(set *token.FileSet, file *ast.File) (first check.MaySet) {
	runtime := importNames(file)["runtime"]
	for _, d := range file.Decls {
		var in check.MaySet
		ast.Inspect(d, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			switch nameOf(call.Fun) {
			case "Getenv", "LookupEnv":
				name, ok := call.Args[0].(*ast.BasicLit)
				in.Guarded = in.Guarded || ok && name.Value == strconv.Quote(variable)
			case "GOMAXPROCS":
				if in.Words == "" && isCall(call, runtime, "GOMAXPROCS") && !asks(call.Args[0]) {
					at := placeOf(set, call.Pos())
					in.Words = fmt.Sprintf("%s:%d calls runtime.GOMAXPROCS%s", at.Path, at.Line, literalArgument(call.Args[0]))
				}
			}
			return true
		})
		if in.Words != "" && (first.Words == "" || first.Guarded && !in.Guarded) {
			first = in
		}
	}
	return first
}

func literalArgument(n ast.Expr) string {
	if lit, ok := n.(*ast.BasicLit); ok && len(lit.Value) <= mostDigits {
		return "(" + lit.Value + ")"
	}
	return ""
}
