// The same by a pointer, in a package variable and in a field.
package main

import (
	"flag"
	"runtime"
)

var procs int

var config struct{ procs int }

func main() {
	flag.IntVar(&procs, "procs", 6, "")
	flag.IntVar(&config.procs, "other", 7, "")
	flag.Parse()
	runtime.GOMAXPROCS(procs)        // want PF024 info: default is 6
	runtime.GOMAXPROCS(config.procs) // want PF024 info: default is 7
}
