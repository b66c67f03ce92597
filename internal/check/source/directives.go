package source

import (
	"go/ast"
	"strings"

	"github.com/procfit/procfit/internal/program/rule"
)

// The settings of GODEBUG that are about GOMAXPROCS.
const (
	settingLimit   = "containermaxprocs"
	settingUpdates = "updatemaxprocs"
	settingDefault = "default"
)

// directives is PF033 for the //go:debug lines of a main package; those of go.mod and
// go.work are the module's.
func directives(u *uses) []found {
	var all []found
	if u.pass.Pkg.Name() != "main" {
		return nil
	}
	for _, file := range u.pass.Files {
		if strings.HasSuffix(u.pass.Fset.Position(file.Pos()).Filename, "_test.go") {
			continue
		}
		for _, g := range file.Comments {
			if g.Pos() > file.Package {
				break
			}
			for _, c := range g.List {
				all = append(all, directive(c, u.language())...)
			}
		}
	}
	return all
}

func directive(c *ast.Comment, language string) []found {
	rest, ok := strings.CutPrefix(c.Text, "//go:debug ")
	if !ok {
		return nil
	}
	key, value, _ := strings.Cut(strings.TrimSpace(rest), "=")
	f, ok := switchedOff(key, strings.TrimSpace(value), "//go:debug", language)
	if !ok {
		return nil
	}
	return []found{{Finding: f, pos: c.Pos(), end: c.End()}}
}

// switchedOff is what a setting does to a program that would follow its limit. Below
// go 1.25 it would not, and the setting says what is so anyway.
func switchedOff(key, value, where, language string) (rule.Finding, bool) {
	if !follows(language) {
		return rule.Finding{}, false
	}
	name := where + " " + key + "=" + value
	switch {
	case key == settingLimit && value == "0":
		return rule.Finding{
			Severity: rule.Warning,
			Message:  name + " makes the program ignore its CPU limit: it uses all CPUs of the machine",
			Fix:      "remove it: the runtime then chooses " + choice(""),
		}, true
	case key == settingDefault && !follows(strings.TrimPrefix(value, "go")):
		return rule.Finding{
			Severity: rule.Warning,
			Message:  name + " makes the program ignore its CPU limit (and switches off other changes of newer releases): it uses all CPUs of the machine",
			Fix:      "add containermaxprocs=1 and updatemaxprocs=1 to it: the runtime then chooses " + choice(""),
		}, true
	case key == settingUpdates && value == "0":
		return rule.Finding{
			Severity: rule.Info,
			Message:  name + " makes the program keep the limit that it started with",
			Fix:      "remove it: the runtime then follows the limit when it changes",
		}, true
	}
	return rule.Finding{}, false
}
