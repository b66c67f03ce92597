package source

import (
	"go/ast"
	"strconv"
	"strings"
)

// automaxprocs is PF031.
func automaxprocs(u *uses) []found {
	language := u.language()
	if !follows(language) {
		return nil // it does what the runtime does not
	}
	var all []found
	for c := range u.root.Preorder((*ast.ImportSpec)(nil)) {
		spec := c.Node().(*ast.ImportSpec)
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || path != pkgAutomaxprocs && !strings.HasPrefix(path, pkgAutomaxprocs+"/") || u.inTest(c) {
			continue
		}
		f := found{pos: spec.Pos(), end: spec.End()}
		f.Message = "go.uber.org/automaxprocs sets GOMAXPROCS once, rounded down, and ends the updates that the runtime makes by itself with go " + language + " in go.mod"
		f.Fix = "remove it: the runtime then chooses " + choice(language) + ", and follows it; where 1 under a limit of one CPU or the limits of ancestors matter, import github.com/procfit/procfit/maxprocs/auto"
		if spec.Name != nil && spec.Name.Name == "_" {
			if decl, ok := c.Parent().Node().(*ast.GenDecl); ok && len(decl.Specs) == 1 {
				c = c.Parent()
			}
			f.remove = u.lines(c)
		}
		if language == "" {
			f.Message = strings.Replace(f.Message, " with go  in go.mod", "", 1)
		}
		all = append(all, f)
	}
	return all
}
