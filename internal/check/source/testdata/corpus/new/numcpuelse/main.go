// An if that does more would stay empty: nothing is changed.
package main

import (
	"os"
	"runtime"
)

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
	} else {
		println("set by the environment")
	}
}
