// Two calls, and the import that both need.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU())     // want PF025
	_ = runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
	println("hello")
}
