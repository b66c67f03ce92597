// A crash as a throttle.
package main

import (
	"flag"
	"runtime"
	"runtime/debug"
)

func main() {
	debug.SetMaxThreads(64)                   // want PF034 warning: crashes as soon as it needs more threads than 64
	debug.SetMaxThreads(4 * runtime.NumCPU()) // want PF034 warning: more threads than a multiple of the CPUs
	n := flag.Int("threads", 500, "")
	debug.SetMaxThreads(*n) // want PF034 warning: than 500
}
