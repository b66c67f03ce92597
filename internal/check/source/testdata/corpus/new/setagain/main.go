// What the runtime has done before main.
package main

import (
	"os"
	"runtime"
	"strconv"
)

func init() {
	if v := os.Getenv("GOMAXPROCS"); v != "" {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			runtime.GOMAXPROCS(n) // want PF027 info: which the runtime has already read
		}
	}
}

func main() {}
