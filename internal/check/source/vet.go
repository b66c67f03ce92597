package source

import (
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/procfit/procfit/internal/program/rule"
)

// IsVet reports whether the go command calls the program as its vet tool: for its version,
// for its flags, or to judge one package, which a file vet.cfg describes.
func IsVet(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := args[len(args)-1]
	return args[0] == "-V=full" || len(args) == 1 && args[0] == "-flags" || filepath.Base(last) == "vet.cfg"
}

// Vet is go vet's side of such a call. It does not return: the protocol's
// implementation ends the process by itself, as go vet expects it.
//
// To go vet every diagnostic is a failure. It therefore gets the rules that warn, and
// those that inform where its flags name one.
func Vet(args []string) {
	if args[0] == "-flags" {
		unitchecker.Main(Analyzers(rule.Info)...)
	}
	var all []*analysis.Analyzer
	for _, a := range Analyzers(rule.Info) {
		named, on := flagged(args, a.Name)
		least := rule.Warning
		if on {
			least = rule.Info
		}
		// A rule that is switched off has to know its flag all the same.
		if chosen := byName(Analyzers(least), a.Name); chosen != nil {
			all = append(all, chosen)
		} else if named {
			all = append(all, a)
		}
	}
	unitchecker.Main(all...)
}

// flagged reports whether an argument is the flag of a rule, and that it is switched on.
func flagged(args []string, name string) (named, on bool) {
	for _, a := range args {
		flag, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if flag == name && a != flag {
			b, err := strconv.ParseBool(value)
			named, on = true, !given || err == nil && b
		}
	}
	return named, on
}

func byName(all []*analysis.Analyzer, name string) *analysis.Analyzer {
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	return nil
}
