// By a variable, which something else may use.
package main

import "runtime"

func main() {
	cpus := runtime.NumCPU()
	runtime.GOMAXPROCS(cpus) // want PF025 warning: sets it to the machine's CPUs
	println(cpus)
}
