// Below go 1.25 it repeats the default.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 info: from go 1.25 in go.mod on it also keeps the program from its limit → the machine's CPUs whatever the limit, as go 1.24 has it
}
