// Package numcpuinit has an init for nothing else.
package numcpuinit

import "runtime"

// init takes all CPUs.
func init() {
	// all of them
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
}

// F is something else.
func F() {}
