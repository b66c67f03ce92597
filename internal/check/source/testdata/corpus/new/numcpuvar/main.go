// By a variable, which something else may use.
package main

import "runtime"

func main() {
	cpus := runtime.NumCPU()
	runtime.GOMAXPROCS(cpus) // want PF025 warning: sets the value to the CPUs of the machine
	println(cpus)
}
