// A function whose name tells.
package main

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

func newPool(n int) {}

func run(parallelism int, name string) {}

func both(n, procs int) {}

func main() {
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())  // want PF029 info: a size for SetLimit is set
	newPool(runtime.NumCPU() - 1) // want PF029 info: a size for newPool is set
	run(runtime.NumCPU(), "")     // want PF029 info: parallelism of run is sized
	both(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	g.Wait()
}
