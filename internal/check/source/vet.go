package source

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/procfit/procfit/internal/rule"
)

// IsVet tells that the go command calls the program as its vet tool: for its version,
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
	least := rule.Warning
	named := func(a string) bool { return strings.HasPrefix(strings.TrimLeft(a, "-"), "pf") }
	if args[0] == "-flags" || slices.ContainsFunc(args, named) {
		least = rule.Info
	}
	unitchecker.Main(Analyzers(least)...)
}
