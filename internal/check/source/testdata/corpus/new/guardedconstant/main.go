// The environment goes first.
package main

import (
	"os"
	"runtime"
)

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(4) // want PF024 warning: under every limit, unless GOMAXPROCS is set in the environment
	}
}
