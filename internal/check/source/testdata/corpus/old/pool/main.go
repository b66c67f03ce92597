// A pool by the machine's CPUs.
package main

import "runtime"

func main() {
	workers := runtime.NumCPU() // want PF029 info: workers is sized by runtime.NumCPU → as go 1.24 has it
	println(workers)
}
