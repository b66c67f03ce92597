// Set, and set back.
package main

import "runtime"

func main() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // want PF024 info: applies to the whole program until it is reset, and ends the updates
	before := runtime.GOMAXPROCS(2)                 // want PF024 info: applies to the whole program
	runtime.GOMAXPROCS(before)
}
