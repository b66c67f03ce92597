// Package packagevar is sized before main.
package packagevar

import "runtime"

var shards = runtime.NumCPU() // want PF029 info: shards is sized → because main has not run yet

var procs = runtime.GOMAXPROCS(0) // want PF030 info: procs reads runtime.GOMAXPROCS(0) before main runs

var workers = max(2, runtime.GOMAXPROCS(0)) // want PF030

var command = struct{ run func() }{func() { // runs later
	workers := runtime.NumCPU() // want PF029 info: workers is sized → without a limit all CPUs of the machine$
	println(workers)
}}

var later = func() int { return runtime.GOMAXPROCS(0) }

var size int

func init() {
	size = 2 * runtime.GOMAXPROCS(-1) // want PF030 info: size reads
	println(runtime.GOMAXPROCS(0))
}

func F() int {
	command.run()
	return shards + procs + workers + later() + size + runtime.GOMAXPROCS(0)
}
