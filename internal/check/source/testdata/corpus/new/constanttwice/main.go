// A variable that is set in two places is not followed.
package main

import (
	"os"
	"runtime"
)

func main() {
	n := 3
	if len(os.Args) > 1 {
		n = 0
	}
	runtime.GOMAXPROCS(n)
	var m int
	if len(os.Args) > 2 {
		m = 3
	}
	runtime.GOMAXPROCS(m)
}
