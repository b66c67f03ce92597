// A table that nobody thought too small.
package main

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

//go:linkname procPin runtime.procPin
func procPin() int

var seen [256]uint64

func main() {
	seen[procPin()]++ // want PF036 warning: seen has 256 elements and is indexed by the number of a P or CPU: with GOMAXPROCS above 256, this panics
	println(runtime.GOMAXPROCS(0))
}
