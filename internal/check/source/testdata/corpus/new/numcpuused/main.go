// The import has other users.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
	println(runtime.GOOS)
}
