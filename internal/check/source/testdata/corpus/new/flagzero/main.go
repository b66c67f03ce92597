// A flag that changes nothing unless it is given.
package main

import (
	"flag"
	"runtime"
)

func main() {
	n := flag.Int("procs", 0, "")
	flag.Parse()
	runtime.GOMAXPROCS(*n)
}
