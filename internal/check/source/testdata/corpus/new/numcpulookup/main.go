// The same with LookupEnv, and the last statement of its block.
package main

import (
	"os"
	"runtime"
)

func main() {
	println(os.Args[0])

	if _, ok := os.LookupEnv("GOMAXPROCS"); !ok {
		runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
	}
}
