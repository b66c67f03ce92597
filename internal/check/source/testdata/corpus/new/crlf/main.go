// Line ends of Windows stay.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
	println("hello")
}
