package page

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// remarksIn are the types with a Code that the packages of a verdict declare, by package and name,
// and how often each is made.
func remarksIn(t *testing.T, folders ...string) map[string]int {
	t.Helper()
	made := map[string]int{}
	for _, folder := range folders {
		packages, err := parser.ParseDir(token.NewFileSet(), folder, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range packages {
			ast.Inspect(p, func(n ast.Node) bool {
				if f, ok := n.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Code" {
					made[name+"."+f.Recv.List[0].Type.(*ast.Ident).Name] += 0
				}
				return true
			})
		}
		for name, p := range packages {
			count := func(e ast.Expr) {
				if id, ok := e.(*ast.Ident); ok {
					if _, is := made[name+"."+id.Name]; is {
						made[name+"."+id.Name]++
					}
				}
			}
			ast.Inspect(p, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					count(n.Type)
				case *ast.ValueSpec: // a variable that is filled in
					count(n.Type)
				}
				return true
			})
		}
	}
	return made
}

// Each remark that is made has a row, and each row is of one.
func TestEveryRemarkHasWords(t *testing.T) {
	made := remarksIn(t, "..", "../canary")
	if len(made) < 40 {
		t.Fatalf("only %d remarks", len(made))
	}
	for kind, times := range made {
		if times == 0 {
			t.Errorf("%s is never made", kind)
		}
	}
	for of := range catalogue {
		if _, is := made[of.String()]; !is {
			t.Errorf("%s has a row, and is no remark", of)
		}
		delete(made, of.String())
	}
	for kind := range made {
		t.Errorf("%s has no row", kind)
	}
}

// unshown are the numbers of remarks that are not in their words, and why.
var unshown = map[string]string{}

// numbers are the numbers in a remark, with names as in Settings[0].Value and a way to set them.
// What a journal holds has words of its own, and a value is its name and its levels.
func numbers(v reflect.Value, name string, visit func(name string, set func(float64))) {
	if v.CanInterface() && strings.HasSuffix(v.Type().PkgPath(), "verdict/journal") {
		return
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		visit(name, func(x float64) { v.Set(reflect.ValueOf(x).Convert(v.Type())) })
	case reflect.Pointer:
		numbers(v.Elem(), name, visit)
	case reflect.Slice:
		numbers(v.Index(0), name+"[0]", visit)
	case reflect.Struct:
		if value, is := v.Addr().Interface().(*contest.Value); is {
			visit(name, func(x float64) { value.Procs, value.Throughput.Mean, value.P99.Mean = int(x), &x, &x })
			return
		}
		for i := range v.NumField() {
			numbers(v.Field(i), strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."), visit)
		}
	}
}

// shownIn are the numbers of a kind of remark, by whether one changes the words of an example.
func shownIn(t *testing.T, of reflect.Type, bools bool) map[string]bool {
	r := pagetest.Typical()
	w := words{&r.Groups[0], r}
	shown := map[string]bool{}
	numbers(pagetest.Example(of, bools), "", func(name string, _ func(float64)) { shown[name] = false })
	for name := range shown {
		example := pagetest.Example(of, bools)
		say := func() wording { return w.say(example.Interface().(verdict.Remark)) }
		first := say()
		if text := first.text; len(text) < 10 || !strings.Contains(text, " ") || strings.Contains(text+first.fix, "%!") {
			t.Errorf("%s: %q, %q", of, text, first.fix)
		}
		numbers(example, "", func(at string, set func(float64)) {
			for _, x := range []float64{0, 0.02, 0.3, 1, 2, 3, 5, 9, 700} {
				if at == name {
					set(x)
					shown[name] = shown[name] || say() != first
				}
			}
		})
	}
	return shown
}

// Each row makes a sentence of its remark, and every number of the remark changes it or is named
// above.
func TestEveryNumberIsShown(t *testing.T) {
	named := map[string]bool{}
	for of := range catalogue {
		with, without := shownIn(t, of, true), shownIn(t, of, false)
		for name := range with {
			place := fmt.Sprintf("%s.%s", of, name)
			_, out := unshown[place]
			if shown := with[name] || without[name]; shown == out {
				t.Errorf("%s is shown: %v, and is named as not shown: %v", place, shown, out)
			}
			named[place] = true
		}
	}
	for place := range unshown {
		if !named[place] {
			t.Errorf("%s is named as not shown, and there is none", place)
		}
	}
}

// What result.json calls warnings is stable, and each kind has a code of its own.
func TestCodes(t *testing.T) {
	var list []string
	for of := range catalogue {
		list = append(list, string(reflect.Zero(of).Interface().(verdict.Remark).Code()))
	}
	slices.Sort(list)
	if n := len(list); len(slices.Compact(list)) != n {
		t.Errorf("%d codes, and some twice: %q", n, list)
	}
}
