// A cache with a part for each CPU.
package main

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

//go:linkname pin runtime.procPin
func pin() int

type cache struct{ parts [][]byte }

func newCache() *cache {
	c := &cache{}
	c.parts = make([][]byte, runtime.NumCPU()) // want PF029 info: a slice is sized
	return c
}

func main() {
	c := newCache()
	c.parts[pin()] = nil // want PF036 warning: that runtime.NumCPU gave when it was made and is indexed by the number of a P or CPU: with more Ps than that
}
