// A function of a package whose name tells what it makes.
package main

import (
	"runtime"

	"example.org/new/qualified/pool"
)

func main() {
	kept := pool.New(runtime.NumCPU()) // want PF029 info: a size for pool.New is set
	_ = kept
}
