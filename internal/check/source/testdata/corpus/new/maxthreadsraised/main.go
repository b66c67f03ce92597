// A higher bound is no throttle.
package main

import (
	"flag"
	"runtime/debug"
)

func main() {
	debug.SetMaxThreads(20000)
	n := flag.Int("threads", 100000, "")
	debug.SetMaxThreads(*n)
}
