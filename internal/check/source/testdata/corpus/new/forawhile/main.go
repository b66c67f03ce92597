// Set, and set back.
package main

import "runtime"

func main() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // want PF024 info: holds the whole program to 1 P until it is set back, and ends the updates
	before := runtime.GOMAXPROCS(2)                 // want PF024 info: to 2 Ps
	runtime.GOMAXPROCS(before)
}
