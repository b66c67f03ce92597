// Command lint is the tool of go vet for what its own analyzers and staticcheck do not
// look for: a nil that is surely dereferenced, and a write to a field that nobody reads.
// It is a module of its own, so that linters are no dependency of the tool; its go.mod
// also pins staticcheck and gotestsum.
package main

import (
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/passes/unusedwrite"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() { unitchecker.Main(nilness.Analyzer, unusedwrite.Analyzer) }
