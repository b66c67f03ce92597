package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// declared is what all declarations of one name in a folder come to.
type declared struct {
	names map[string]bool // that they mention
	more  bool            // they do more in the second tier
}

// folderNames are the names that a folder's files declare; that of a method begins with a dot.
type folderNames map[string]*declared

// declaredIn has the names that files of a folder declare, and which of them may do more in
// the second tier: those that ask for the tier, skip, ask for the user, or look for a command
// that not every machine has, and those that mention one of these. asking has the names of
// the packages, by import path, that the files may call for that. What is mentioned is known
// by its name alone, so that a name too many is found and none too few.
func declaredIn(dir string, files []string, asking map[string]folderNames) (folderNames, error) {
	all := folderNames{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		helpers := map[string]folderNames{} // by what the file calls them
		for _, i := range f.Imports {
			if p, err := strconv.Unquote(i.Path.Value); err == nil && asking[p] != nil {
				local := path.Base(p)
				if i.Name != nil {
					local = i.Name.Name
				}
				helpers[local] = asking[p]
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
	reaches := func(name string) bool {
		if all.more(name) {
			return true
		}
		for _, helper := range asking { // a value of it need not be called by its package
			if strings.HasPrefix(name, ".") && helper.more(name) {
				return true
			}
		}
		return false
	}
	for again := true; again; {
		again = false
		for _, d := range all {
			if !d.more && slices.ContainsFunc(slices.Collect(maps.Keys(d.names)), reaches) {
				d.more, again = true, true
			}
		}
	}
	return all, nil
}

func (n folderNames) more(name string) bool { return n[name] != nil && n[name].more }

func (n folderNames) tests() (tests []string) {
	each := n.more("init") || n.more("TestMain")
	for name, d := range n {
		if (d.more || each) && name != "TestMain" && isTest.MatchString(name) {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests
}

var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)

func namesOf(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return []string{"." + d.Name.Name}
		}
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

// everywhere are commands that .ci/run itself needs: no test skips for them in either tier.
var everywhere = []string{`"go"`, `"git"`, `"bash"`, `"sh"`}

func (of *declared) take(d ast.Decl, helpers map[string]folderNames) {
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			of.names[n.Name] = true
		case *ast.BasicLit:
			of.more = of.more || strings.Contains(n.Value, "PROCFIT_REQUIRE")
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Command" || f.Sel.Name == "LookPath") && slices.ContainsFunc(n.Args, isEverywhere) {
				for _, arg := range n.Args {
					ast.Inspect(arg, visit)
				}
				return false
			}
		case *ast.SelectorExpr:
			x, _ := n.X.(*ast.Ident)
			switch n.Sel.Name {
			case "Skip", "Skipf", "SkipNow", "Geteuid", "Getuid", "LookPath":
				of.more = true
			default:
				of.names["."+n.Sel.Name] = true
				of.more = of.more || x != nil && helpers[x.Name].more(n.Sel.Name)
			}
			ast.Inspect(n.X, visit)
			return false
		}
		return true
	}
	if f, ok := d.(*ast.FuncDecl); !ok {
		ast.Inspect(d, visit)
	} else if ast.Inspect(f.Type, visit); f.Body != nil { // its own name may be that of another's method
		ast.Inspect(f.Body, visit)
	}
}

func isEverywhere(arg ast.Expr) bool {
	text, ok := arg.(*ast.BasicLit)
	return ok && slices.Contains(everywhere, text.Value)
}

// condition is a line of a script that asks for the second tier or for something that not
// every machine has.
var condition = regexp.MustCompile(`(?m)^(?:\[[^\]]*\] )*\[!?(everything|need:([^\]]+))\]`)

// scriptsIn are the scripts in a folder's testdata that may do more in the second tier.
func scriptsIn(dir string) (scripts []string, err error) {
	for _, pattern := range []string{"testdata/*.txtar", "testdata/alone/*.txtar"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, m := range condition.FindAllStringSubmatch(string(text), -1) {
				if !slices.Contains(everywhere, strconv.Quote(m[2])) {
					scripts = append(scripts, strings.TrimSuffix(filepath.Base(file), ".txtar"))
					break
				}
			}
		}
	}
	slices.Sort(scripts)
	return scripts, nil
}
