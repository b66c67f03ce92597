// A pool by all CPUs of the machine.
package main

import "runtime"

func main() {
	workers := runtime.NumCPU() // want PF029 info: workers is sized by runtime.NumCPU → all CPUs of the machine with go 1.24
	println(workers)
}
