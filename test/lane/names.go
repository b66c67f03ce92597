package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// declared is what all declarations of one name in a folder's tests come to.
type declared struct {
	names map[string]bool // that they mention
	more  bool            // they do more in the second tier
}

// inMore are the tests in a folder that may do more in the second tier: those that reach a
// package which asks for the tier, skip, ask for the user or look for a command. What is
// mentioned is known by its name alone, so that a test too many is named and none too few.
func inMore(dir string, files []string, asking map[string]bool) (tests []string, err error) {
	all := map[string]*declared{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		helpers := map[string]bool{}
		for _, i := range f.Imports {
			if p, err := strconv.Unquote(i.Path.Value); err == nil && asking[p] {
				local := path.Base(p)
				if i.Name != nil {
					local = i.Name.Name
				}
				helpers[local] = true
			}
		}
		for _, d := range f.Decls {
			for _, name := range namesOf(d) {
				if all[name] == nil {
					all[name] = &declared{names: map[string]bool{}}
				}
				all[name].take(d, helpers)
			}
		}
	}
	for again := true; again; {
		again = false
		for _, d := range all {
			reaches := func(name string) bool { return all[name] != nil && all[name].more }
			if !d.more && slices.ContainsFunc(slices.Collect(maps.Keys(d.names)), reaches) {
				d.more, again = true, true
			}
		}
	}
	each := all["init"] != nil && all["init"].more || all["TestMain"] != nil && all["TestMain"].more
	for name, d := range all {
		if (d.more || each) && name != "TestMain" && isTest.MatchString(name) {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests, nil
}

var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)

// namesOf are what a declaration declares, with methods by their own names.
func namesOf(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// take adds a declaration.
func (of *declared) take(d ast.Decl, helpers map[string]bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			of.names[n.Name] = true
		case *ast.BasicLit:
			of.more = of.more || strings.Contains(n.Value, "PROCFIT_REQUIRE") || strings.Contains(n.Value, "PROCFIT_FULL")
		case *ast.SelectorExpr:
			x, _ := n.X.(*ast.Ident)
			switch n.Sel.Name {
			case "Skip", "Skipf", "SkipNow", "Geteuid", "Getuid", "LookPath":
				of.more = true
			case "Waiting", "Main": // how many run at a time, and what the test program is as a child
			default:
				of.more = of.more || x != nil && helpers[x.Name]
			}
		}
		return true
	})
}
