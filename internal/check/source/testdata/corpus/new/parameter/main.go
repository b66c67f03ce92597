// What comes from elsewhere is not judged.
package main

import (
	"os"
	"runtime"
	"strconv"
)

func set(n int) { runtime.GOMAXPROCS(n) }

func main() {
	n, _ := strconv.Atoi(os.Getenv("PROCS"))
	set(n)
	runtime.GOMAXPROCS(n)
}
