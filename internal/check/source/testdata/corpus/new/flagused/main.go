// A flag whose name tells nothing, by what its value is used for.
package main

import (
	"flag"
	"runtime"
)

var (
	cpu   = flag.Int("cpu", runtime.NumCPU(), "how many") // want PF029 info: a channel is sized
	shown = flag.Int("shown", runtime.NumCPU(), "how many")
)

func main() {
	jobs := make(chan int, *cpu)
	close(jobs)
	println(*shown)
}
