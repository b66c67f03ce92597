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
	g.SetLimit(runtime.NumCPU())  // want PF029 info: what SetLimit makes is sized
	newPool(runtime.NumCPU() - 1) // want PF029 info: what newPool makes
	run(runtime.NumCPU(), "")     // want PF029 info: parallelism of run is sized
	both(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	g.Wait()
}
