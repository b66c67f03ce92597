// Reckoned from it: told, and not changed.
package main

import (
	"flag"
	"runtime"
)

func main() {
	cpus := runtime.NumCPU()
	runtime.GOMAXPROCS(cpus / 2)      // want PF025 warning: sets the value from the CPUs of the machine
	runtime.GOMAXPROCS(min(cpus, 8))  // want PF025 warning: from the CPUs of the machine
	runtime.GOMAXPROCS(int(cpus) - 1) // want PF025
	n := flag.Int("cpus", runtime.NumCPU(), "")
	runtime.GOMAXPROCS(*n) // want PF025
}
