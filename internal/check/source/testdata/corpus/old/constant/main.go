// A number is wrong with every release.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(16)                          // want PF024 warning: sets the value on every machine → all CPUs of the machine with go 1.24
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // want PF024 info: until it is reset → do not change GOMAXPROCS
}
