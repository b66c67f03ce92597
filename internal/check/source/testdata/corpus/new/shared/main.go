// Both calls use the same import: it goes with the last of them.
package main

import (
	"os"
	"runtime"
	"strconv"
)

func init() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 warning
}

func main() {
	println("started")
	if n, err := strconv.Atoi(os.Getenv("GOMAXPROCS")); err == nil {
		runtime.GOMAXPROCS(n) // want PF027 info
	}
	println("ready")
}
