// The guard goes with it.
package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	fmt.Println("start")

	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 warning: also under a limit, unless GOMAXPROCS is set
	}

	fmt.Println("hello")
}
