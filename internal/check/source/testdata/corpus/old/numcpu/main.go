// Below go 1.25 it repeats the default.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 info: from go 1.25 in go.mod on it also makes the program ignore its limit → all CPUs of the machine with go 1.24
}
