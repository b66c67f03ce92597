// What comes from elsewhere is not judged.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

func set(n int) { runtime.GOMAXPROCS(n) }

// trimmed is set once, to itself.
func trimmed(s string) int {
	s = strings.TrimSpace(s)
	n, _ := strconv.Atoi(s)
	return runtime.GOMAXPROCS(n)
}

func main() {
	n, _ := strconv.Atoi(os.Getenv("PROCS"))
	set(n)
	trimmed("2")
	runtime.GOMAXPROCS(n)
}
