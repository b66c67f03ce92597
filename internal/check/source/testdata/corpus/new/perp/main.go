// A counter with a stripe for each P.
package main

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

type counter struct{ stripes []int64 }

func newCounter() *counter {
	return &counter{stripes: make([]int64, runtime.GOMAXPROCS(0))}
}

func (c *counter) add() {
	p := procPin()
	c.stripes[p]++ // want PF036 warning: c.stripes has the length that runtime.GOMAXPROCS(0) gave when it was made and is indexed by the number of a P or CPU: after GOMAXPROCS grows → modulo len(c.stripes)
	procUnpin()
}

func main() { newCounter().add() }
