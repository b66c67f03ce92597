// A flag whose default is a number.
package main

import (
	"flag"
	"runtime"
)

func main() {
	n := flag.Int("procs", 4, "")
	flag.Parse()
	runtime.GOMAXPROCS(*n) // want PF024 info: gets a flag whose default is 4
}
